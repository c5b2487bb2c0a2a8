"""What is on this machine: Python, packages, disk, port, files."""

import platform
import resource
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from django.conf import settings
from packaging.requirements import Requirement

from agentchat.doctor.findings import Finding, ok, problem, warning
from agentchat.embedded import probes
from agentchat.embedded.lock import running_at
from agentchat.environment import BASE_DIR

LOCKS = BASE_DIR / "requirements"
MB = 1_000_000
LEAST_FREE, SCARCE = 200 * MB, 1000 * MB


def python_version() -> Finding:
    told = f"Python {platform.python_version()}"
    if (3, 11) <= sys.version_info[:2] <= (3, 13):
        return ok(told)
    return problem(f"{told} is not supported.", "Use 3.11, 3.12 or 3.13: remove .venv, then `make install PYTHON=...`.")


def packages() -> Finding:
    """As `requirements/` locks them; the embedded services have a lock of their own."""
    needed = ["base.txt", "embedded.txt"] if settings.LOCAL else ["base.txt"]
    locks = [LOCKS / name for name in needed]
    if missing := [lock.name for lock in locks if not lock.is_file()]:
        return warning(f"requirements/{missing[0]} is not there, so packages cannot be compared.", "Restore it.")
    locked = [requirement for lock in locks for requirement in _locked(lock)]
    faults = [fault for requirement in locked if (fault := _fault(requirement))]
    if not faults:
        return ok(f"All {len(locked)} are as locked.")
    others = f" and {len(faults) - 5} more" if len(faults) > 5 else ""
    remedy = "`make install`" if settings.LOCAL else "`pip install --no-deps --require-hashes -r requirements/base.txt`"
    return problem(f"Not as locked: {', '.join(faults[:5])}{others}.", f"Run {remedy}.")


def _locked(lock: Path) -> Iterator[Requirement]:
    """Those for this Python and this system."""
    for line in lock.read_text().splitlines():
        if "==" in line and not line.startswith((" ", "#")):
            requirement = Requirement(line.rstrip("\\ "))
            if requirement.marker is None or requirement.marker.evaluate():
                yield requirement


def _fault(requirement: Requirement) -> str:
    try:
        found = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is missing"
    return "" if requirement.specifier.contains(found, prereleases=True) else f"{requirement.name} is {found}"


def disk() -> Finding:
    free = shutil.disk_usage(settings.VAR_DIR).free
    told = f"{free / (1000 * MB):.1f} GB are free for {settings.VAR_DIR}."
    remedy = "Make room, or set VAR_DIR to a directory on another disk."
    if free < LEAST_FREE:
        return problem(told, remedy)
    return warning(told, remedy) if free < SCARCE else ok(told)


def open_files() -> Finding:
    """A waiting debate has a connection to its model, and moments with one to the database."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * settings.CELERY_WORKER_CONCURRENCY + 100
    if allowed == resource.RLIM_INFINITY or allowed >= needed:
        return ok(f"A process may open {'any number' if allowed == resource.RLIM_INFINITY else allowed}.")
    remedy = f"Run `ulimit -n {max(needed, 4096)}` before the start, or set WORKER_THREADS lower."
    return warning(f"A process may open {allowed}; a worker at full load needs up to {needed}.", remedy)


def running() -> Finding:
    """Of what `make run` starts; in production this program does not know its machines."""
    if not settings.LOCAL:
        return ok("A production installation, because REDIS_URL is set.")
    if address := running_at(settings.VAR_DIR / "up.lock"):
        return ok(f"Agent Chat runs at {address}.")
    return warning("Agent Chat is not running here, so its parts were not asked.", "Start it with `make run`.")


def port() -> Finding:
    if probes.port_is_free(settings.PORT):
        return ok(f"{settings.PORT} is free.")
    if probes.fetch(f"http://{probes.LOOPBACK}:{settings.PORT}/healthz") == b'{"ok": true}':
        return ok(f"Agent Chat answers at {settings.PORT}.")
    remedy = "Set PORT to another one; without PORT, `make run` takes a free one." if settings.LOCAL else "Set PORT."
    return warning(f"{settings.PORT} is taken by another program.", remedy)


def static_files() -> Finding:
    if settings.LOCAL:
        return ok("Served from where they are.")
    if (settings.STATIC_ROOT / "staticfiles.json").is_file():
        return ok(f"Collected in {settings.STATIC_ROOT}.")
    return problem("They were not collected, so every page fails.", "Run `python manage.py collectstatic --noinput`.")
