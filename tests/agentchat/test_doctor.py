"""The doctor names what is wrong and what to do, and does not fall ill itself."""

import json
import resource
import shutil
import sys
from collections import namedtuple
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections
from pytest_django import Settings

from agentchat import environment, health
from agentchat.celery import app
from agentchat.doctor import configuration, installation, models, stores, table
from agentchat.doctor.findings import Check, Finding, ok, problem
from agentchat.embedded import probes
from debates import heartbeat
from providers.base import CredentialsRefused, ModelInfo, ModelMissing
from providers.scripted import ScriptedProvider
from tests.agentchat.test_environment_problems import PRODUCTION, run
from tests.agentchat.test_metrics import live_cache as live_cache

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "hunter2-hunter2"


def found(checked: Finding | Iterable[Finding]) -> list[Finding]:
    return [checked] if isinstance(checked, Finding) else list(checked)


def only(checked: Finding | Iterable[Finding]) -> Finding:
    (finding,) = found(checked)
    return finding


@pytest.fixture
def production(settings: Settings, tmp_path: Path) -> Settings:
    settings.LOCAL = False
    settings.STATIC_ROOT = tmp_path
    return settings


@pytest.fixture
def env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / ".env"
    monkeypatch.setattr(configuration, "ENV_FILE", path)
    return path


# --- the command -------------------------------------------------------------------------------------------------


def test_a_broken_installation_ends_with_1_and_a_line_for_everything(tmp_path: Path) -> None:
    wrong = PRODUCTION | {"DATABASE_URL": f"postgres://me:{SECRET}@127.0.0.1:1/db", "PORT": "eighty", "HTTPS_ONLY": "0"}
    wrong |= {"REDIS_URL": f"redis://:{SECRET}@127.0.0.1:1/0", "ALLOWED_HOSTS": ""}
    result = run(tmp_path, "manage.py", "doctor", "--json", **wrong)
    assert (result.returncode, "Traceback" in result.stderr) == (1, False)
    assert SECRET not in result.stdout + result.stderr
    rows = json.loads(result.stdout)
    assert set(rows[0]) == {"check", "state", "says", "remedy"}
    wrongs = {row["check"] for row in rows if row["state"] == "problem"}
    assert wrongs == {"values", "allowed hosts", "static files", "database", "broker"}
    assert "PORT is 'eighty'" in result.stdout
    assert all(row["remedy"] for row in rows if row["state"] == "problem")
    assert not {"migrations", "worker", "model"} & {row["check"] for row in rows}, "these make no sense without stores"


def test_a_fresh_laptop_has_no_problem(tmp_path: Path) -> None:
    result = run(tmp_path, "manage.py", "doctor")
    assert (result.returncode, result.stderr) == (0, "")
    assert "warning  running       Agent Chat is not running here" in result.stdout
    assert "problem" not in result.stdout


def test_a_check_that_fails_itself_is_told_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ill() -> Finding:
        raise LookupError(SECRET)

    checks = Check("ill", ill), Check("well", lambda: ok("Fine.")), Check("later", lambda: ok("No."), after="ill")
    monkeypatch.setattr(table, "CHECKS", checks)
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["problem", "ill"], ["ok", "well"]]
    assert SECRET not in "".join(lines)


def test_every_check_that_waits_for_another_names_one_before_it() -> None:
    names = [check.name for check in table.CHECKS]
    assert len(set(names)) == len(names)
    assert all(check.after in names[:place] for place, check in enumerate(table.CHECKS) if check.after)


# --- this machine ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "state"), [((3, 10), "problem"), ((3, 11), "ok"), ((3, 13), "ok"), ((3, 14), "problem")]
)
def test_it_knows_the_supported_pythons(monkeypatch: pytest.MonkeyPatch, now: tuple[int, int], state: str) -> None:
    monkeypatch.setattr(sys, "version_info", (*now, 0))
    assert installation.python_version().state == state


def test_packages_are_compared_with_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installation.packages().state == "ok"
    monkeypatch.setattr(installation, "LOCKS", tmp_path)
    assert installation.packages().state == "warning"
    lock = (
        'django==1.0 \\\n    --hash=sha256:0\nno-such-package==2\nother==1 ; sys_platform == "none" \\\n    # via x\n'
    )
    (tmp_path / "base.txt").write_text(lock)
    (tmp_path / "embedded.txt").write_text("")
    told = installation.packages()
    assert told.state == "problem"
    assert "django is 5." in told.says and "no-such-package is missing" in told.says and "other" not in told.says


@pytest.mark.parametrize(("free", "state"), [(10**8, "problem"), (5 * 10**8, "warning"), (10**10, "ok")])
def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, free))
    assert installation.disk().state == state


