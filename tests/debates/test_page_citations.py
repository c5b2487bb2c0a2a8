import re
from typing import Any

import nh3
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from debates.citing.check import check
from debates.citing.passages import Passage
from debates.citing.verdicts import Verdict
from debates.footnotes import Placed, footnotes, marks_of, verdict_at
from debates.rendering import LIMIT, to_html
from tests.debates.book_rows import mark
from tests.debates.page_rows import add_message, make_debate
from tests.debates.test_page_text import ATTACKS
from tests.debates.test_sentences import WRITTEN

FOUND = (Placed("S1", Verdict.QUOTATION_FOUND),)
LINK = '<a class="cite" href="#s-1"'


def _shown(client: Client, owner: User, content: str, *citations: dict[str, str]) -> str:
    debate = make_debate(owner)
    add_message(debate, 1, content=content, citations=list(citations))
    client.force_login(owner)
    html = client.get(reverse("debates:detail", args=[debate.pk])).content.decode()
    found = re.search(r'<li id="m-1".*?</article>', html, re.S)
    assert found
    return " ".join(found[0].split())


@pytest.mark.parametrize("text", ["So [S1].", "So [s1].", "So [ S01 ].", "So [^S1].", "So [С1].", "- [see S1]"])
def test_a_code_becomes_a_link_to_its_source_on_the_page(text: str) -> None:
    assert to_html(text, marks=FOUND).count(LINK) == 1


CHECKED = [(written, numbers) for written, numbers in WRITTEN if numbers and not written.startswith("~~~")]


@pytest.mark.parametrize(("content", "numbers"), CHECKED)
@pytest.mark.parametrize("limit", [0, LIMIT])
def test_what_is_checked_is_linked(content: str, numbers: set[int], limit: int) -> None:
    marks = tuple(Placed(f"S{number}", Verdict.EXISTS) for number in numbers)
    linked = {int(number) for number in re.findall(r'href="#s-(\d+)"', to_html(content, limit, marks))}
    assert linked and linked | {2} == numbers | {2}  # of [S1-S3] the one between is not written


@pytest.mark.parametrize("content", [content for content, numbers in WRITTEN if not numbers])
def test_what_is_not_checked_is_not_linked(content: str) -> None:
    marks = tuple(Placed(f"S{number}", Verdict.EXISTS) for number in range(9))
    assert "href" not in to_html(content, marks=marks)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("So (see S1).", "So (see [S1])."),
        ("So 【S1†L3】.", "So [S1]†L3."),
        ("So `[S1]`.", "So [S1]."),
        ("Source S1 says so.", "Source [S1] says so."),
        ("So [Source 1: Zoos].", "So Source [S1]: Zoos."),
        ("So [S1–3].", "So [S1]–3."),
        ("So [S1](https://ok.example).", "So [S1]."),
        ("*So* **[S1]** and ***(S1)***", "So [S1] and ([S1])"),
        ("| a |\n|---|\n| (S1) |", "a ([S1])"),
        ("# Head (S1)\n> quoted\n> Source S1", "Head ([S1]) quoted Source [S1]"),
    ],
)
def test_the_words_around_a_code_stay(text: str, words: str) -> None:
    html = to_html(text, marks=(Placed("S1", Verdict.EXISTS),))
    assert " ".join(re.sub(r"<[^>]+>", "", html).split()) == words


def test_each_code_of_a_group_is_a_link_of_its_own() -> None:
    html = to_html("So [S1, S2].", marks=(Placed("S1", Verdict.EXISTS), Placed("S2", Verdict.EXISTS)))
    assert re.sub(r"<[^>]+>", "", html).strip() == "So [S1], [S2]."
    assert re.findall(r'href="(#s-\d)"', html) == ["#s-1", "#s-2"]


def test_a_code_carries_the_sign_and_the_words_of_its_verdict() -> None:
    html = to_html("So [S1].", marks=FOUND)
    assert "✓" in html and 'title="quotation found in the source"' in html
    assert "(quotation found in the source)" in html


