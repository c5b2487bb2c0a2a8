import hashlib
import re
from pathlib import Path

import pytest
from django.conf import settings

STATIC = Path(settings.BASE_DIR) / "static"
TEMPLATES = Path(settings.BASE_DIR) / "templates"
VENDOR = STATIC / "vendor"


def _listed() -> dict[str, str]:
    lines = (VENDOR / "HASHES.txt").read_text().splitlines()
    return {name: digest for digest, name in (line.split() for line in lines if not line.startswith("#"))}


def test_vendored_files_are_the_ones_that_were_published() -> None:
    for name, digest in _listed().items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name


def test_every_vendored_file_is_listed() -> None:
    present = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    assert present - {"HASHES.txt"} == set(_listed())


@pytest.mark.parametrize("template", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_no_template_holds_what_the_content_security_policy_forbids(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|hx-on|<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"(?:src|href)=[\"']https?://", text)
