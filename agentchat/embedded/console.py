"""What the supervisor prints: its own words, and the lines of its children behind their names."""

import os
import sys
import threading
from contextlib import suppress
from typing import TextIO

COLOURS = {"valkey": 35, "model": 33, "worker": 36, "web": 32}


class Console:
    def __init__(self, out: TextIO = sys.stdout, width: int = 6) -> None:
        self._out = out
        self._width = width
        self._coloured = out.isatty() and "NO_COLOR" not in os.environ
        self._lock = threading.Lock()

    def say(self, text: str = "") -> None:
        # A terminal that was closed must not keep the supervisor from ending its children.
        with self._lock, suppress(OSError, ValueError):
            self._out.write(text + "\n")
            self._out.flush()

    def line(self, name: str, text: str) -> None:
        label = f"{name:<{self._width}} |"
        if self._coloured:
            label = f"\x1b[{COLOURS.get(name, 37)}m{label}\x1b[0m"
        self.say(f"{label} {text}")
