"""What the tests of the tools say often."""

from tools_app.base import Call


def a_call(language: str = "en", left_s: float = 10) -> Call:
    """A call that always has `left_s` left, whatever the clock says."""
    return Call(language=language, left_s=lambda: left_s)