def test_a_source_that_merely_exists_has_no_sign() -> None:
    assert "<sup" not in to_html("So [S1].", marks=(Placed("S1", Verdict.EXISTS),))


def test_what_is_no_source_is_marked_and_leads_nowhere() -> None:
    html = to_html("So [S9].", marks=(Placed("S9", Verdict.NO_SUCH_SOURCE),))
    assert "✕" in html and "<a" not in html


@pytest.mark.parametrize(
    "text", ["So [S2].", "`x [S1]`", "```\n[S1]\n```", "~~~\n(S1)\n~~~", "    [S1]", "``[S1]``", "[ES1]", "[S12]", "S1"]
)
def test_what_is_no_checked_citation_stays_as_it_was_written(text: str) -> None:
    assert LINK not in to_html(text, marks=FOUND)


def test_a_model_cannot_send_a_code_elsewhere() -> None:
    html = to_html(
        "[S1](https://evil.example) [S1][x]\n\n[S1]: https://evil.example\n\n[x]: https://evil.example", marks=FOUND
    )
    assert re.findall(r'href="([^"]+)"', html) == ["#s-1"] * 3


@pytest.mark.parametrize(
    "text",
    [
        "[as [S1] says](https://ok.example)",
        "[[S1]](https://ok.example)",
        "[as 【S1】 says](https://ok.example)",
        "[**(S1)**](https://ok.example)",
        "[Source S1 says](https://ok.example)",
    ],
)
def test_a_code_is_never_inside_another_link(text: str) -> None:
    assert re.findall(r'href="([^"]+)"', to_html(text, marks=FOUND)) == ["#s-1"]


@pytest.mark.parametrize(
    "text",
    [
        "&#xE000;S99&#xE001;",
        "&#57344;S1&#57345;",
        '[x](https://ok.example "&#xE000;S1&#xE001;")',
        "[x](https://ok.example/&#xE000;S1&#xE001;)",
        "![&#xE000;S1&#xE001;](https://ok.example)",
        "[&#xE000;S1&#xE001;](https://ok.example)",
        "`&#xE000;S1&#xE001;`",
        "```&#xE000;S1&#xE001;\nx\n```",
        "\ue000S99\ue001",
        "&#91;S1&#93;",
        "&#x5b;S1]",
        "&lbrack;S1&rbrack;",
        '[x](https://ok.example "[S1]")',
        "[x](https://ok.example/[S1])",
        "<https://ok.example/[S1]>",
        "\\[S1]",
    ],
)
def test_no_other_writing_of_a_code_or_its_placeholder_is_a_link(text: str) -> None:
    assert LINK not in to_html(text, marks=FOUND)
    assert "cite" not in to_html(text, marks=FOUND)


def test_what_stands_for_a_code_on_its_way_is_another_one_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    clean = nh3.clean

    def spied(html: str, **options: Any) -> str:
        seen.append(html)
        return str(clean(html, **options))

    monkeypatch.setattr(nh3, "clean", spied)
    to_html.cache_clear()
    first = to_html("[S1]", marks=FOUND)
    guessed = re.sub("</?p>", "", seen[0]).strip()
    assert LINK in first and LINK not in seen[0]
    assert LINK not in to_html(guessed, marks=FOUND)


@pytest.mark.parametrize("attack", ATTACKS)
def test_beside_a_citation_text_brings_no_live_markup(attack: str) -> None:
    ours = to_html("[S1]", marks=FOUND).strip().removeprefix("<p>").removesuffix("</p>")
    html = to_html(f"[S1] {attack}\n\n{attack}", marks=FOUND)
    assert ours in html
    assert html.replace(ours, "[S1]") == to_html(f"[S1] {attack}\n\n{attack}")


def test_a_long_text_keeps_its_citations() -> None:
    html = to_html("[S1] <b> " * 1000, marks=FOUND)
    assert html.count(LINK) == 1000 and "<b>" not in html


def test_of_marks_without_a_place_the_worst_of_the_code_is_shown() -> None:
    checked = [mark("S1", verdict) for verdict in ("exists", "quotation_found", "number_not_found", "number_found")]
    assert marks_of([*checked, mark("", "unsourced", "A claim.")]) == (("S1", "number_not_found", None),)


