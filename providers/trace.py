"""Which thread of events something belongs to: one id from a person's request through the task to each call it makes.

Here, at the bottom, because the book of requests wants it and everybody may import this package. A thread that does a
part of the work is begun inside `contextvars.copy_context()`, so that it belongs to the same.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_trace_id: ContextVar[str] = ContextVar("trace_id", default="")
_debate: ContextVar[str] = ContextVar("debate", default="")


def current() -> str:
    """Empty where nobody has begun one."""
    return _trace_id.get()


def current_or_new() -> str:
    return current() or uuid.uuid4().hex


def debate() -> str:
    """The id of the debate that is run here, if any."""
    return _debate.get()


@contextmanager
def under(trace_id: str = "", *, debate: str = "") -> Iterator[str]:
    """Everything in the block belongs to `trace_id`; without one, to a new one."""
    trace_id = trace_id or uuid.uuid4().hex
    before = _trace_id.set(trace_id), _debate.set(debate)
    try:
        yield trace_id
    finally:
        _trace_id.reset(before[0])
        _debate.reset(before[1])
