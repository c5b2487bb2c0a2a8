"""The server that the replay stands on, as a plain socket sees it."""

import json
import socket
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from tests.fakes.good_replies import SPEECH
from tests.fakes.replay import Case, ReplayServer

OK = {"status": 200, "body": '{"fine": true}'}


def asked(server: ReplayServer, body: dict[str, Any] | None = None, path: str = "/v1/chat/completions") -> bytes:
    data = json.dumps(body or {"messages": []}).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(data)}\r\n\r\n"
    return answer_to(server, head.encode() + data)


def answer_to(server: ReplayServer, data: bytes) -> bytes:
    """The whole answer, to the end of the connection."""
    with connected(server) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def connected(server: ReplayServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])))


def played(response: dict[str, Any], **more: Any) -> Case:
    return {"response": response, **more}


def test_it_answers_with_the_response_then_what_follows_then_well() -> None:
    with ReplayServer(played({"status": 503, "body": "{}"}, then=[OK]), ["m"]) as server:
        first, second, third = asked(server), asked(server), asked(server)
    assert first.startswith(b"HTTP/1.1 503 ") and second.endswith(b'{"fine": true}')
    assert SPEECH.encode() in third and b'"choices"' in third


def test_a_good_reply_is_of_the_protocol_that_was_asked() -> None:
    with ReplayServer(played(OK), ["m"]) as server:
        asked(server, path="/api/chat")
        assert b'"done": true' in asked(server, path="/api/chat")


def test_each_chunk_is_one_http_chunk_and_an_end_is_sent() -> None:
    with ReplayServer(played({"status": 200, "stream": ["ab", "ü"]}), ["m"]) as server:
        assert asked(server).endswith(b"\r\n\r\n2\r\nab\r\n2\r\n\xc3\xbc\r\n0\r\n\r\n")


def test_a_cut_stream_has_no_end() -> None:
    with ReplayServer(played({"status": 200, "stream": ["ab"], "end": "abort"}), ["m"]) as server:
        assert asked(server).endswith(b"\r\n\r\n2\r\nab\r\n")


def test_a_character_can_stand_for_a_byte() -> None:
    with ReplayServer(played({"status": 200, "stream": ["\xc3"], "encoding": "latin-1"}), ["m"]) as server:
        assert b"1\r\n\xc3\r\n" in asked(server)


def test_it_closes_without_an_answer() -> None:
    with ReplayServer(played({"status": 0, "transport": "close_without_response"}), ["m"]) as server:
        assert asked(server) == b""


def test_it_refuses_connections_until_it_recovers() -> None:
    with ReplayServer(played({"status": 0, "transport": "refuse"}), ["m"]) as server:
        with pytest.raises(ConnectionRefusedError):
            asked(server)
        server.recover()
        assert SPEECH.encode() in asked(server)


def test_a_date_in_a_header_lies_20_seconds_ahead() -> None:
    headers = {"retry-after": "{{HTTP_DATE_NOW_PLUS_20S}}"}
    with ReplayServer(played({"status": 429, "headers": headers, "body": ""}), ["m"]) as server:
        answer = asked(server).decode()
    written = answer.partition("retry-after: ")[2].partition("\r\n")[0]
    assert written.endswith(" GMT")
    assert 15 < (parsedate_to_datetime(written) - datetime.now(UTC)).total_seconds() <= 20


def test_delays_pass_faster_and_the_client_may_leave() -> None:
    case = played({"status": 200, "delay_before_headers_s": 900, "body": ""})
    with ReplayServer(case, ["m"], speed=1) as server:
        with connected(server) as connection:
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")
            while not server.requests:
                time.sleep(0.01)
        assert server.requests[0].left.wait(10)
    with ReplayServer(case, ["m"], speed=900_000) as server:
        assert asked(server).startswith(b"HTTP/1.1 200 ")


def test_a_rule_refuses_while_it_is_broken_and_uses_up_nothing() -> None:
    rule = {"name": "reject_if_key", "key": "temperature"}
    right: dict[str, Any] = {"messages": []}
    wrong = {**right, "temperature": 1}
    with ReplayServer(played({"status": 400, "body": "no"}, then=[OK], request_rule=rule), ["m"]) as server:
        answers = [asked(server, body) for body in (wrong, wrong, right, wrong, right)]
        assert [request.rejected for request in server.requests] == [True, True, False, True, False]
    assert [b"400" in answer[:20] for answer in answers] == [True, True, False, True, False]
    assert answers[2].endswith(b'{"fine": true}') and SPEECH.encode() in answers[4]


def test_a_rule_that_only_checks_refuses_nobody() -> None:
    broken = {"messages": [{"role": "user", "content": "u"}, {"role": "system", "content": "s"}]}
    with ReplayServer(played(OK, request_rule={"name": "single_leading_system"}), ["m"]) as server:
        assert asked(server, broken).endswith(b'{"fine": true}')
    (request,) = server.requests
    assert (request.broke_rule, request.rejected) == (True, False)


@pytest.mark.parametrize("path", ["/v1/models", "/api/tags"])
def test_it_lists_its_models(path: str) -> None:
    with ReplayServer(played(OK), ["m-1"]) as server:
        answer = answer_to(server, f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    assert b'"m-1"' in answer and not server.requests
