"""The fields of the pages. What is allowed is decided in `checking`; here it is only read."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from django import forms
from django.urls import reverse_lazy

from debates.forms_budget import BudgetForm
from debates.forms_tools import NamesField
from debates.models import Conversation, Persona, ToolsModeChoices
from debates.proposals import SeatProposal
from providers import registry
from providers.base import REPLY_TOKENS
from providers.options import OPTIONS, Option

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
_YES_NO_OR_UNSET = (("", "as the model likes"), ("true", "yes"), ("false", "no"))
_NUMBERS_AND_TEXTS: dict[type, type[forms.Field]] = {
    float: forms.FloatField,
    int: forms.IntegerField,
    str: forms.CharField,
}
# What is not left to the server.
_WHEN_EMPTY = {"max_tokens": f"{REPLY_TOKENS:,}", "keep_alive": "30m"}
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
        self.check_while_typing(self.fields.values())

    def check_while_typing(self, fields: Iterable[forms.Field]) -> None:
        for field in fields:
            if not field.widget.is_hidden:
                field.widget.attrs = _CHECKED_WHILE_TYPING | field.widget.attrs


class DebateForm(_CheckedForm, BudgetForm):
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
    tools = NamesField(required=False)
    tools_mode = forms.ChoiceField(
        required=False,
        label="How agents get sources",
        choices=ToolsModeChoices.choices,
        help_text="Automatic: the model calls tools itself if it can, else the program looks things up before each "
        "turn.",
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

    def __init__(self, *args: Any, personas: Sequence[Persona], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        options = {name: _option_field(name, option) for name, option in OPTIONS.items()}
        self.check_while_typing(options.values())
        self.fields |= options
        self._set_choices("persona", _persona_choices(personas))
        self._set_choices("provider", [(profile.name, profile.label) for profile in registry.profiles().values()])

    def _set_choices(self, name: str, choices: list[Any]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = choices

    def options(self) -> list[forms.BoundField]:
        return [self[name] for name in OPTIONS]

    def has_wrong_option(self) -> bool:
        return any(name in self.errors for name in OPTIONS)

    def proposal(self) -> SeatProposal:
        given = self.cleaned_data
        return SeatProposal(
            **{name: given.get(name, "") for name in ("name", "system_prompt", "persona", "provider", "model")},
            options={name: given[name] for name in OPTIONS if given.get(name) not in (None, "")},
        )


def _option_field(name: str, option: Option) -> forms.Field:
    help_text = f"{option.meaning[:1].upper()}{option.meaning[1:]}."
    if name in _WHEN_EMPTY:
        help_text += f" When empty: {_WHEN_EMPTY[name]}."
    if option.only_ollama:
        help_text += " Only Ollama knows this."
    if option.kind is bool:
        return forms.TypedChoiceField(
            required=False, choices=_YES_NO_OR_UNSET, coerce="true".__eq__, empty_value=None, help_text=help_text
        )
    return _NUMBERS_AND_TEXTS[option.kind](required=False, help_text=help_text)


def _persona_choices(personas: Sequence[Persona]) -> list[Any]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for persona in personas:
        groups.setdefault(persona.topic or "Others", []).append((persona.slug, f"{persona.name}, {persona.role}"))
    return [("", "Nobody: I write the prompt myself"), *groups.items()]
