"""The sources and tools of one agent in one turn: who looks up, what is shown to the agent, what is kept."""

import json
import uuid
from collections.abc import Generator, Sequence
from functools import partial

from debates import leases, material, sources
from debates.citing import verdicts
from debates.events import Said
from debates.leases import Lease
from debates.models import Conversation, Message, Seat, Source, ToolsModeChoices
from debates.searching.queries import queries_for
from debates.spending import Account
from providers import capabilities, registry
from providers.base import Tick, ToolCall, ToolSpec
from providers.models import ModelCall
from tools_app.actions.save_note import notes_of
from tools_app.audit import Errand
from tools_app.base import Answer, Item, Progress
from tools_app.gateway import Session
from tools_app.models import ToolCall as CallRow

Mode = ToolsModeChoices

BRIEFING_TIMEOUT_S = 8
# The best source first; the next one only when that has nothing or does not answer.
BRIEFING_SOURCES = 2
# A model that called nothing in so many turns is briefed from then on.
PATIENCE_TURNS = 2


def usable(conversation: Conversation) -> bool:
    """Whether this debate has any source or tool here and now."""
    if not conversation.is_sourced:
        return False
    return bool(Session(Errand(conversation.owner_id), conversation.tools).offered())


def mode_of(conversation: Conversation, seat: Seat, said: Sequence[Said]) -> str:
    if conversation.tools_mode != Mode.AUTO:
        return conversation.tools_mode
    if registry.profile(seat.provider).tiny or not capabilities.takes_tools(seat.provider, seat.model):
        return Mode.BRIEFING
    return Mode.BRIEFING if _never_calls(conversation, seat, said) else Mode.NATIVE


def _never_calls(conversation: Conversation, seat: Seat, said: Sequence[Said]) -> bool:
    if sum(message.sender == seat.sender for message in said) < PATIENCE_TURNS:
        return False
    own = CallRow.objects.filter(scope=conversation.pk, actor=seat.sender)
    return not own.filter(origin=CallRow.Origin.MODEL).exists()


class Research:
    """The `Desk` of a debate that has sources."""

    def __init__(
        self,
        lease: Lease,
        conversation: Conversation,
        seat: Seat,
        account: Account,
        round_number: int,
        said: Sequence[Said],
    ) -> None:
        self._lease, self._conversation, self._seat, self._said = lease, conversation, seat, said
        self._mode = mode_of(conversation, seat, said)
        self._found: list[Source] = []
        self._account = account
        errand = Errand(
            owner_id=conversation.owner_id,
            language=conversation.language,
            scope=conversation.pk,
            actor=seat.sender,
            step=round_number,
            origin=CallRow.Origin.BRIEFING if self._mode == Mode.BRIEFING else CallRow.Origin.MODEL,
            trace_id=account.trace_id,
        )
        words = " ".join([conversation.topic, *(message.content for message in said[-1:])])
        self._session = Session(
            errand, conversation.tools, words=words, label=self._keep, guard=partial(leases.guarded, lease)
        )
        leases.release_connection()

    def prepare(self) -> Generator[Progress, None, None]:
        self._account.check_budget()
        self._session.put_away_unasked()
        if self._mode != Mode.BRIEFING:
            return
        names = self._session.searchable()[:BRIEFING_SOURCES]
        if not names:
            return
        errand = self._account.errand(ModelCall.Purpose.UTILITY, self._seat.sender)
        queries = yield from queries_for(self._conversation.topic, self._said, self._conversation.language, errand)
        for name in names:
            calls = [ToolCall(uuid.uuid4().hex, name, json.dumps({"query": query})) for query in queries]
            yield from self._released(self._session.run(calls, timeout_s=BRIEFING_TIMEOUT_S))
            if self._found:
                return

    def material(self) -> str:
        if registry.profile(self._seat.provider).tiny:
            return material.fact(self._found)
        pk, language = self._conversation.pk, self._conversation.language
        found = {source.number for source in self._found}
        newest = Source.objects.filter(conversation=pk).order_by("-number")[: material.SHOWN_SOURCES]
        heard = (
            Message.objects.filter(conversation=pk).order_by("-position").values_list("citations", flat=True).first()
        )
        blocks = (
            material.known([source for source in reversed(newest) if source.number not in found], language),
            verdicts.spoken_check(heard or [], language),
            material.notebook(notes_of(str(pk), self._seat.sender), language),
            material.briefing(self._found, language) if self._mode == Mode.BRIEFING else "",
        )
        leases.release_connection()
        return "\n\n".join(block for block in blocks if block)

    def offered(self, provider: str, model: str) -> tuple[ToolSpec, ...]:
        return self._session.offered() if self._mode == Mode.NATIVE and self._takes_tools(provider, model) else ()

    def _takes_tools(self, provider: str, model: str) -> bool:
        """What holds for the agent's own model was decided with the mode."""
        if (provider, model) == (self._seat.provider, self._seat.model):
            return True
        return not registry.profile(provider).tiny and capabilities.takes_tools(provider, model)

    def run(self, calls: Sequence[ToolCall]) -> Generator[Progress, None, tuple[Answer, ...]]:
        return (yield from self._released(self._session.run(calls)))

    def tools_refused(self, provider: str, model: str) -> None:
        capabilities.tools_refused(provider, model)

    def _released(
        self, progress: Generator[Progress, None, tuple[Answer, ...]]
    ) -> Generator[Progress, None, tuple[Answer, ...]]:
        """The progress, without a database connection while sources are waited for."""
        while True:
            try:
                step = next(progress)
            except StopIteration as end:
                leases.release_connection()
                return end.value  # type: ignore[no-any-return]
            if isinstance(step, Tick):
                leases.release_connection()
            yield step

    def _keep(self, tool: str, items: Sequence[Item]) -> list[str]:
        with leases.guarded(self._lease):
            kept = sources.keep(self._conversation.pk, tool, items)
        self._found += kept
        return [source.code for source in kept]
