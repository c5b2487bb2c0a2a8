"""The page "New debate" and the search in the list. What is allowed is decided in `proposals`; here it is only read."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.http import QueryDict
from django.urls import reverse_lazy

from debates import proposals
from debates.endings import DEFAULT_STOP_PHRASES
from debates.errors import InvalidDebate
from debates.models import Conversation, Persona
from debates.personas import compose_prompt
from debates.proposals import DebateProposal, SeatProposal
from providers import registry
from providers.base import OPTIONS

LANGUAGES = (
    ("en", "English"),
    ("uk", "Українська"),
    ("ru", "Русский"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("it", "Italiano"),
    ("pt", "Português"),
    ("pl", "Polski"),
    ("tr", "Türkçe"),
    ("ar", "العربية"),
    ("he", "עברית"),
    ("hi", "हिन्दी"),
    ("zh", "中文"),
    ("ja", "日本語"),
)
SEATS = ("agent_a", "agent_b")
OFFERED_OPTIONS = ("temperature", "max_tokens", "seed")
_CHECKED_WHILE_TYPING = {
    "hx-post": reverse_lazy("debates:validate"),
    "hx-trigger": "change, input changed delay:600ms",
    "hx-sync": "this:replace",
}


class DebateSearch(forms.Form):
    q = forms.CharField(required=False, label="Search by topic", widget=forms.TextInput({"type": "search"}))
    status = forms.ChoiceField(required=False, choices=[("", "Any status"), *Conversation.Status.choices])


class _CheckedForm(forms.Form):
    use_required_attribute = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not field.widget.is_hidden:
                field.widget.attrs = _CHECKED_WHILE_TYPING | field.widget.attrs


class DebateForm(_CheckedForm):
    topic = forms.CharField(required=False, widget=forms.Textarea({"rows": 2, "dir": "auto"}))
    max_rounds = forms.IntegerField(
        required=False, label="Rounds", min_value=0, help_text="In a round A speaks, then B."
    )
    language = forms.ChoiceField(choices=LANGUAGES)
    stop_phrases = forms.CharField(
        required=False,
        label="Farewell phrases",
        widget=forms.Textarea({"rows": 5, "dir": "auto"}),
        help_text="One a line. Saying farewell with one of them ends the debate; merely mentioning it does not.",
    )
    no_stop_phrases = forms.BooleanField(required=False, label="No phrase ends this debate")
    key = forms.CharField(required=False, widget=forms.HiddenInput)


class SeatForm(_CheckedForm):
    persona = forms.ChoiceField(
        required=False, widget=forms.Select({"hx-post": reverse_lazy("debates:persona"), "hx-trigger": "change"})
    )
    name = forms.CharField(required=False, widget=forms.TextInput({"dir": "auto", "autocomplete": "off"}))
    system_prompt = forms.CharField(
        required=False,
        label="Who this agent is and what it holds",
        widget=forms.Textarea({"rows": 9, "dir": "auto"}),
        help_text="The topic is added by itself; it need not be written here.",
    )
    provider = forms.ChoiceField(required=False, label="Model server")
    model = forms.CharField(required=False, widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}))
    temperature = forms.FloatField(required=False)
    max_tokens = forms.IntegerField(required=False)
    seed = forms.IntegerField(required=False)

    def __init__(self, *args: Any, personas: Sequence[Persona], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._set_choices("persona", _persona_choices(personas))
        self._set_choices("provider", [(profile.name, profile.label) for profile in registry.profiles().values()])
        for name in OFFERED_OPTIONS:
            self.fields[name].help_text = OPTIONS[name].meaning.capitalize() + "."

    def _set_choices(self, name: str, choices: list[Any]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = choices

    def proposal(self) -> SeatProposal:
        given = self.cleaned_data
        return SeatProposal(
            **{name: given.get(name, "") for name in ("name", "system_prompt", "persona", "provider", "model")},
            options={name: given[name] for name in OFFERED_OPTIONS if given.get(name) is not None},
        )


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
        self.debate = DebateForm(data, initial=typed.dict() if typed else _defaults())
        self.agent_a, self.agent_b = (
            SeatForm(data, prefix=seat, personas=personas, initial=_seat_initial(seat, typed)) for seat in SEATS
        )

    def is_valid(self) -> bool:
        """Checks everything, so that one attempt names every fault."""
        faulty = [form for form in (self.debate, self.agent_a, self.agent_b) if not form.is_valid()]
        try:
            proposals.checked(self.proposal(), self._owner)
        except InvalidDebate as error:
            self.add_faults(error.fields)
            return False
        return not faulty

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
        )

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
        for dotted, sentences in faults.items():
            seat, _, name = dotted.rpartition(".")
            form = getattr(self, seat or "debate")
            for sentence in sentences:
                field, told = _option_and_fault(sentence) if name == "options" else (name, sentence)
                if field not in form.fields:
                    form.add_error(None, sentence)
                elif not form.has_error(field):
                    form.add_error(field, told)

    def errors_of(self, html_name: str) -> list[str]:
        seat, _, name = html_name.rpartition("-")
        form = getattr(self, seat) if seat in SEATS else self.debate
        return list(form.errors.get(name, []))


def _option_and_fault(sentence: str) -> tuple[str, str]:
    option, _, told = sentence.partition(": ")
    return option, told[:1].upper() + told[1:]


def filled(typed: QueryDict, personas: Sequence[Persona]) -> QueryDict:
    """What was typed, with the persona that was asked for put into its seat, or a pair into both."""
    by_slug = {persona.slug: persona for persona in personas}
    result = typed.copy()
    pair = typed.get("pair", "").split(":")
    if len(pair) == 2 and all(slug in by_slug for slug in pair):
        for seat, slug in zip(SEATS, pair, strict=True):
            _sit_down(result, seat, by_slug[slug])
        result["topic"], result["language"] = by_slug[pair[0]].topic, by_slug[pair[0]].language
    seat = typed.get("use", "")
    if seat in SEATS and (persona := by_slug.get(typed.get(f"{seat}-persona", ""))):
        _sit_down(result, seat, persona)
        result["topic"] = typed.get("topic", "").strip() or persona.topic
    return result


def _sit_down(values: QueryDict, seat: str, persona: Persona) -> None:
    values[f"{seat}-persona"] = persona.slug
    values[f"{seat}-name"] = persona.name
    values[f"{seat}-system_prompt"] = compose_prompt(persona)


def _persona_choices(personas: Sequence[Persona]) -> list[Any]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for persona in personas:
        groups.setdefault(persona.topic or "Others", []).append((persona.slug, f"{persona.name}, {persona.role}"))
    return [("", "Nobody: I write the prompt myself"), *groups.items()]


def _defaults() -> dict[str, Any]:
    return {
        "max_rounds": settings.MAX_ROUNDS_DEFAULT,
        "language": "en",
        "stop_phrases": "\n".join(DEFAULT_STOP_PHRASES),
        "key": uuid.uuid4().hex,
    }


def _seat_initial(seat: str, typed: QueryDict | None) -> dict[str, Any]:
    if typed is None:
        return {"provider": settings.AI_PROFILE, "model": registry.profile(settings.AI_PROFILE).default_model}
    prefix = f"{seat}-"
    return {name.removeprefix(prefix): value for name, value in typed.items() if name.startswith(prefix)}
