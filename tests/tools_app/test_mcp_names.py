import re

import pytest

from tools_app.mcp.definitions import public_name

ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")


@pytest.mark.parametrize(
    ("wire_name", "name"), [("convert_time", "time__convert_time"), ("a.b/c д", "time__a_b_c__"), ("A-1", "time__A-1")]
)
def test_a_name_begins_with_the_key_and_has_characters_that_every_provider_takes(wire_name: str, name: str) -> None:
    assert public_name("time", wire_name) == name


def test_two_servers_may_offer_the_same_name() -> None:
    assert public_name("one", "look") != public_name("other", "look")


def test_the_longest_name_that_fits_stays_whole() -> None:
    assert public_name("k", "x" * 61) == "k__" + "x" * 61


def test_long_names_that_differ_at_their_end_stay_apart() -> None:
    names = {public_name("time", "x" * 69 + last) for last in "abc"}
    assert len(names) == 3
    assert all(ALLOWED.fullmatch(name) and len(name) == 64 and name.startswith("time__xxx") for name in names)