@pytest.mark.parametrize(("allowed", "state"), [(256, "warning"), (1024, "ok"), (resource.RLIM_INFINITY, "ok")])
def test_too_few_open_files_are_told(monkeypatch: pytest.MonkeyPatch, allowed: int, state: str) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (allowed, allowed))
    assert installation.open_files().state == state


def test_a_port_that_others_have_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "port_is_free", lambda port: False)
    monkeypatch.setattr(probes, "fetch", lambda url: b"<html>")
    assert installation.port().state == "warning"
    monkeypatch.setattr(probes, "fetch", lambda url: b'{"ok": true}')
    assert installation.port().state == "ok"


def test_in_production_the_static_files_must_be_collected(production: Settings) -> None:
    assert installation.static_files().state == "problem"
    (production.STATIC_ROOT / "staticfiles.json").touch()
    assert installation.static_files().state == "ok"


# --- the settings ------------------------------------------------------------------------------------------------


def test_a_line_that_sets_nothing_is_named(env_file: Path) -> None:
    assert only(configuration.env_file()).state == "ok"
    env_file.write_text("# a word\n\nexport PORT=8000\nOPENAI_API_KEY sk-1\n")
    told = only(configuration.env_file())
    assert (told.state, told.says) == ("problem", "Line 4 of .env is not NAME=value.")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("OPENAI_KEY", "OPENAI_API_KEY"),
        ("openai_api_key", "OPENAI_API_KEY"),
        ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
        ("AGENT_ENABLED", "AGENTS_ENABLED"),
        ("ALLOWED_HOST", "ALLOWED_HOSTS"),
        ("NEWSAPI_API_KEY", "NEWSAPI_KEY"),
        ("DATABASE_URI", "DATABASE_URL"),
    ],
)
def test_a_variable_that_was_meant_to_be_another_is_named(env_file: Path, name: str, meant: str) -> None:
    env_file.write_text(f"{name}=x\n")
    (told,) = (finding for finding in configuration.misspelt() if name in finding.says)
    assert (told.state, meant in told.remedy) == ("warning", True)


