import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from debates import personas
from debates.models import Conversation
from providers.base import ServerUnreachable
from providers.scripted import ScriptedProvider
from tests.agentchat.processes import UNSET

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agents(scripted: ScriptedProvider, settings: Settings) -> ScriptedProvider:
    settings.AI_PROFILE = "scripted"
    return scripted


def events(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


def test_it_prints_one_event_a_line(agents: ScriptedProvider, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("one", "два", "three", "four"):
        agents.enqueue(text)
    call_command("debate", "Should billionaires exist?", rounds=2, json=True)
    told = events(capsys.readouterr().out)
    said = [(event["sender"], event["content"]) for event in told if event["event"] == "message"]
    assert said == [("AGENT_A", "one"), ("AGENT_B", "два"), ("AGENT_A", "three"), ("AGENT_B", "four")]
    assert (told[0]["event"], told[-1]["event"], told[-1]["status"]) == ("status", "end", "FINISHED")


def test_it_prints_the_words_once_with_the_names(agents: ScriptedProvider, capsys: pytest.CaptureFixture[str]) -> None:
    agents.enqueue("Wealth is made by those who dare. ", "And it [bold]feeds[/bold] the rest of us.")
    agents.enqueue("Goodbye.")
    call_command("debate", "Tax?", rounds=2)
    out = capsys.readouterr().out
    assert out.count("Wealth is made by those who dare. And it [bold]feeds[/bold] the rest of us.") == 1
    assert "Pro, round 1 of 2" in out and "Contra, round 1 of 2" in out and "said farewell" in out


def test_without_personas_the_sides_say_yes_and_no(agents: ScriptedProvider) -> None:
    agents.enqueue("Goodbye.")
    call_command("debate", "Tax?", rounds=1, json=True)
    debate = Conversation.objects.get()
    assert "yes" in debate.seat_a.position and "no" in debate.seat_b.position


def test_personas_take_the_seats(agents: ScriptedProvider) -> None:
    side_a, side_b, topic = personas.DEMONSTRATION
    agents.enqueue("Goodbye.")
    call_command("debate", topic, rounds=1, a=side_a, b=side_b, json=True)
    assert (Conversation.objects.get().seat_b.persona or {})["slug"] == side_b


def test_it_keeps_the_debate_for_its_owner(agents: ScriptedProvider, alice: User) -> None:
    agents.enqueue("Goodbye.")
    call_command("debate", "Tax?", rounds=1, user="alice", json=True)
    assert Conversation.objects.get().owner == alice


def test_the_log_leaves_out_what_the_screen_tells_and_keeps_the_calls(
    agents: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    agents.enqueue("Goodbye.")
    call_command("debate", "Tax?", rounds=1, json=True)
    logging.getLogger("tools_app.audit").info("a call")
    logging.getLogger("tools_app.adapters.http").warning("no answer")
    assert [record.message for record in caplog.records if record.name.startswith("tools_app")][-1] == "a call"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"a": "nobody-like-that"}, "agent_a.persona: There is no persona"),
        ({"rounds": 2000}, "max_rounds: Give a whole number"),
        ({"user": "ghost"}, "no user 'ghost'"),
    ],
)
def test_a_wrong_wish_is_refused_by_name(agents: ScriptedProvider, options: dict[str, Any], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("debate", "Tax?", **{"rounds": 1, **options})
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("rounds", ["0", "-1", "many", "1.5"])
def test_it_wants_at_least_one_round(agents: ScriptedProvider, rounds: str) -> None:
    with pytest.raises(CommandError, match="give 1 or more"):
        call_command("debate", "Tax?", f"--rounds={rounds}")


def test_a_failure_says_what_to_do(agents: ScriptedProvider) -> None:
    agents.enqueue(ServerUnreachable("Start the server."))
    with pytest.raises(CommandError, match="Start the server"):
        call_command("debate", "Tax?", rounds=1, json=True)


def test_agents_that_were_switched_off_stay_off(
    agents: ScriptedProvider, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.AGENTS_ENABLED = False
    monkeypatch.setenv("AGENTS_ENABLED", "0")
    with pytest.raises(CommandError, match="AGENTS_ENABLED"):
        call_command("debate", "Tax?", rounds=1)


def started(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, **UNSET, "VAR_DIR": str(tmp_path), "ROUND_PAUSE_MS": "0"}
    command = [sys.executable, "manage.py", "debate", "Should billionaires exist?", "--json", *arguments]
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A suite that runs in the background of a shell inherits that SIGINT is ignored, and so would the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.timeout(600)
def test_on_the_embedded_model_two_rounds_give_four_messages(tmp_path: Path) -> None:
    process = started(tmp_path, "--rounds", "2")
    out, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    messages = [event for event in events(out) if event["event"] == "message"]
    assert [message["sender"] for message in messages] == ["AGENT_A", "AGENT_B"] * 2
    assert [message["round"] for message in messages] == [1, 1, 2, 2]
    assert all(message["content"].strip() and message["completion_tokens"] for message in messages)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_the_debate(tmp_path: Path, sign: signal.Signals) -> None:
    process = started(tmp_path, "--rounds", "50")
    assert process.stdout
    for line in process.stdout:
        if json.loads(line)["event"] == "text":
            break
    process.send_signal(sign)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Stopped." in errors and "Traceback" not in errors
