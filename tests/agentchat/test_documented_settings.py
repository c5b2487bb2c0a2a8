import re
from pathlib import Path

import pytest

from agentchat.environment import BASE_DIR
from tests.conftest import SOURCES

READ = re.compile(
    r'\b(?:text|integer|boolean|choice|directory|host_list|http_url|redis_url|database_url|email_url|mcp_servers|model_prices|model_list|word_list)\(\s*"([A-Z_]+)"'
)
VARIABLES = sorted(set(READ.findall((BASE_DIR / "agentchat" / "settings.py").read_text())))


def test_the_settings_read_variables() -> None:
    assert {
        "AGENTS_ENABLED",
        "DATABASE_URL",
        "HISTORY_SIZE",
        "ALLOWED_HOSTS",
        "OLLAMA_API_KEY",
        "VAR_DIR",
        "MCP_SERVERS",
        "MODEL_PRICES",
    } <= set(VARIABLES)


@pytest.mark.parametrize("document", ["README.md", ".env.example"])
@pytest.mark.parametrize("variable", VARIABLES)
def test_every_variable_is_documented(variable: str, document: str) -> None:
    assert re.search(rf"\b{variable}\b", (BASE_DIR / document).read_text())


@pytest.mark.parametrize("lock", sorted((BASE_DIR / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_the_lock_files_hold_hashes_and_no_address(lock: Path) -> None:
    lines = lock.read_text().splitlines()
    assert sum("--hash=sha256:" in line for line in lines) >= sum("==" in line for line in lines) > 0
    assert not [line for line in lines if "://" in line or "--index" in line or "--find-links" in line]


def test_no_test_asks_a_public_service() -> None:
    assert {name for name in VARIABLES if name.endswith("_API_URL")} == set(SOURCES)
