import pytest

from tools_app import ledgers, limits


class Pace:
    """A clock that stands still but for those who sleep by it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture(autouse=True)
def pace(monkeypatch: pytest.MonkeyPatch) -> Pace:
    """Each test has limits of its own, in this process, and never really waits for them."""
    pace, ledger = Pace(), ledgers.InProcess()
    monkeypatch.setattr(ledgers, "clock", pace.clock)
    monkeypatch.setattr(limits, "sleep", pace.sleep)
    monkeypatch.setattr(ledgers, "current", lambda: ledger)
    return pace