@pytest.mark.parametrize("name", ["PORT", "POSTGRES_PASSWORD", "HTTP_PROXY", "MY_OWN_THING", "FOR_MCP_KEY"])
def test_a_right_or_a_foreign_variable_is_not(env_file: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("MCP_SERVERS", '{"a": {"command": ["a"], "env": {"KEY": "${FOR_MCP_KEY}"}}}')
    env_file.write_text(f"{name}=x\n")
    assert not [finding for finding in configuration.misspelt() if name in finding.says]


def test_the_environment_is_looked_through_too(env_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASEURL", "http://x")
    (told,) = (finding for finding in configuration.misspelt() if "BASEURL" in finding.says)
    assert told.remedy.startswith("Did you mean OLLAMA_BASE_URL")


def test_what_the_system_checks_find_is_told_with_their_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = environment.Problem("PORT", "PORT is 'x'.", "Give a whole number.")
    monkeypatch.setattr("agentchat.checks.PROBLEMS", [wrong])
    assert problem("PORT is 'x'.", "Give a whole number.") in found(configuration.values())


@pytest.mark.parametrize(
    ("local", "https_only", "state"),
    [(True, False, "ok"), (True, True, "problem"), (False, True, "ok"), (False, False, "warning")],
)
def test_https_fits_the_place(settings: Settings, local: bool, https_only: bool, state: str) -> None:
    settings.LOCAL, settings.HTTPS_ONLY = local, https_only
    assert configuration.https().state == state


@pytest.mark.parametrize(("given", "state"), [("", "problem"), ("*", "warning"), ("a.org", "ok")])
def test_in_production_the_hosts_must_be_named(
    production: Settings, monkeypatch: pytest.MonkeyPatch, given: str, state: str
) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", given)
    assert configuration.allowed_hosts().state == state


def test_in_production_the_key_must_be_given(production: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    assert configuration.secret_key().state == "problem"
    monkeypatch.setenv("SECRET_KEY", SECRET)
    told = configuration.secret_key()
    assert (told.state, SECRET in told.says) == ("ok", False)


def test_the_master_switch_is_told(production: Settings) -> None:
    assert configuration.agents_enabled().state == "ok"
    production.AGENTS_ENABLED = False
    assert configuration.agents_enabled().state == "warning"


# --- the stores --------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def same_connection() -> Iterator[None]:
    """A look at the database leaves this thread with a connection that is not the test's."""
    kept = connections["default"]
    yield
    if connections["default"] is not kept:
        connections["default"].close()
        connections["default"] = kept


def test_a_database_that_answers_is_named() -> None:
    told = stores.database()
    assert (told.state, connection.display_name in told.says) == ("ok", True)
    assert (stores.migrations().state, stores.clock().state) == ("ok", "ok")


def test_what_a_store_says_is_told_without_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise OSError(f"refused\n{SECRET}")

    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setattr(health, "database", refuse)
    told = stores.database()
    assert (told.state, told.says) == ("problem", "The database does not answer: refused [redacted]")


@pytest.mark.parametrize(("apart_s", "state"), [(0, "ok"), (10, "warning"), (-300, "problem")])
def test_a_clock_that_goes_wrong_is_told(monkeypatch: pytest.MonkeyPatch, apart_s: float, state: str) -> None:
    class Cursor:
        def __enter__(self) -> "Cursor":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def execute(self, query: str) -> None:
            pass

        def fetchone(self) -> tuple[datetime]:
            return (datetime.now(UTC) + timedelta(seconds=apart_s),)

    class Connection:
        vendor = "postgresql"
        cursor = Cursor

    monkeypatch.setattr(stores, "connection", Connection())
    assert stores.clock().state == state


def test_a_broker_that_answers_is_named(live_events: str) -> None:
    told = only(stores.broker())
    assert (told.state, "valkey" in told.says) == ("ok", True)


def test_a_broker_that_is_away_is_told_without_its_password(settings: Settings) -> None:
    settings.EVENTS_URL = f"redis://:{SECRET}@127.0.0.1:9/0"
    told = only(stores.broker())
    assert (told.state, SECRET in told.says) == ("problem", False)


def test_a_broker_that_forgets_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful:
        def info(self) -> dict[str, str]:
            return {"redis_version": "7.0", "maxmemory_policy": "allkeys-lru"}

        def xadd(self, *_: object, **__: object) -> None:
            pass

        def delete(self, *_: object) -> None:
            pass

    states = [told.state for told in stores._of_broker(Forgetful())]  # type: ignore[arg-type]
    assert states == ["ok", "warning"]


@pytest.mark.parametrize(
    ("answers", "state"), [([{"celery@a": {"ok": "pong"}}], "ok"), ([], "problem"), (None, "problem")]
)
def test_a_missing_worker_is_told(monkeypatch: pytest.MonkeyPatch, answers: Any, state: str) -> None:
    monkeypatch.setattr(app.control, "ping", lambda timeout: answers)
    assert stores.worker().state == state


def test_a_dead_beat_is_known_by_what_it_no_longer_wakes(live_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stores.beat().state == "problem"
    heartbeat.beat()
    assert stores.beat().state == "ok"
    monkeypatch.setattr(heartbeat, "age_s", lambda: 31.0)
    assert stores.beat().state == "problem"


# --- the models --------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(scripted: ScriptedProvider, production: Settings) -> ScriptedProvider:
    production.AI_PROFILE = "scripted"
    return scripted


def test_a_model_that_answers_is_told_with_its_context(asked: ScriptedProvider) -> None:
    asked._models = [ModelInfo("scripted", context_length=32_000)]
    asked.enqueue("Hello.")
    told = only(models.debating())
    assert (told.state, "32,000 tokens of context" in told.says) == ("ok", True)


def test_a_short_context_is_told(asked: ScriptedProvider) -> None:
    asked._models = [ModelInfo("scripted", context_length=2048)]
    asked.enqueue("Hello.")
    assert only(models.debating()).state == "warning"


@pytest.mark.parametrize(
    "failure", [CredentialsRefused("The key was refused. Set another."), ModelMissing("There is no such model.")]
)
def test_a_model_that_fails_is_told_with_the_remedy(asked: ScriptedProvider, failure: Exception) -> None:
    asked.enqueue(failure)
    told = only(models.debating())
    assert (told.state, str(failure) in told.says) == ("problem", True)


def test_each_fallback_is_asked(asked: ScriptedProvider, settings: Settings) -> None:
    assert only(models.fallbacks()).state == "ok"
    settings.AI_FALLBACKS = [("scripted", "one"), ("scripted", "two")]
    for _ in range(2):
        asked.enqueue("Hello.")
    assert [told.state for told in models.fallbacks()] == ["ok", "ok"]
    assert sorted(request.model for request in asked.requests) == ["one", "two"]


def test_sources_are_told_with_what_they_lack(settings: Settings) -> None:
    settings.TAVILY_API_KEY = "x"
    told = models.sources()
    assert told.state == "ok"
    ready, _, lacking = told.says.partition("Not set up:")
    assert ready.startswith("Set up, not asked: ")  # nothing is known of whether they answer
    assert "Tavily" in ready and "arXiv" in ready
    assert "Set NEWSAPI_KEY" in lacking
