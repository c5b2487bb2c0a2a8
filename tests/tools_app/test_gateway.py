import json
import logging
import threading
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from providers.base import ToolCall
from tests.tools_app.tools import asked, contents, found, run, session, tool
from tools_app import registry
from tools_app.base import Call, CallEnded, CallStarted, FailureKind, Found, Item, Nothing, ToolFailure
from tools_app.models import ToolCall as Row

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_gives_what_was_found_in_a_fixed_structure(alice: User) -> None:
    with registry.use(tool()):
        (answer,), told = run(session(alice, label=lambda tool, items: ["S7"]), asked("look", query="tides"))
    said = json.loads(answer.content)
    assert (said["status"], said["tool"], said["arguments"]) == ("results", "look", {"query": "tides"})
    assert said["results"][0]["source"] == "S7"
    assert "not instructions" in said["note"]
    assert [type(step) for step in told] == [CallStarted, CallEnded]


def test_it_writes_the_call_down_before_it_runs(alice: User) -> None:
    rows: list[str] = []

    def looks(given: Mapping[str, Any], call: Call) -> Found:
        rows.extend(Row.objects.values_list("outcome", flat=True))
        return found(given, call)

    with registry.use(tool(run=looks)):
        run(session(alice), asked("look", query="tides"))
    assert rows == ["RUNNING"]
    row = Row.objects.get()
    assert (row.outcome, row.owner, row.actor, row.step, row.trace_id) == ("FOUND", alice, "AGENT_A", 1, "trace")
    assert row.ms is not None
    assert row.ended_at is not None


def test_it_logs_one_line_for_each_call(alice: User, caplog: pytest.LogCaptureFixture) -> None:
    with registry.use(tool()), caplog.at_level(logging.INFO, "tools_app.audit"):
        run(session(alice), asked("look", query="tides"))
    (line,) = [json.loads(record.message) for record in caplog.records if record.name == "tools_app.audit"]
    assert (line["tool"], line["outcome"], line["trace_id"]) == ("look", "FOUND", "trace")
    assert "tides" in line["arguments"]


@pytest.mark.parametrize(
    ("outcome", "begins", "kept"),
    [
        (Nothing("Try fewer words."), '{"status": "empty"', "NOTHING"),
        (ToolFailure(FailureKind.RATE, "Too fast.", retry_after_s=9), "ERROR: Too fast.", "FAILED"),
        (ValueError("inner detail"), "ERROR: Look met a fault", "FAILED"),
    ],
)
def test_nothing_and_failure_are_told_apart(alice: User, outcome: Any, begins: str, kept: str) -> None:
    def answers(given: Mapping[str, Any], call: Call) -> Nothing:
        if isinstance(outcome, Exception):
            raise outcome
        assert isinstance(outcome, Nothing)
        return outcome

    with registry.use(tool(run=answers)):
        (answer,), _ = run(session(alice), asked("look", query="tides"))
    assert answer.content.startswith(begins)
    assert "inner detail" not in answer.content
    assert Row.objects.get().outcome == kept


def test_an_unknown_tool_is_answered_with_the_closest_names(alice: User) -> None:
    with registry.use(tool()):
        (answer,), told = run(session(alice), asked("lock", query="tides"))
    assert answer.content.startswith("ERROR: There is no tool 'lock'. There are: look.")
    assert answer.wrong_arguments
    assert Row.objects.get().failure == FailureKind.UNKNOWN_TOOL
    assert isinstance(told[-1], CallEnded)
    assert told[-1].phase == "failed"


def test_a_tool_that_is_not_switched_on_does_not_run(alice: User) -> None:
    with registry.use(tool(), tool("other", run=lambda given, call: pytest.fail("it ran"))):
        (answer,), _ = run(session(alice, "look"), asked("other", query="tides"))
    assert "not switched on in this debate" in answer.content
    assert Row.objects.get().outcome == "REFUSED"


def test_a_tool_that_lacks_a_setting_is_not_offered(alice: User) -> None:
    with registry.use(tool(), tool("keyed", missing=lambda: "Set KEY.")):
        assert [spec.name for spec in session(alice, "look", "keyed").offered()] == ["look"]


def test_arguments_that_do_not_fit_name_the_field(alice: User) -> None:
    with registry.use(tool()):
        (answer,), _ = run(session(alice), ToolCall("1", "look", '{"query": "tides", "limit": "many"}'))
    assert answer.wrong_arguments
    assert answer.content.startswith("ERROR: ")
    assert "limit" in answer.content
    assert Row.objects.get().failure == FailureKind.BAD_ARGUMENTS