QUOTED = '"the least bad tax that we know of"'
INVENTED = '"the worst and cruellest tax ever made"'


@pytest.mark.parametrize(
    "content",
    [
        f"So {QUOTED} [S1]. But {INVENTED} [S1]. So it is [S1].",
        f"- So {QUOTED} (S1)\n- But {INVENTED} [S1]\n\nSo it is [S1].",
        f"> So {QUOTED} [S1].\n> But {INVENTED} [S1].\n\n| So |\n|---|\n| it is [S1] |",
        f"    [S1]\n\n`x [S1]` {QUOTED} [S1]. But {INVENTED} [S1]. So it is **[S1]**.",
    ],
)
@pytest.mark.parametrize("limit", [0, LIMIT])
def test_each_citation_shows_what_came_of_its_own_sentence(content: str, limit: int) -> None:
    checked = check(content, {1: Passage(1, "Tax", "It is the least bad tax that we know of.")})
    html = to_html(content, limit, marks_of([mark.as_dict() for mark in checked]))
    titles = re.findall(r'<a class="cite" href="#s-1" title="([^"]*)"', html)
    assert titles[-3:] == ["quotation found in the source", "quotation not found in the source", ""]


def test_what_no_place_can_be_told_for_shows_the_worst() -> None:
    marks = (Placed("S1", Verdict.NUMBER_FOUND, 0), Placed("S1", Verdict.NUMBER_NOT_FOUND, 1))
    assert [verdict_at(place, "S1", marks) for place in (0, 1, 2, None)] == [
        *(Verdict.NUMBER_FOUND, Verdict.NUMBER_NOT_FOUND, Verdict.EXISTS),
        Verdict.NUMBER_NOT_FOUND,
    ]


def test_what_is_said_twice_of_a_source_is_listed_once() -> None:
    twice = [mark("S1", "number_found", "7") | {"place": place} for place in (0, 1)]
    assert [finding.text for finding in footnotes(twice)[0].findings] == ["7"]


def test_the_list_has_one_entry_a_source_and_claims_without_one_last() -> None:
    checked = [
        mark("", "unsourced", "9 of 10"),
        mark("S2", "exists"),
        mark("S1", "exists"),
        mark("S2", "number_found", "7"),
    ]
    assert [(note.code, [found.text for found in note.findings]) for note in footnotes(checked)] == [
        ("S2", ["7"]),
        ("S1", []),
        ("", ["9 of 10"]),
    ]


def test_a_message_lists_its_sources_below(client: Client, alice: User) -> None:
    zoo = ("Zoo & park", "https://en.wikipedia.org/wiki/Zoo")
    html = _shown(
        client,
        alice,
        "“Open to all” [S1], says [S9].",
        mark("S1", "quotation_found", "Open to <all>", *zoo),
        mark("S9", "no_such_source"),
        mark("", "unsourced", "9 of 10 agree"),
    )
    below = html[html.index('class="footnotes"') :]
    link = (
        '<a href="https://en.wikipedia.org/wiki/Zoo" rel="noopener noreferrer nofollow" dir="auto">Zoo &amp; park</a>'
    )
    assert link in below and '<a class="cite" href="#s-1">[S1]</a>' in below
    assert '✓ quotation found in the source</b> <q dir="auto">Open to &lt;all&gt;</q>' in below
    assert '[S9]</span> <span class="finding"><b class="missing">✕ no such source' in below
    assert "9 of 10 agree" in below


@pytest.mark.parametrize("url", ["", "javascript:alert(1)", "data:text/html,x", "//evil.example", "HTTP://x"])
def test_only_web_addresses_are_linked(client: Client, alice: User, url: str) -> None:
    html = _shown(client, alice, "So [S1].", mark("S1", "exists", "", "A title", url))
    assert '<span dir="auto">A title</span>' in html
    assert re.findall(r'<a [^>]*href="([^"#]+)"', html) == []


def test_a_message_without_citations_has_no_list(client: Client, alice: User) -> None:
    assert "footnotes" not in _shown(client, alice, "So.")
