"""No database connection is held while a model is waited for: many more wait than connections are allowed."""

from collections.abc import Generator

import pytest
from django.db import connection

from providers import calls, registry
from providers.base import Adapted, ChatMessage, ChatRequest, Chunk, Finish, ServerFailed, TextChunk, Tick
from providers.calls import Errand
from providers.models import ModelCall
from providers.scripted import ScriptedProvider

pytestmark = pytest.mark.django_db(transaction=True)  # inside a transaction it would have to stay


class Looking(ScriptedProvider):
    """`held`: at each piece, whether a connection was."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[bool] = []

    def stream(self, request: ChatRequest) -> Generator[Chunk, None, None]:
        for chunk in (Tick(), Adapted("It takes no temperature."), Tick(), TextChunk("Yes."), Finish("stop", "m")):
            self.held.append(connection.connection is not None)
            yield chunk
        self.held.append(connection.connection is not None)
        raise ServerFailed("It broke off.")


def test_none_is_held_from_the_first_moment_to_the_last() -> None:
    provider = Looking()
    request = ChatRequest("m", (ChatMessage("user", "Hello?"),))
    ModelCall.objects.count()
    with registry.use("scripted", provider), pytest.raises(ServerFailed):
        list(calls.stream("scripted", request, Errand(ModelCall.Purpose.DEBATE)))
    assert provider.held == [False] * 6
