"""A wrong or missing value in the environment is a system-check error with an id and a remedy."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentchat.environment import BASE_DIR


PRODUCTION = {
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "DATABASE_URL": "postgres://agentchat:secret@127.0.0.1:1/agentchat",
    "SECRET_KEY": "x" * 50,
    "ALLOWED_HOSTS": "a.org",
}
SECRET = "hunter2"


def run(tmp_path: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=BASE_DIR,
        env={"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def check(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(tmp_path, "manage.py", "check", **environment)


def value_of(tmp_path: Path, expression: str, **environment: str) -> str:
    code = f"from agentchat import settings; print({expression})"
    return run(tmp_path, "-c", code, **environment).stdout.strip()


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


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DATABASE_URL", "foo"),
        ("DATABASE_URL", f"mongo://me:{SECRET}@host/name"),
        ("DATABASE_URL", f"postgres://me:{SECRET}@host"),
        ("DATABASE_URL", f"postgres://me:{SECRET}/@host/name"),
        ("DATABASE_URL", f"postgres://me:{SECRET}@[host/name"),
        ("DATABASE_URL", "sqlite://name"),
        ("REDIS_URL", "localhost:6379"),
        ("REDIS_URL", f"http://:{SECRET}@host"),
        ("REDIS_URL", f"redis://:{SECRET}@host:port"),
        ("REDIS_URL", "redis://"),
        ("REDIS_URL", "unix://relative"),
        ("OPENAI_BASE_URL", "http://"),
        ("OPENAI_BASE_URL", f"ftp://me:{SECRET}@host"),
        ("OLLAMA_BASE_URL", f"http://me:{SECRET}@host:port"),
        ("ALLOWED_HOSTS", "https://a.org"),
        ("ALLOWED_HOSTS", "a.org b.org"),
        ("LOG_LEVEL", "LOUD"),
    ],
)
def test_a_wrong_value_is_one_error_that_tells_no_secret(tmp_path: Path, variable: str, value: str) -> None:
    result = check(tmp_path, **{**PRODUCTION, variable: value})
    assert result.returncode == 1
    assert f"(agentchat.E.{variable})" in result.stderr
    assert "HINT: " in result.stderr
    assert "identified 1 issue " in result.stderr
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stderr


@pytest.mark.parametrize("variable", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"])
def test_production_must_be_told(tmp_path: Path, variable: str) -> None:
    result = check(tmp_path, **{**PRODUCTION, variable: ""})
    assert f"(agentchat.E.{variable}) {variable} is not set." in result.stderr
    assert "identified 1 issue " in result.stderr


@pytest.mark.parametrize("url", ["redis://:secret@host:6379/0", "rediss://host", "unix:///run/valkey.sock?db=1"])
def test_every_way_to_the_broker_is_taken(tmp_path: Path, url: str) -> None:
    assert check(tmp_path, **PRODUCTION | {"REDIS_URL": url}).returncode == 0
    broker = value_of(tmp_path, "settings.CELERY_BROKER_URL", **PRODUCTION | {"REDIS_URL": url})
    assert broker == url.replace("unix://", "redis+socket://")


def test_blanks_between_host_names_do_not_count(tmp_path: Path) -> None:
    hosts = value_of(tmp_path, "settings.ALLOWED_HOSTS", **PRODUCTION | {"ALLOWED_HOSTS": "a.org, .b.org ,"})
    assert hosts == "['a.org', '.b.org']"


def test_a_value_that_begins_with_a_dollar_is_taken_as_it_is(tmp_path: Path) -> None:
    assert value_of(tmp_path, "settings.SECRET_KEY", SECRET_KEY="$ecret") == "$ecret"


def test_a_place_where_nothing_can_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = check(tmp_path / "file" / "var")
    assert result.returncode == 1
    assert result.stderr.startswith(f"VAR_DIR is {tmp_path}/file/var, where nothing can be written")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "server",
    [
        ["uvicorn", "agentchat.asgi:application", "--port", "0"],
        ["celery", "-A", "agentchat", "worker", "--pool", "threads"],
        ["celery", "-A", "agentchat", "beat"],
    ],
    ids=["web", "worker", "beat"],
)
def test_nothing_serves_with_wrong_settings(tmp_path: Path, server: list[str]) -> None:
    result = run(tmp_path, "-m", *server, ROUND_PAUSE_MS="long", PORT="eighty")
    assert result.returncode == 1
    for sentence in ("ROUND_PAUSE_MS is 'long'. Give a whole number", "PORT is 'eighty'. Give a whole number"):
        assert sentence in result.stderr
    assert "Traceback" not in result.stderr
