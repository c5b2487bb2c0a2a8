"""Whatever a server sends in place of an answer ends in one bounded, clean sentence, and soon."""

import json
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from providers import quirks, sorting, waits
from providers.base import ChatRequest, CredentialsRefused, ProviderError, RateLimited, ServerFailed
from providers.failures import Server, sentence_of
from providers.ollama import OllamaProvider
from providers.openai_compatible import OpenAICompatibleProvider
from tests.fakes.model_server import ModelServer, Reply

KEY = "sk-test-9f8e7d6c5b4a"
SERVER = Server("It", "http://host/v1", "Start it.", "Choose one that it has.", key=KEY)
SENT = {"model": "m", "messages": [], "max_tokens": 1024, "stream": True, "seed": 7}
NINES = "9" * 5000
LONGEST = 2000
DEEP = "[" * 100_000


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def _nested(depth: int) -> Any:
    body: Any = "deep"
    for _ in range(depth):
        body = {"error": [body]}
    return body


def _raised(provider: OpenAICompatibleProvider | OllamaProvider, ask: ChatRequest) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        list(provider.stream(ask))
    return raised.value


def _read(body: object, status: int = 400) -> ProviderError:
    """As far as a refusal is read at all."""
    error = SERVER.refusal(status, body, "m")
    assert error.complaint
    for text in (str(error), error.complaint.sentence, error.complaint.param, error.complaint.code):
        assert text.isprintable()
        assert len(text) <= LONGEST
        text.encode()
    assert len(str(error)) < 500
    for quirk in quirks.QUIRKS:
        quirk.found(error.complaint, SENT)
    return error


@pytest.mark.parametrize(
    "body",
    [
        f"Please try again in {'9' * 400}h",
        f"Please try again in {NINES}h{NINES}m{NINES}s",
        f"You can only afford {NINES}.",
        f"supports at most {NINES}; maximum context length is {NINES} with {NINES} input tokens",
        {"detail": [{"msg": "x", "loc": 5}]},
        {"detail": [{"msg": "x", "loc": True}]},
        {"detail": [{"msg": "x", "loc": [[], None, {}]}]},
        {"error": {"message": 7, "code": [], "param": {}, "type": True, "metadata": {"reasons": [[], 1, None]}}},
        _error("x", metadata={"raw": DEEP}),
        _error("x", metadata={"raw": NINES, "reasons": _nested(500)}),
        _nested(900),
        DEEP,
        _error("one \ud800 half"),
        _error("\x00\x1b[31mred\x1b[0m \u202egnp.exe\u2066\u200b\ufeff", code="a\x00b", param="c\x00\udfff"),
        _error("x" * 10_000_000, code="y" * 10_000_000, param="z" * 10_000_000),
        {"errors": _nested(900), "title": {}, "error_description": []},
    ],
)
def test_a_body_of_any_kind_becomes_a_clean_sentence(body: object) -> None:
    for status in (100, 302, 400, 401, 402, 404, 413, 429, 500, 999):
        _read(body, status)


def test_what_is_hidden_leaves_the_words() -> None:
    error = _read(_error("\x1b[31mNo\x00pe\u202e,\r\n\tnot \ud83d\ude00 now"))
    assert error.complaint
    assert error.complaint.sentence == "[31mNope, not 😀 now"


@pytest.mark.parametrize(
    "retry_after",
    [
        "inf",
        "1e999",
        "-1e999",
        "nan",
        "-5",
        "1e300",
        "9" * 400,
        "90000",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 9999 00:00:00 GMT",
        "Mon, 01 Jan 1999 00:00:00 GMT",
        ",",
        "Mon, 32 Foo 2024 99:99:99 +999999999999",
    ],
)
def test_an_absurd_wait_is_unknown(
    openai_provider: OpenAICompatibleProvider, server: ModelServer, ask: ChatRequest, retry_after: str
) -> None:
    server.enqueue(Reply(status=429, body=_error("Slow down"), headers={"retry-after": retry_after}))
    error = _raised(openai_provider, ask)
    assert type(error) is RateLimited
    assert error.retry_after_s is None
    assert "It can go on" not in str(error)


@pytest.mark.parametrize(
    "charset", ["zlib", "rot13", "hex", "idna", "bz2", "base64", "undefined", "punycode", "nothing"]
)
def test_a_charset_that_is_none_hides_no_refusal(
    openai_provider: OpenAICompatibleProvider,
    ollama_provider: OllamaProvider,
    server: ModelServer,
    ask: ChatRequest,
    charset: str,
) -> None:
    said = Reply(
        status=401, body=_error("Who are you?"), headers={"content-type": f"application/json; charset={charset}"}
    )
    server.enqueue(said, said)
    for provider in (openai_provider, ollama_provider):
        error = _raised(provider, ask)
        assert type(error) is CredentialsRefused
        assert "Who are you?" in str(error)


@pytest.mark.parametrize("status", [200, 400])
def test_json_of_any_depth_is_a_failure_of_the_server(
    openai_provider: OpenAICompatibleProvider,
    ollama_provider: OllamaProvider,
    server: ModelServer,
    ask: ChatRequest,
    status: int,
) -> None:
    deep = Reply([f"data: {DEEP}\n\n".encode()], status=status, finish=None)
    plain = Reply([f"{DEEP}\n".encode()], status=status, finish=None)
    server.enqueue(deep, plain)
    assert isinstance(_raised(openai_provider, ask), ProviderError)
    assert isinstance(_raised(ollama_provider, ask), ProviderError)


