"""Each tool call is one line of the log, whatever else the log leaves out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentchat.environment import BASE_DIR
from tests.agentchat.processes import UNSET
from tests.agentchat.test_environment_problems import PRODUCTION

PROGRAM = """
import logging, os
import django
django.setup()
from django.conf import settings
logging.getLogger("tools_app.audit").info("first call")
if settings.LOCAL:
    os.rename(settings.VAR_DIR / "audit.log", settings.VAR_DIR / "kept.log")
logging.getLogger("tools_app.audit").info("second call")
logging.getLogger("tools_app.running").info("something else")
"""


def logged(tmp_path: Path, **environment: str) -> str:
    """What the shipped settings let through on the screen."""
    ours = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "agentchat.settings"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=BASE_DIR,
        env=UNSET | ours | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr


@pytest.mark.parametrize("level", ["INFO", "WARNING", "CRITICAL"])
def test_a_laptop_writes_them_to_a_file(tmp_path: Path, level: str) -> None:
    assert "call" not in logged(tmp_path, LOG_LEVEL=level)
    assert (tmp_path / "kept.log").read_text().endswith(" first call\n")


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    logged(tmp_path)
    assert "second" not in (tmp_path / "kept.log").read_text()
    assert (tmp_path / "audit.log").read_text().endswith(" second call\n")


@pytest.mark.parametrize("level", ["INFO", "WARNING", "CRITICAL"])
def test_production_writes_them_to_the_screen(tmp_path: Path, level: str) -> None:
    screen = logged(tmp_path, **PRODUCTION, LOG_LEVEL=level)
    said = [json.loads(line)["message"] for line in screen.splitlines()]
    assert [line for line in said if "call" in line] == ["first call", "second call"]
    assert ("something else" in screen) is (level == "INFO")
    assert not (tmp_path / "audit.log").exists()
