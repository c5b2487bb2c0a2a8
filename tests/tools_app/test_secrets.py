from tools_app.secrets import redact


def test_a_secret_is_redacted_also_as_it_looks_in_an_address() -> None:
    assert redact("a k/1 b k%2F1", ["k/1", ""]) == "a [redacted] b [redacted]"
