import sys
import unicodedata

import pytest

from tools_app.cleaning import MOST_MARKS, clean_line, clean_text, visible, without_hidden

HIDDEN = [*"\x00\x1b\x7f\xad\u034f\u115f\u180e\u200b\u200d\u2028\u202e\u2066\u3164\ud800\ufeff\uffa0\ufff9\U000e0041"]
# Ordinary in a text, though nobody sees them.
UNSEEN = ["\u061c", "\u200e", "\u200f", "\u2800", "\ufe0f"]


@pytest.mark.parametrize("character", HIDDEN)
def test_what_cannot_be_seen_is_taken_out(character: str) -> None:
    assert without_hidden(f"a{character}b") == "ab"


@pytest.mark.parametrize("character", UNSEEN)
def test_what_text_is_made_with_stays(character: str) -> None:
    assert without_hidden(f"a{character}b") == f"a{character}b"


def test_some_can_be_kept() -> None:
    assert without_hidden("a\u200c\u200d\u200bb", keep="\u200c\u200d") == "a\u200c\u200db"


@pytest.mark.parametrize("character", HIDDEN + UNSEEN)
def test_a_person_who_decides_sees_every_character(character: str) -> None:
    assert visible(f"a{character}b") == f"a⟨U+{ord(character):04X}⟩b"


def test_what_can_be_seen_is_shown_as_it_is() -> None:
    text = "Їжак, 猫, नमस्ते\n\t«…»"
    assert visible(text) == without_hidden(text) == text


def test_no_format_or_control_character_of_unicode_goes_unseen_but_signs_that_are_drawn() -> None:
    characters = map(chr, range(sys.maxunicode + 1))
    unseen = {char for char in characters if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    shown_as_they_are = {char for char in unseen if visible(char) == char}
    # Signs of Arabic, Syriac and Kaithi, which are drawn.
    drawn = {*map(chr, range(0x600, 0x606)), *"\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"}
    assert shown_as_they_are == {"\n", "\t", *drawn}


def test_lines_end_in_one_way() -> None:
    assert clean_text(" a\r\nb\rc\u2028d\x0be ") == "a\nb\nc\nd\ne"
    assert clean_line(" a\r\n\tb ") == "a b"


def test_marks_stacked_on_a_letter_are_few_and_quick_to_order() -> None:
    stacked = "a" + "\u0316\u0301" * 50_000
    assert len(clean_text(stacked)) <= MOST_MARKS + 1
    assert clean_text("e\u0301") == "é"
