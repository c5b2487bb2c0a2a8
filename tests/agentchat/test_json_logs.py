"""Log lines for machines: one JSON object each, which belongs to its request and debate and holds no secret."""

import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from accounts import links
from agentchat.environment import BASE_DIR
from agentchat.logs import JsonLines, PlainLines
from providers import trace
from tests.agentchat.processes import UNSET
from tests.agentchat.test_environment_problems import PRODUCTION

SECRET = "hunter2-hunter2"

PROGRAM = """
import logging
import django
django.setup()
from django.conf import settings
logger = logging.getLogger("debates")
logger.warning("one %s\\ntwo", "word")
logger.error("the key %s", settings.OPENAI_API_KEY)
try:
    raise ValueError("with " + settings.OPENAI_API_KEY)
except ValueError:
    logger.exception("broken")
"""


def record(message: str, *arguments: object, **attached: object) -> logging.LogRecord:
    made = logging.LogRecord("debates", logging.WARNING, "", 1, message, arguments, None)
    made.__dict__.update(attached)
    return made


def told(made: logging.LogRecord, *secrets: str) -> dict[str, Any]:
    line = JsonLines(secrets=secrets).format(made)
    assert "\n" not in line
    said: dict[str, Any] = json.loads(line)
    return said


def printed(tmp_path: Path, **environment: str) -> list[str]:
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
    return done.stderr.splitlines()


def test_production_prints_one_object_a_line_without_the_keys(tmp_path: Path) -> None:
    lines = printed(tmp_path, **PRODUCTION, OPENAI_API_KEY=SECRET)
    first, second, third = map(json.loads, lines)
    assert (first["level"], first["logger"], first["message"]) == ("WARNING", "debates", "one word\ntwo")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first["time"])
    assert second["message"] == "the key [redacted]"
    assert "ValueError: with [redacted]" in third["exception"]
    assert SECRET not in "".join(lines)


def test_a_laptop_prints_lines_for_people_without_the_keys_either(tmp_path: Path) -> None:
    lines = printed(tmp_path, OPENAI_API_KEY=SECRET)
    assert any(line.endswith("WARNING debates: one word") for line in lines)
    assert SECRET not in "".join(lines)


def test_each_form_can_be_asked_for(tmp_path: Path) -> None:
    assert json.loads(printed(tmp_path, LOG_FORMAT="json")[0])["message"] == "one word\ntwo"
    assert printed(tmp_path, **PRODUCTION, LOG_FORMAT="plain")[0].endswith("one word")


def test_the_password_of_an_address_is_a_secret(tmp_path: Path) -> None:
    program_said = printed(tmp_path, **PRODUCTION | {"REDIS_URL": f"redis://:{SECRET}@127.0.0.1/0"}, OPENAI_API_KEY="x")
    assert program_said
    from_settings = subprocess.run(
        [sys.executable, "-c", "from agentchat import environment as e; e.text('REDIS_URL'); print(e.secrets_known())"],
        cwd=BASE_DIR,
        env=UNSET | {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "REDIS_URL": f"redis://:{SECRET}@host/0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert SECRET in from_settings.stdout


def test_what_callers_attach_is_left_out_but_for_facts() -> None:
    said = told(record("done", request=object(), data={"args": "x"}, facts={"ms": 3, "debate": "d"}))
    assert set(said) == {"time", "level", "logger", "message", "ms", "debate"}


@pytest.mark.parametrize("secret", ['quo"ted-secret', "back\\\\slashed", "ключ-від-усього", "with space"])
def test_a_secret_of_any_letters_is_taken_out(secret: str) -> None:
    said = told(record("the key %s here", secret), secret)
    assert said["message"] == "the key [redacted] here"


def test_a_line_names_its_request_and_its_debate() -> None:
    with trace.under("0123456789", debate="d-1"):
        said = told(record("hello"))
    assert (said["trace_id"], said["debate"]) == ("0123456789", "d-1")
    assert "trace_id" not in told(record("hello"))


@pytest.mark.parametrize("text", ["Київ", "\ud800 lone", "\u2028", '"}{'])
def test_any_text_can_be_written_anywhere(text: str) -> None:
    line = JsonLines().format(record("%s", text))
    assert line.isascii()
    assert json.loads(line)["message"] == text


def test_a_sign_in_link_is_not_written_down(alice: User, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    path = links.sign_in_path(alice)
    token = path.rstrip("/").rpartition("/")[2]
    with caplog.at_level(logging.INFO, "agentchat.requests"):
        client.put(path)
    refused = [made for made in caplog.records if token in made.getMessage()]
    assert refused, "Django quotes the path"
    for form in (PlainLines(), JsonLines()):
        assert token not in form.format(refused[0])
    ours = [made.getMessage() for made in caplog.records if made.name == "agentchat.requests"]
    assert ours == ["PUT /accounts/enter/<uidb64>/<token>/ 405"]


# --- the id ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["abcDEF01", "a.b-c_d.0123456789", "x" * 64])
def test_a_well_formed_id_is_taken_and_given_back(client: Client, db: None, given: str) -> None:
    assert client.get("/", headers={"X-Request-ID": given})["X-Request-ID"] == given


@pytest.mark.parametrize("given", ["", "short", "x" * 65, "with space", "line\nbreak", "ключ-ключ", "<script>x"])
def test_any_other_is_replaced(client: Client, db: None, given: str) -> None:
    made = client.get("/", headers={"X-Request-ID": given})["X-Request-ID"]
    assert re.fullmatch(r"[0-9a-f]{32}", made)
    assert client.get("/")["X-Request-ID"] != made


def test_blocks_can_stand_in_each_other() -> None:
    with trace.under("outer-id", debate="d"):
        with trace.under() as inner:
            assert (trace.current(), trace.debate()) == (inner, "")
        assert (trace.current(), trace.debate()) == ("outer-id", "d")
    assert trace.current() == ""


def test_two_threads_do_not_share_an_id() -> None:
    seen: list[str] = []
    work: Callable[[], None] = lambda: seen.append(trace.current())  # noqa: E731
    with trace.under("here-and-now"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [""]