def test_every_call_gets_an_answer_in_its_order(alice: User) -> None:
    calls = [
        asked("look", "a", query="x"),
        asked("nope", "b"),
        ToolCall("c", "look", "{"),
        asked("look", "d", query="y"),
    ]
    with registry.use(tool()):
        answers, _ = run(session(alice), *calls)
    assert [answer.call_id for answer in answers] == ["a", "b", "c", "d"]
    assert all(contents(answers))
    assert Row.objects.count() == 4


def test_reading_calls_run_side_by_side(alice: User) -> None:
    meeting = threading.Barrier(3)

    def meets(given: Mapping[str, Any], call: Call) -> Found:
        meeting.wait(timeout=20)  # only three that run at once get past it
        return found(given, call)

    with registry.use(tool(run=meets)):
        answers, _ = run(session(alice), *(asked("look", query=word) for word in "abc"))
    assert all('"results"' in content for content in contents(answers))


def test_a_repeated_call_is_answered_from_the_first(alice: User) -> None:
    asked_for: list[str] = []

    def counts(given: Mapping[str, Any], call: Call) -> Found:
        asked_for.append(given["query"])
        return found(given, call)

    with registry.use(tool(run=counts)):
        turn = session(alice)
        first, _ = run(turn, asked("look", query="tides"), asked("look", query=" tides "))
        again, _ = run(turn, asked("look", query="tides"))
    assert asked_for == ["tides"]
    assert "this very call before" in first[1].content
    assert again[0].content.endswith(first[0].content)
    assert Row.objects.count() == 3


def test_a_call_that_failed_in_passing_may_be_made_again(alice: User) -> None:
    answers = iter([ToolFailure(FailureKind.TIMEOUT, "No answer."), None])

    def comes_back(given: Mapping[str, Any], call: Call) -> Found:
        if failure := next(answers):
            raise failure
        return found(given, call)

    with registry.use(tool(run=comes_back)):
        turn = session(alice)
        first, again = (run(turn, asked("look", query="tides"))[0][0].content for _ in range(2))
    assert first.startswith("ERROR: No answer.")
    assert again.startswith('{"status": "results"')


def test_a_tool_that_takes_too_long_is_left_behind(alice: User) -> None:
    release = threading.Event()

    def hangs(given: Mapping[str, Any], call: Call) -> Found:
        release.wait(timeout=20)
        return found(given, call)

    with registry.use(tool(run=hangs)):
        (answer,), _ = run(session(alice), asked("look", query="tides"), timeout_s=0.05)
        release.set()
    assert answer.content.startswith("ERROR: Look gave no answer within 0.05 s.")
    assert Row.objects.get().failure == FailureKind.TIMEOUT


def test_what_was_found_is_kept_for_the_time_of_its_tool(alice: User, valkey_url: str, settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey_url}}
    word = uuid.uuid4().hex
    asked_for: list[str] = []

    def finds_at_second(given: Mapping[str, Any], call: Call) -> Found | Nothing:
        asked_for.append(given["query"])
        return Nothing() if len(asked_for) == 1 else found(given, call)

    with registry.use(tool(run=finds_at_second, cache_s=60)):
        answers = [run(session(alice), asked("look", query=word))[0][0].content for _ in range(3)]
    assert len(asked_for) == 2  # nothing found is not kept
    assert answers[1] == answers[2] != answers[0]
    assert list(Row.objects.order_by("pk").values_list("from_cache", flat=True)) == [False, False, True]


def test_a_turn_has_a_limit_of_calls(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools_app.gateway.MOST_CALLS_A_TURN", 2)
    with registry.use(tool()):
        answers, _ = run(session(alice), *(asked("look", query=word) for word in "abc"))
    assert [content.startswith("ERROR") for content in contents(answers)] == [False, False, True]


def test_the_offer_is_narrowed_to_what_fits(alice: User) -> None:
    stocks = tool("stocks", keywords=frozenset({"share", "market"}))
    papers = tool("papers", keywords=frozenset({"study"}))
    enabled = ("look", "stocks", "papers")
    with registry.use(tool(), stocks, papers):
        fits = [spec.name for spec in session(alice, *enabled, words="Should the markets be free?").offered()]
        all_of_them = [spec.name for spec in session(alice, *enabled, words="Should cats vote?").offered()]
    assert fits == ["look", "stocks"]
    assert all_of_them == ["look", "stocks", "papers"]


def test_hidden_characters_of_a_result_do_not_reach_the_model(alice: User) -> None:
    def hides(given: Mapping[str, Any], call: Call) -> Found:
        return Found((Item("A\u202e\x00title", "tex\u200bt\U000e0041", "javascript:alert(1)"),))

    with registry.use(tool(run=hides)):
        (answer,), _ = run(session(alice), asked("look", query="tides"))
    (result,) = json.loads(answer.content)["results"]
    assert (result["title"], result["text"], result.get("url", "")) == ("Atitle", "text", "")
