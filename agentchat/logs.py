"""Where log lines go and how they look: for people, or one JSON object a line. Secrets of the environment are in none.

Everything goes to the console, the tools' audit line, on a laptop, to a file of its own.
"""

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from providers import trace
from tools_app.secrets import is_credential, redact

# One line a request, or a beat of the reaper, would bury what matters.
QUIET = ("httpx", "httpx2", "openai", "celery.worker.strategy", "celery.app.trace", "celery.beat")
# One line a request, of a person or to a model, and one a run: for those who keep logs, not for a screen.
BOOKS = ("agentchat.requests", "debates.tasks", "providers.entries")
# These bring handlers of their own, which would write in another form. Requests are logged by our own middleware.
SERVERS = {"uvicorn": "INFO", "uvicorn.error": "INFO", "uvicorn.access": "WARNING"}


class PlainLines(logging.Formatter):
    def __init__(self, *arguments: Any, secrets: Sequence[str] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return self._without_secrets(super().format(record), record)

    def _without_secrets(self, text: str, record: logging.LogRecord) -> str:
        """Django quotes the address of a request, which can be a sign-in link."""
        match = getattr(getattr(record, "request", None), "resolver_match", None)
        captured = match.kwargs.items() if match else ()
        return redact(text, [*self._secrets, *(str(value) for name, value in captured if is_credential(name))])


class JsonLines(PlainLines):
    """Of what callers attach to a record only `facts` are written: Django attaches whole requests, Celery arguments."""

    def __init__(self, *, secrets: Sequence[str] = ()) -> None:
        super().__init__(secrets=[form for secret in secrets for form in {secret, json.dumps(secret)[1:-1]}])

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "trace_id": trace.current(),
            "debate": trace.debate(),
            "exception": self.formatException(record.exc_info) if record.exc_info else "",
            **getattr(record, "facts", {}),
        }
        told = {name: value for name, value in said.items() if value not in ("", None)}
        return self._without_secrets(json.dumps(told, default=str), record)


def config(level: str, form: str, audit_file: Path | None, secrets: Sequence[str]) -> dict[str, Any]:
    """A `LOGGING` setting. What was called is written down whatever else is not, to `audit_file` where there is one."""
    logging.captureWarnings(form == "json")  # else they are printed in lines of their own kind
    handlers: dict[str, Any] = {"console": {"class": "logging.StreamHandler", "formatter": form}}
    loggers: dict[str, Any] = {name: {"level": "WARNING"} for name in QUIET} | {"tools_app.audit": {"level": "INFO"}}
    loggers |= {name: {"handlers": [], "propagate": True, "level": least} for name, least in SERVERS.items()}
    if audit_file:
        loggers |= {name: {"level": "WARNING"} for name in BOOKS}
        # Several processes append to it, so none of them may rotate it; one that was moved away is begun anew.
        handlers["audit"] = {
            "class": "logging.handlers.WatchedFileHandler",
            "filename": audit_file,
            "delay": True,
            "formatter": "bare",
        }
        loggers["tools_app.audit"] |= {"handlers": ["audit"], "propagate": False}
    plain = {"()": PlainLines, "secrets": secrets}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": plain | {"fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
            "bare": plain | {"fmt": "%(asctime)s %(message)s"},
            "json": {"()": JsonLines, "secrets": secrets},
        },
        "handlers": handlers,
        "root": {"handlers": ["console"], "level": level},
        "loggers": loggers,
    }
