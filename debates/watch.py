"""The clock of a turn, and waiting by it. Tests bring clocks and dice of their own."""

import random
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

from debates.events import Event, Waiting
from providers.base import TICK_S

Clock = Callable[[], float]
Sleep = Callable[[float], None]
# From 0 up to 1.
Dice = Callable[[], float]


@dataclass(frozen=True)
class Timekeeper:
    """What a run knows of time and chance."""

    clock: Clock = time.monotonic
    sleep: Sleep = time.sleep
    dice: Dice = random.random

    def wait(self, seconds: float) -> Generator[Event, None, None]:
        """The pause between two rounds."""
        started = self.clock()
        while (left := seconds - (self.clock() - started)) > 0:
            self.sleep(min(left, TICK_S))
            yield Waiting(self.clock() - started)


@dataclass(frozen=True)
class Watch:
    """Looks at the clock for a turn. Seconds since its start."""

    keeper: Timekeeper
    started: float

    def passed_s(self) -> float:
        return self.keeper.clock() - self.started

    def wait(self, seconds: float) -> Generator[Event, None, None]:
        """Before the model is asked again, counting down."""
        until = self.passed_s() + seconds
        while (left := until - self.passed_s()) > 0:
            yield Waiting(self.passed_s(), retry_in_s=left)
            self.keeper.sleep(min(left, TICK_S))
