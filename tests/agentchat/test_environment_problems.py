"""A wrong or missing value in the environment is a system-check error with an id and a remedy."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentchat.environment import BASE_DIR


def check(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=BASE_DIR,
        env={"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_clean_environment_has_none(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_all_wrong_values_are_named_at_once_with_a_remedy(tmp_path: Path) -> None:
    result = check(
        tmp_path, PORT="eighty", AGENTS_ENABLED="perhaps", AI_PROFILE="psychic", OLLAMA_BASE_URL="ollama:11434"
    )
    assert result.returncode == 1
    for variable in ("PORT", "AGENTS_ENABLED", "AI_PROFILE", "OLLAMA_BASE_URL"):
        assert f"(agentchat.E.{variable})" in result.stderr
    assert "HINT: Give a whole number from 1 to 65535." in result.stderr
    assert "HINT: Give one of: embedded, ollama, openai." in result.stderr


@pytest.mark.parametrize("variable", ["SECRET_KEY", "ALLOWED_HOSTS"])
def test_production_must_be_told(tmp_path: Path, variable: str) -> None:
    result = check(tmp_path, REDIS_URL="redis://127.0.0.1:1/0")
    assert f"(agentchat.E.{variable})" in result.stderr