@pytest.mark.parametrize("address", ["http://[bad", "http://127.0.0.1:1/v1"])
def test_an_address_that_the_server_sends_on_to_is_not_taken_for_its_own(
    openai_provider: OpenAICompatibleProvider,
    ollama_provider: OllamaProvider,
    server: ModelServer,
    ask: ChatRequest,
    address: str,
) -> None:
    for provider in (openai_provider, ollama_provider):
        server.enqueue(Reply(status=307, body="", headers={"location": address}))
        error = _raised(provider, ask)
        assert type(error) is ServerFailed
        assert "sent the request on to an address that does not answer" in str(error)


def test_an_answer_of_nothing_is_said_to_be_that(
    openai_provider: OpenAICompatibleProvider, ollama_provider: OllamaProvider, server: ModelServer, ask: ChatRequest
) -> None:
    for provider in (openai_provider, ollama_provider):
        server.enqueue(Reply(finish=None, usage=None), Reply(["Hello"], finish=None))
        assert str(error := _raised(provider, ask)).endswith("answered with nothing.")
        assert type(error) is ServerFailed
        assert str(_raised(provider, ask)).endswith("broke off in the middle of the reply.")


_PIECES = sorted(
    {word for pattern in (row.words for row in sorting._ROWS) for word in re.findall(r"[a-z_]{3,}", pattern)}
    | {"exceed", "fail", "max_tokens", "max_completion_tokens", "tool", "stream", "system", "prompt", "content", "not"}
    | {
        "1",
        "error ",
        "9 ",
        "try again in ",
        "retry",
        "sk-",
        "*",
        ".",
        "…",
        "pars tool",
        "thinking ",
        "role: ",
        "=",
        " ",
    }
)


def test_repeated_words_of_the_patterns_are_read_to_no_more_than_the_cap() -> None:
    for piece in _PIECES:
        _read(piece * (100_000 // len(piece)))
        SERVER.quote(piece * (100_000 // len(piece)))


def _patterns() -> Iterator[str]:
    yield from (row.words for row in sorting._ROWS)
    yield from (value.pattern for module in (quirks, waits) for value in vars(module).values() if _is_pattern(value))
    says = [quirks._PASSBACK, *(quirk.found for quirk in quirks.QUIRKS)]
    cells = [cell.cell_contents for found in says for cell in found.__closure__ or ()]
    yield from (cell.pattern for cell in cells if _is_pattern(cell))


def _is_pattern(value: object) -> bool:
    return isinstance(value, re.Pattern)


def _ways(parsed: Any) -> int:
    """In how many ways the gaps of a pattern can be filled from one place, at the most. Of alternatives one fits."""
    ways = 1
    for code, what in parsed:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            least, most, inner = what
            assert most <= 1000, "a repetition without an end"
            ways *= (most - least + 1 if most > 1 else 1) * _ways(inner)
        elif code is codes.BRANCH:
            ways *= max(map(_ways, what[1]))
        elif code is codes.SUBPATTERN:
            ways *= _ways(what[-1])
    return ways


def test_no_pattern_can_go_back_and_forth_for_long() -> None:
    patterns = list(_patterns())
    assert len(patterns) > 25
    for pattern in patterns:
        assert _ways(parser.parse(pattern)) <= 4000, pattern


def test_the_end_of_a_long_text_is_kept_beside_its_beginning() -> None:
    error = _read("Begin. " + "x" * 50_000 + " maximum context length is 8192")
    assert error.complaint
    assert error.complaint.sentence.startswith("Begin. ")
    assert error.shrink_context


@pytest.mark.parametrize("length", range(LONGEST * 3 // 4 - 25, LONGEST * 3 // 4 + 5))
def test_a_key_is_not_split_by_the_cut(length: int) -> None:
    error = _read("x" * (length - 1) + " " + KEY + " " + "y" * 3000)
    assert error.complaint
    assert not any(KEY[:size] in error.complaint.sentence for size in range(3, len(KEY)))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"errors": [{"message": "one"}, {"message": "two"}]}, "one; two"),
        ({"errors": ["one", "two"]}, "one; two"),
        (
            {"title": "Not valid.", "errors": {"model": ["is required"], "n": "too large"}},
            "Not valid: model: is required; n: too large",
        ),
        ({"title": "Forbidden", "detail": "Not from there"}, "Not from there"),
        ({"error": "invalid_token", "error_description": "It expired"}, "invalid_token: It expired"),
        ({"error_description": "It expired"}, "It expired"),
        ({"error": {"message": "m", "errors": [{"message": "m", "domain": "d"}]}}, "m"),
        ({"message": "m", "errors": [{"message": "n"}]}, "m: n"),
        ({"detail": [{"msg": "x", "loc": "seed"}]}, "x: seed"),
        ({"detail": [{"msg": "x", "loc": ["body", 3, "seed"]}]}, "x: 3, seed"),
        (json.loads('{"error": true, "message": "m"}'), "m"),
    ],
)
def test_the_servers_words_are_found_in_further_shapes(body: object, sentence: str) -> None:
    assert sentence_of(body) == sentence
