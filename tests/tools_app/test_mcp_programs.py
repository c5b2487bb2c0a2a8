import json
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from tests.tools_app.mcp_support import call, failing, text_of
from tools_app.base import FailureKind, Found
from tools_app.mcp import client
from tools_app.mcp.places import Program, Server

FAKE = Path(__file__).parent.parent / "fakes" / "mcp_program.py"


def program(*arguments: str, **env: str) -> Server:
    return Server("fake", Program((sys.executable, str(FAKE), *arguments), env))


def programs() -> list[psutil.Process]:
    """Those of these tests that still run; a test run has other children too."""
    return [process for process in psutil.Process().children(recursive=True) if str(FAKE) in process.cmdline()]


def test_the_time_server_tells_the_time() -> None:
    server = Server("time", Program((sys.executable, "-m", "mcp_server_time")))
    assert json.loads(text_of(call(server, "get_current_time", timezone="Asia/Tokyo")))["timezone"] == "Asia/Tokyo"
    failure = failing(lambda: call(server, "get_current_time", timezone="Mars/Olympus"))
    assert (failure.kind, "Invalid timezone" in str(failure)) == (FailureKind.BAD_QUERY, True)


def test_the_git_server_reads_its_repository_alone(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    server = Server("git", Program((sys.executable, "-m", "mcp_server_git", "--repository", str(tmp_path))))
    assert "No commits yet" in text_of(call(server, "git_status", repo_path=str(tmp_path)))
    failure = failing(lambda: call(server, "git_status", repo_path="/"))
    assert (failure.kind, "outside" in str(failure)) == (FailureKind.BAD_QUERY, True)


def test_a_program_gets_no_secret_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ours-and-nobody-elses")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:p@127.0.0.1/d")
    text = text_of(call(program(FLAVOUR="mint"), "environment"))
    assert '"FLAVOUR": "mint"' in text
    assert "sk-ours" not in text
    assert "DATABASE_URL" not in text


def test_a_program_gets_the_variables_that_its_entry_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TEA", "green")
    assert '"TEA": "a cup of green"' in text_of(call(program(TEA="a cup of ${MY_TEA}"), "environment"))


def test_a_secret_that_comes_back_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-of-the-server")
    text = text_of(call(program(API_KEY="${MY_KEY}", OTHER_TOKEN="written-here-too"), "environment"))
    assert '"API_KEY": "[redacted]"' in text
    assert '"OTHER_TOKEN": "[redacted]"' in text


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    failure = failing(lambda: client.list_tools(program(API_KEY="${NOT_SET}"), 5))
    assert (failure.kind, "NOT_SET" in str(failure)) == (FailureKind.CONFIG, True)


def test_a_program_starts_in_an_empty_directory_of_its_own() -> None:
    text = text_of(call(program(), "directory"))
    assert text.endswith("holds []")
    assert not Path(text.split(" holds ")[0]).exists()


def test_what_a_program_writes_about_itself_stays_out_of_our_output_and_logs(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    client.list_tools(program("--at-start", "chatter"), 20)
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


def test_a_program_that_is_missing_is_named() -> None:
    failure = failing(lambda: client.list_tools(Server("gone", Program(("no-such-program",))), 5))
    assert (failure.kind, "no program no-such-program" in str(failure)) == (FailureKind.UPSTREAM, True)


def test_a_file_that_is_no_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    failure = failing(lambda: client.list_tools(Server("text", Program((str(tmp_path / "text"),))), 5))
    assert (failure.kind, "no program that may be run" in str(failure)) == (FailureKind.UPSTREAM, True)


@pytest.mark.parametrize("at_start", [True, False])
def test_a_program_that_ends_has_ended_the_connection(at_start: bool) -> None:
    server = program("--at-start", "exit") if at_start else program()
    failure = failing(lambda: client.list_tools(server, 20) if at_start else call(server, "crash"))
    assert (failure.kind, "ended the connection" in str(failure)) == (FailureKind.UPSTREAM, True)


def test_a_program_that_says_nothing_is_given_up_and_ended() -> None:
    failure = failing(lambda: client.list_tools(program("--at-start", "hang"), 1))
    assert failure.kind is FailureKind.TIMEOUT
    assert programs() == []


def test_a_call_that_takes_too_long_is_given_up_and_the_program_ended() -> None:
    failure = failing(lambda: call(program(), "sleep", deadline_s=3))
    assert failure.kind is FailureKind.TIMEOUT
    assert programs() == []


def test_a_program_that_does_not_want_to_end_is_ended(tmp_path: Path) -> None:
    client.list_tools(program("--stay", str(tmp_path / "pid")), 20)
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_several_threads_may_use_a_server_at_once() -> None:
    outcomes: list[object] = []
    threads = [threading.Thread(target=lambda: outcomes.append(call(program(), "directory"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [type(outcome) for outcome in outcomes] == [Found] * 3
    assert programs() == []
