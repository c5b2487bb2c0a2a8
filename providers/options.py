"""What a person may set for a model."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """The type and bounds of one model option that a person may set for a seat.

    `pattern` is what a text must match, which `form` tells the person; `only_ollama`: no other server knows it."""

    kind: type
    least: float | None = None
    most: float | None = None
    meaning: str = ""
    pattern: str = ""
    form: str = ""
    only_ollama: bool = False


OPTIONS: Mapping[str, Option] = {
    "temperature": Option(float, 0, 2, "how freely the next word is drawn"),
    "top_p": Option(float, 0, 1, "share of the likeliest words that are drawn from"),
    "max_tokens": Option(int, 1, 32_000, "longest reply, in tokens"),
    "seed": Option(int, 0, 2**31 - 1, "same seed, same draw, where the server supports it"),
    "num_ctx": Option(
        int, 512, 1_000_000, "context window to reserve, in tokens; sized to the request when unset", only_ollama=True
    ),
    "think": Option(bool, meaning="whether a reasoning model may think before it speaks", only_ollama=True),
    "keep_alive": Option(
        str,
        meaning="how long the model stays in memory, such as 10m; -1 for good",
        pattern=r"-?([0-9]{1,6}|([0-9]{1,6}(\.[0-9]{1,3})?(ms|s|m|h))+)",
        form="a duration such as 10m or 1h30m, or a number of seconds",
        only_ollama=True,
    ),
}
