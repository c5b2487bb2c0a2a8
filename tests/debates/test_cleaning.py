import pytest

from debates.cleaning import clean_line, clean_text, is_blank
from debates.rendering import to_html


@pytest.mark.parametrize("text", ["می\u200cخواهم", "👩\u200d🔬", "a\u200fb", "line\n\tline", "❤\ufe0f"])
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\u202e", "\u2066", "\u200b", "\u3164", "\U000e0041", "\ud800"])
def test_what_cannot_be_seen_is_taken_out(character: str) -> None:
    assert clean_text(f" a{character}b ") == "ab"
    assert clean_line(f"a \r\n{character} b") == "a b"


@pytest.mark.parametrize("text", ["", " \n", "\u200d", "\u115f", "\u3164", "\u2800", "\u0301", "\u202e\u00a0"])
def test_a_text_can_be_blank_without_being_empty(text: str) -> None:
    assert is_blank(text)


def test_a_text_with_one_letter_is_not_blank() -> None:
    assert not is_blank("\u3164 a")


@pytest.mark.parametrize("entity", ["&#x202E;", "&#8238;", "&#x3164;", "&ZeroWidthSpace;"])
def test_markdown_brings_back_nothing_that_cannot_be_seen(entity: str) -> None:
    assert to_html(f"a{entity}b") == "<p>ab</p>\n"
