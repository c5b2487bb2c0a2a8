"""A wrong or missing value in the environment is a system-check error with an id and a remedy."""

import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentchat.environment import BASE_DIR, Problem, directory
from tests.agentchat.processes import UNSET
from tools_app.mcp.places import from_config

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
        env={**UNSET, "PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=110,
    )


def check(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(tmp_path, "manage.py", "check", **environment)


@dataclass(frozen=True)
class Reading:
    """The settings as some variables make them, read in this process, and what was noted meanwhile."""

    values: dict[str, Any]
    problems: list[Problem]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Reading]:
    def with_variables(**variables: str) -> Reading:
        problems: list[Problem] = []
        monkeypatch.setattr("agentchat.environment.PROBLEMS", problems)
        for name, value in {**UNSET, "VAR_DIR": str(tmp_path), **variables}.items():
            monkeypatch.setenv(name, value)
        return Reading(runpy.run_path(str(BASE_DIR / "agentchat" / "settings.py")), problems)

    return with_variables


def test_a_clean_environment_has_none(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_all_wrong_values_are_named_at_once_with_a_remedy(tmp_path: Path) -> None:
    wrong = {
        "PORT": "eighty",
        "AGENTS_ENABLED": "perhaps",
        "AI_PROFILE": "psychic",
        "OLLAMA_BASE_URL": "ollama:11434",
        "DATABASE_URL": f"mongo://me:{SECRET}@host/name",
        "REDIS_URL": "localhost:6379",
        "LOG_LEVEL": "LOUD",
    }
    result = check(tmp_path, **wrong)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stderr
    for variable in (*wrong, "SECRET_KEY", "ALLOWED_HOSTS"):
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
        ("WIKIPEDIA_API_URL", "{lang}.wikipedia.org"),
        ("EMAIL_URL", f"mail.example.org:{SECRET}"),
        ("EMAIL_URL", f"pop3://me:{SECRET}@host"),
        ("EMAIL_URL", f"smtp://me:{SECRET}@host:port"),
        ("EMAIL_URL", "smtp+tls://"),
        ("EMAIL_URL", f"smtp+tls://me:{SECRET}@"),
        ("EMAIL_URL", f"smtp://[{SECRET}"),
        ("EMAIL_URL", "memorymail://"),
        ("EMAIL_URL", "filemail:///tmp/mails"),
        ("MCP_SERVERS", f"time {SECRET}"),
        ("MCP_SERVERS", f'["{SECRET}"]'),
        ("MCP_SERVERS", f'{{"Big Key": {{"command": ["{SECRET}"]}}}}'),
        ("MCP_SERVERS", f'{{"time": {{"command": "{SECRET}"}}}}'),
        ("MCP_SERVERS", '{"time": {"command": []}}'),
        ("MCP_SERVERS", '{"both": {"command": ["x"], "url": "https://a.org"}}'),
        ("MCP_SERVERS", f'{{"web": {{"url": "ftp://{SECRET}@a.org"}}}}'),
        ("MCP_SERVERS", '{"web": {"url": "https://a.org", "headers": {"Depth": 5}}}'),
        ("MCP_SERVERS", f'{{"web": {{"url": "https://me:{SECRET}@a.org/mcp"}}}}'),
        ("MCP_SERVERS", f'{{"web": {{"url": "https://a.org/mcp?api_key={SECRET}"}}}}'),
        ("MCP_SERVERS", f'{{"web": {{"url": "https://a.org", "headers": {{"Authorization": "Bearer {SECRET}"}}}}}}'),
        ("MCP_SERVERS", f'{{"time": {{"command": ["x"], "env": {{"API_KEY": "{SECRET}"}}}}}}'),
        ("MCP_SERVERS", f'{{"time": {{"command": ["x"], "env": {{"API_KEY={SECRET}": ""}}}}}}'),
        ("MCP_SERVERS", f'{{"time": {{"command": ["x"], "headers": {{"X": "{SECRET}"}}}}}}'),
        ("MCP_SERVERS", f'{{"time": {{"program": "{SECRET}", "command": ["x"]}}}}'),
    ],
)
def test_a_wrong_value_is_one_problem_that_tells_no_secret(
    read: Callable[..., Reading], variable: str, value: str
) -> None:
    (problem,) = read(**{**PRODUCTION, variable: value}).problems
    assert problem.variable == variable
    assert problem.message.startswith((f"{variable} ", f"{variable}["))
    assert problem.remedy
    assert SECRET not in problem.message + problem.remedy


