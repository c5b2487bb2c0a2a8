import re
from pathlib import Path

import pytest

from agentchat.environment import BASE_DIR

DOCUMENTS = sorted([*BASE_DIR.glob("*.md"), *BASE_DIR.glob("docs/*.md")])
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_inside_the_project_leads_somewhere(document: Path) -> None:
    assert [link for link in LINK.findall(document.read_text()) if not (document.parent / link).exists()] == []
