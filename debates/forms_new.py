"""The three forms of the page "New debate" as one: what was typed, what is wrong with it, and what it asks for."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import QueryDict

from debates import checking, forms_tools, proposals
from debates.endings import DEFAULT_STOP_PHRASES
from debates.errors import InvalidDebate
from debates.forms import DebateForm, SeatForm
from debates.models import Persona
from debates.personas import compose_prompt
from debates.proposals import DebateProposal
from providers import registry
from tools_app import registry as tools

SEATS = ("agent_a", "agent_b")


class NewDebate:
    """The three forms of the page as one: the debate and its two seats.

    `data` is checked; `typed` is shown as it is, without complaints.
    """

    def __init__(
        self,
        owner: User,
        personas: Sequence[Persona],
        data: QueryDict | None = None,
        typed: QueryDict | None = None,
    ) -> None:
        self._owner = owner
        self.debate = DebateForm(data, initial=_debate_initial(typed))
        self.agent_a, self.agent_b = (
            SeatForm(data, prefix=seat, personas=personas, initial=_seat_initial(seat, typed)) for seat in SEATS
        )

    def is_valid(self) -> bool:
        """Whether each field holds something of its kind. What it means is checked when the debate is made."""
        faulty = [form for form in (self.debate, self.agent_a, self.agent_b) if not form.is_valid()]
        return not faulty

    def has_wrong_fields(self) -> bool:
        return bool(self.debate.errors.keys() - {NON_FIELD_ERRORS} or self.agent_a.errors or self.agent_b.errors)

    def check(self) -> bool:
        """Name every fault, of kind and of meaning, without making the debate. Whether there is none."""
        self.is_valid()
        try:
            checking.checked(self.proposal(), self._owner)
        except InvalidDebate as error:
            self.add_faults(error.fields)
        return self.is_valid()

    def proposal(self) -> DebateProposal:
        given = self.debate.cleaned_data
        phrases = [] if given.get("no_stop_phrases") else given.get("stop_phrases", "").splitlines()
        return DebateProposal(
            topic=given.get("topic", ""),
            agent_a=self.agent_a.proposal(),
            agent_b=self.agent_b.proposal(),
            max_rounds=given.get("max_rounds") or 0,
            language=given.get("language", ""),
            stop_phrases=phrases,
            tools=given.get("tools"),
            tools_mode=given.get("tools_mode", ""),
            **self.debate.limits(),
        )

    def offers(self) -> forms_tools.Offers:
        return forms_tools.offers(self.debate["tools"].value() or [])

    def warnings(self) -> list[str]:
        proposal = self.proposal()
        a, b = proposal.agent_a, proposal.agent_b
        if not (a.system_prompt and b.system_prompt):
            return []
        named = replace(
            proposal, agent_a=replace(a, name=a.name or "Agent A"), agent_b=replace(b, name=b.name or "Agent B")
        )
        return proposals.warnings(named)

    def add_faults(self, faults: Mapping[str, list[str]]) -> None:
        """Put each fault beside its field: "agent_a.options.temperature" beside agent A's temperature."""
        for dotted, sentences in faults.items():
            *path, field = dotted.split(".")
            form = getattr(self, path[0]) if path else self.debate
            for sentence in sentences:
                if field not in form.fields:
                    form.add_error(None, sentence)
                elif not form.has_error(field):
                    form.add_error(field, sentence)

    def errors_of(self, html_name: str) -> list[str]:
        seat, _, name = html_name.rpartition("-")
        form = getattr(self, seat) if seat in SEATS else self.debate
        return list(form.errors.get(name, []))


def filled(typed: QueryDict, personas: Sequence[Persona]) -> QueryDict:
    """What was typed, with what was asked for in its place: a persona, a pair with their topic, a suggested topic."""
    by_slug = {persona.slug: persona for persona in personas}
    result = typed.copy()
    pair = typed.get("pair", "").split(":")
    if len(pair) == 2 and all(slug in by_slug for slug in pair):
        for seat, slug in zip(SEATS, pair, strict=True):
            _sit_down(result, seat, by_slug[slug])
        result["topic"], result["language"] = by_slug[pair[0]].topic, by_slug[pair[0]].language
    if taken := typed.get("take", "").strip():
        result["topic"] = taken
    seat = typed.get("use", "")
    if seat in SEATS and (persona := by_slug.get(typed.get(f"{seat}-persona", ""))):
        _sit_down(result, seat, persona)
        result["topic"] = typed.get("topic", "").strip() or persona.topic
    return result


def _sit_down(values: QueryDict, seat: str, persona: Persona) -> None:
    values[f"{seat}-persona"] = persona.slug
    values[f"{seat}-name"] = persona.name
    values[f"{seat}-system_prompt"] = compose_prompt(persona)


def _debate_initial(typed: QueryDict | None) -> dict[str, Any]:
    if typed:
        return {**typed.dict(), "tools": typed.getlist("tools")}
    return {
        "max_rounds": settings.MAX_ROUNDS_DEFAULT,
        "language": "en",
        "stop_phrases": "\n".join(DEFAULT_STOP_PHRASES),
        "tools": tools.default_names(),
        "key": uuid.uuid4().hex,
    }


def _seat_initial(seat: str, typed: QueryDict | None) -> dict[str, Any]:
    if typed is None:
        return {"provider": settings.AI_PROFILE, "model": registry.profile(settings.AI_PROFILE).default_model}
    prefix = f"{seat}-"
    return {name.removeprefix(prefix): value for name, value in typed.items() if name.startswith(prefix)}
