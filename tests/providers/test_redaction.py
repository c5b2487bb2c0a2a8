"""A key is hidden in whatever form a server quotes it."""

import base64
from urllib.parse import quote

import pytest

from providers.redaction import redacted

KEYS = [
    "s3cr:t!pa$$",
    "ab:cd:ef:gh:ij",
    "abc@def@ghi",
    "[a](b)|c^d\\e",
    "sk-test-9f8e7d6c5b4a",
    "ключ:от:всего",
    "key-key-key",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("text", ["Incorrect API key provided: {}.", "'{}'", "x={}&y=1", "Bearer{}Bearer", "{}{}"])
def test_the_whole_key_is_hidden_wherever_it_stands(key: str, text: str) -> None:
    for form in (key, quote(key, safe=""), base64.b64encode(key.encode()).decode()):
        shown = redacted(text.replace("{}", form), key)
        assert form not in shown
        assert shown == text.replace("{}", "[key]") or key in KEYS[4:]


@pytest.mark.parametrize("key", KEYS[:6])
def test_a_part_of_the_key_is_hidden(key: str) -> None:
    for part in (key[:-2], key[2:], key[1:8]):
        assert part not in redacted(f"The key {part} is not known.", key)
    assert key[:3] not in redacted(f"The key {key[:3]}***{key[-2:]} is not known.", key)


def test_other_words_stay() -> None:
    said = "The model does not take this: see http://host/v1?a=b, or ask."
    assert redacted(said, "s3cr:t!pa$$") == said


@pytest.mark.parametrize(
    ("key", "said", "shown"),
    [
        ("x", "The key x is not in the box.", "The key [key] is not in the box."),
        ("a:b", "The key a:b is not a:bc.", "The key [key] is not a:bc."),
        ("$$", "The key '$$'.", "The key '[key]'."),
        ("", "Nothing to hide.", "Nothing to hide."),
    ],
)
def test_a_short_key_does_not_blot_out_the_message(key: str, said: str, shown: str) -> None:
    assert redacted(said, key) == shown
