import asyncio
import threading
import uuid
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import AsyncClient
from pytest_django import Settings

from accounts import tokens
from debates import leases, services
from debates.models import Conversation, Message
from tests.fakes.clients import signed_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_event_server(settings: Settings) -> None:
    """Debates that have ended are read from the database alone; `test_live_stream` has the rest."""
    settings.EVENTS_URL = "unix:///nowhere/valkey.sock"


def get(debate_id: uuid.UUID, **options: Any) -> tuple[Any, str]:
    """The answer and all that it streams; the debate must have ended."""

    async def read() -> tuple[Any, str]:
        response = await AsyncClient().get(f"/api/v1/debates/{debate_id}/events/", **options)
        if not response.streaming:
            return response, response.content.decode()
        frames = cast(AsyncIterator[bytes], cast(StreamingHttpResponse, response).streaming_content)
        async with asyncio.timeout(20):
            return response, b"".join([frame async for frame in frames]).decode()

    return asyncio.run(read())


def bearer(user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens.make(user, 'script')[1]}"}


@pytest.fixture
def ended(debate: Conversation) -> Conversation:
    for position in (1, 2):
        Message.objects.create(
            conversation=debate,
            position=position,
            round_number=1,
            sender="AGENT_A" if position == 1 else "AGENT_B",
            content=f"line\n\nevent: end {position}",
        )
    services.stop(debate)
    return debate


def test_a_script_gets_the_messages_and_the_end(alice: User, ended: Conversation) -> None:
    response, body = get(ended.pk, headers=bearer(alice))
    assert response["Content-Type"] == "text/event-stream"
    names = [line for line in body.splitlines() if line.startswith(("id:", "event:"))]
    assert names == ["id: 1", "event: message", "id: 2", "event: message", "event: status", "event: end"]
    assert '"end_reason": "STOPPED"' in body


@pytest.mark.parametrize("how", [{"query_params": {"after": "1"}}, {"headers": {"Last-Event-ID": "1"}}])
def test_a_script_goes_on_where_it_was(alice: User, ended: Conversation, how: dict[str, Any]) -> None:
    how = {"headers": {}, **how}
    _, body = get(ended.pk, **{**how, "headers": {**how["headers"], **bearer(alice)}})
    assert "id: 2" in body
    assert "id: 1" not in body


@pytest.mark.parametrize(("headers", "status"), [({}, 200), ({"Authorization": "Bearer act_wrong"}, 401)])
def test_a_session_may_watch_too_but_does_not_save_a_wrong_token(
    alice: User, ended: Conversation, headers: dict[str, str], status: int
) -> None:
    client = signed_in(alice)

    async def watch() -> int:
        return int((await client.get(f"/api/v1/debates/{ended.pk}/events/", headers=headers)).status_code)

    assert asyncio.run(watch()) == status


def test_nobody_is_told_to_send_a_token(ended: Conversation) -> None:
    for headers in ({}, {"Authorization": "Bearer act_wrong"}):
        response, body = get(ended.pk, headers=headers)
        assert response.status_code == 401
        assert response["WWW-Authenticate"].startswith("Bearer")
        assert '"code": "not_authenticated"' in body


def test_the_viewer_and_the_debate_are_found_with_one_connection_that_is_given_back(
    bob: User, ended: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[int] = []

    def release() -> None:
        given_back.append(threading.get_ident())
        connection.close()

    headers = bearer(bob)
    monkeypatch.setattr(leases, "release_connection", release)
    assert get(ended.pk, headers=headers)[0].status_code == 404
    assert len(given_back) == 1
    assert given_back[0] != threading.get_ident()


def test_the_debates_of_others_do_not_exist(bob: User, ended: Conversation) -> None:
    headers = bearer(bob)
    foreign, missing = get(ended.pk, headers=headers), get(uuid.UUID(int=0), headers=headers)
    assert foreign[0].status_code == missing[0].status_code == 404
    assert foreign[1] == missing[1]
