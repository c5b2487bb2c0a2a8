"""What proxies and middleware between a viewer and the program could spoil."""

import asyncio
from contextlib import aclosing

import pytest
from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from pytest_django import Settings

from debates.models import Conversation
from tests.fakes.clients import signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("live_events")]


@pytest.mark.parametrize("address", ["/debates/{}/live/", "/api/v1/debates/{}/events/"])
@pytest.mark.parametrize("compressed", [True, False])
def test_the_stream_is_neither_compressed_nor_gathered(
    debate: Conversation, alice: User, settings: Settings, address: str, compressed: bool
) -> None:
    if compressed:
        settings.MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *settings.MIDDLEWARE]

    client = signed_in(alice)

    async def first_bytes() -> tuple[StreamingHttpResponse, bytes]:
        response = await client.get(address.format(debate.pk), headers={"Accept-Encoding": "gzip, br"})
        assert isinstance(response, StreamingHttpResponse)
        async with aclosing(response.streaming_content) as chunks:
            return response, await asyncio.wait_for(anext(chunks), 20)

    response, first = asyncio.run(first_bytes())
    assert first == b"retry: 2000\n\n"
    assert response["Content-Type"] == "text/event-stream"
    assert response["Content-Encoding"] == "identity"
    assert response["X-Accel-Buffering"] == "no"
    assert response["Cache-Control"] == "no-cache, no-transform"
