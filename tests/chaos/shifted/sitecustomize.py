"""On a process's PYTHONPATH: its clock is `CLOCK_SHIFT_S` off. Time that merely passes stays as it is."""

import datetime
import os
import time
from datetime import datetime as _real
from typing import Any

SHIFT_S = float(os.environ["CLOCK_SHIFT_S"])
_SHIFT = datetime.timedelta(seconds=SHIFT_S)
_real_time, _real_time_ns = time.time, time.time_ns


class _Meta(type):
    """A moment that was made before, or by C code, is a moment too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _real)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _real)


class _Shifted(_real, metaclass=_Meta):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return _real.now(tz) + _SHIFT

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(datetime.UTC).replace(tzinfo=None)


_Shifted.__name__ = _Shifted.__qualname__ = "datetime"
_Shifted.__module__ = "datetime"
datetime.datetime = _Shifted  # type: ignore[misc]
time.time = lambda: _real_time() + SHIFT_S
time.time_ns = lambda: _real_time_ns() + int(SHIFT_S * 1e9)
