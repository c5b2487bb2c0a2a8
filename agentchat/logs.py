"""Where log lines go: everything to the console, and the tools' audit line, on a laptop, to a file of its own."""

from pathlib import Path
from typing import Any

# One line a request, or a beat of the reaper, would bury what matters.
QUIET = ("httpx", "httpx2", "openai", "celery.worker.strategy", "celery.app.trace", "celery.beat")


def config(level: str, audit_file: Path | None) -> dict[str, Any]:
    """A `LOGGING` setting. What was called is written down whatever else is not, to `audit_file` where there is one."""
    handlers: dict[str, Any] = {"console": {"class": "logging.StreamHandler", "formatter": "plain"}}
    loggers: dict[str, Any] = {name: {"level": "WARNING"} for name in QUIET} | {"tools_app.audit": {"level": "INFO"}}
    if audit_file:
        # Several processes append to it, so none of them may rotate it; one that was moved away is begun anew.
        handlers["audit"] = {
            "class": "logging.handlers.WatchedFileHandler",
            "filename": audit_file,
            "delay": True,
            "formatter": "bare",
        }
        loggers["tools_app.audit"] |= {"handlers": ["audit"], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
            "bare": {"format": "%(asctime)s %(message)s"},
        },
        "handlers": handlers,
        "root": {"handlers": ["console"], "level": level},
        "loggers": loggers,
    }
