"""Which error a refusal is: servers say the same in many ways, and use the status codes loosely."""

from typing import Any

import pytest

from providers.base import (
    ContentRefused,
    ContextTooLong,
    CredentialsRefused,
    Loading,
    ModelMissing,
    NotThisProtocol,
    ProviderError,
    QuotaUsedUp,
    RateLimited,
    RequestRefused,
    ServerFailed,
    WrongCall,
)
from providers.failures import Server, sentence_of
from providers.waits import seconds_in

SERVER = Server("It", "http://host/v1", "Start it.", "Choose one that it has.", address_remedy="Try /v1.")
PAGE = "<html><body>Not here</body></html>"


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", ContextTooLong),
        (
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ContextTooLong,
        ),
        (400, "Please reduce the length of the messages or completion.", ContextTooLong),
        (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", ContextTooLong),
        (500, "the request exceeds the available context size", ContextTooLong),
        (413, PAGE, ContextTooLong),
        (429, "Request too large for m on tokens per min: Limit 10000, Requested 12000.", ContextTooLong),
        (429, "Too many tokens, please wait before trying again.", RateLimited),
        (503, _error("Loading model", type="unavailable_error"), Loading),
        (503, {"error": "Model m is currently loading", "estimated_time": 20}, Loading),
        (500, "error loading model: unknown architecture", ServerFailed),
        (402, "", QuotaUsedUp),
        (402, "Insufficient Balance", QuotaUsedUp),
        (429, _error("You exceeded your current quota.", code="insufficient_quota"), QuotaUsedUp),
        (429, "You exceeded your current quota. Please retry in 22.3s.", RateLimited),
        (403, "Key limit exceeded (total limit).", QuotaUsedUp),
        (400, _error("The response was filtered.", code="content_filter"), ContentRefused),
        (400, "Your request was rejected as a result of our safety system.", ContentRefused),
        (403, _error("Input was flagged", metadata={"reasons": ["violence"]}), ContentRefused),
        (403, "Not for you.", CredentialsRefused),
        (403, PAGE, RequestRefused),
        (404, PAGE, NotThisProtocol),
        (405, PAGE, NotThisProtocol),
        (404, "", ModelMissing),
        (400, "foo/bar is not a valid model ID", ModelMissing),
        (400, "model 'm' not found", ModelMissing),
        (400, _error("tool call validation failed: errors", code="tool_use_failed"), WrongCall),
        (500, "error parsing tool call: raw='{', err=unexpected end", WrongCall),
        (400, "Invalid schema for function 'add_point'.", RequestRefused),
        (408, "", ServerFailed),
        (502, PAGE, ServerFailed),
        (529, "Overloaded", ServerFailed),
    ],
)
def test_a_refusal_is_sorted_by_its_words_and_then_by_its_status(
    status: int, body: object, kind: type[ProviderError]
) -> None:
    assert type(SERVER.refusal(status, body, "m")) is kind


def test_what_can_be_done_is_said() -> None:
    assert "It failed (HTTP 502)." in str(SERVER.refusal(502, PAGE, "m"))
    assert str(SERVER.refusal(404, PAGE, "m")) == "It answered with a web page (HTTP 404). Try /v1."
    assert "Add credits there" in str(SERVER.refusal(402, "", "m"))
    assert (
        "flagged: violence"
        in str(SERVER.refusal(403, _error("Flagged", metadata={"reasons": ["violence"]}), "m")).lower()
    )


@pytest.mark.parametrize(
    ("retry_after_s", "said"),
    [(7, ""), (60, "It can go on in 1 min."), (5400, "It can go on in 90 min."), (86_400, "It can go on in 24 hours.")],
)
def test_a_long_wait_is_said_in_words(retry_after_s: float, said: str) -> None:
    error = SERVER.refusal(429, "Daily limit reached", "m", retry_after_s)
    assert str(error) == f"It allows no further request for now: Daily limit reached. {said}".rstrip()
    assert error.retry_after_s == retry_after_s


@pytest.mark.parametrize(
    ("sentence", "seconds"),
    [
        ("Please try again in 7.66s.", 7.66),
        ("Please try again in 6m0s.", 360),
        ("Please try again in 1h2m3s.", 3723),
        ("Try again in 500ms", 0.5),
        ("Please retry after 20 seconds.", 20),
        ("Try again in 2 minutes", 120),
        ("Try again in a while.", None),
        ("There are 5 seconds left.", None),
    ],
)
def test_a_wait_is_read_out_of_the_sentence(sentence: str, seconds: float | None) -> None:
    assert seconds_in(sentence) == seconds


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            _error("Provider returned error", metadata={"raw": "Too Many Requests"}),
            "Provider returned error: Too Many Requests",
        ),
        (_error("Oh", metadata={"raw": '{"error": {"message": "inner"}}'}), "Oh: inner"),
        (_error("Oh", metadata={"raw": None}), "Oh"),
        (_error("Oh", metadata="x"), "Oh"),
        (
            {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
            "Extra inputs are not permitted: seed",
        ),
        ([{"error": {"message": "in a list"}}], "in a list"),
    ],
)
def test_the_words_of_the_server_behind_and_of_lists_are_found(body: object, sentence: str) -> None:
    assert sentence_of(body) == sentence


def test_a_complaint_holds_no_key() -> None:
    server = Server("It", "http://host", "", "", key="sk-0123456789")
    complaint = server.refusal(400, _error("Bad sk-0123456789", param="sk-0123456789"), "m").complaint
    assert complaint is not None
    assert "0123" not in repr(complaint)