@pytest.mark.parametrize(
    ("url", "port", "tls", "ssl"),
    [
        ("smtp+tls://me%40a.org:p%40ss@mail.a.org", 587, True, False),
        ("smtp+tls://me%40a.org:p%40ss@mail.a.org:2525", 2525, True, False),
        ("smtp+ssl://me%40a.org:p%40ss@mail.a.org", 465, False, True),
        ("smtp://me%40a.org:p%40ss@mail.a.org", 25, False, False),
    ],
)
def test_a_mail_server_is_taken_with_its_usual_port(
    read: Callable[..., Reading], url: str, port: int, tls: bool, ssl: bool
) -> None:
    values = read(EMAIL_URL=url).values
    assert (values["EMAIL_HOST"], values["EMAIL_PORT"]) == ("mail.a.org", port)
    assert (values["EMAIL_HOST_USER"], values["EMAIL_HOST_PASSWORD"]) == ("me@a.org", "p@ss")
    assert (values["EMAIL_USE_TLS"], values["EMAIL_USE_SSL"], values["EMAIL_CONFIGURED"]) == (tls, ssl, True)


def test_a_screen_takes_the_place_of_a_mail_server(read: Callable[..., Reading]) -> None:
    values = read(EMAIL_URL="consolemail://").values
    assert values["EMAIL_CONFIGURED"] is True
    assert values["EMAIL_BACKEND"] == "django.core.mail.backends.console.EmailBackend"


def test_without_a_mail_server_none_is_configured(read: Callable[..., Reading]) -> None:
    assert read().values["EMAIL_CONFIGURED"] is False


def test_each_wrong_server_is_named_with_its_fault(read: Callable[..., Reading]) -> None:
    servers = {
        "time": {"command": ["x"]},
        "web": {"url": "ftp://a.org"},
        "both": {"command": ["x"], "url": "https://a.org"},
    }
    reading = read(MCP_SERVERS=json.dumps(servers))
    assert [(problem.message, problem.remedy) for problem in reading.problems] == [
        ('MCP_SERVERS["web"] cannot be used.', "url: Give an address such as https://example.org/mcp."),
        ('MCP_SERVERS["both"] cannot be used.', "Give either a command or an address (url), and not both."),
    ]
    assert reading.values["MCP_SERVERS"] == {"time": servers["time"]}


@pytest.mark.parametrize(
    ("server", "needed"),
    [
        ({"command": ["uvx", "mcp-server-time"], "env": {"API_KEY": "${NOT_SET_HERE}"}}, True),
        ({"url": "https://a.org/mcp", "headers": {"Authorization": "Bearer ${NOT_SET_HERE}"}}, True),
        ({"url": "http://127.0.0.1:8080/mcp", "headers": None}, False),
    ],
)
def test_a_program_or_an_address_is_taken(read: Callable[..., Reading], server: dict[str, Any], needed: bool) -> None:
    reading = read(MCP_SERVERS=json.dumps({"own": server}))
    assert reading.problems == []
    assert ("NOT_SET_HERE" in from_config("own", reading.values["MCP_SERVERS"]["own"]).lacks) is needed


@pytest.mark.parametrize("variable", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"])
def test_production_must_be_told(read: Callable[..., Reading], variable: str) -> None:
    (problem,) = read(**{**PRODUCTION, variable: ""}).problems
    assert problem.message == f"{variable} is not set."


@pytest.mark.parametrize("url", ["redis://:secret@host:6379/0", "rediss://host", "unix:///run/valkey.sock"])
def test_every_way_to_the_broker_is_taken(read: Callable[..., Reading], url: str) -> None:
    reading = read(**PRODUCTION | {"REDIS_URL": url})
    assert reading.problems == []
    assert reading.values["EVENTS_URL"] == url
    assert reading.values["CELERY_BROKER_URL"] == url.replace("unix://", "redis+socket://")


def test_blanks_between_host_names_do_not_count(read: Callable[..., Reading]) -> None:
    reading = read(**PRODUCTION | {"ALLOWED_HOSTS": "a.org, .b.org ,"})
    assert reading.values["ALLOWED_HOSTS"] == ["a.org", ".b.org"]


def test_a_value_that_begins_with_a_dollar_is_taken_as_it_is(read: Callable[..., Reading]) -> None:
    assert read(SECRET_KEY="$ecret").values["SECRET_KEY"] == "$ecret"


def test_what_it_keeps_is_for_this_user_alone(tmp_path: Path) -> None:
    folder = directory("A_FOLDER_OF_NO_SETTING", tmp_path / "above" / "var")
    assert folder.stat().st_mode & 0o777 == 0o700


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


def test_fallbacks_are_profiles_and_models_in_order(read: Callable[..., Reading]) -> None:
    reading = read(AI_FALLBACKS="openai:gpt-4o-mini, ollama:qwen3:8b")
    assert reading.values["AI_FALLBACKS"] == [("openai", "gpt-4o-mini"), ("ollama", "qwen3:8b")]


@pytest.mark.parametrize("wrong", ["gpt-4o-mini", "nobody:m", "openai:", "openai:m,ollama"])
def test_a_fallback_that_is_none_is_named(read: Callable[..., Reading], wrong: str) -> None:
    reading = read(AI_FALLBACKS=wrong)
    assert reading.values["AI_FALLBACKS"] == []
    assert "Give profile:model" in str(reading.problems)
