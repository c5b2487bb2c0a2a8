"""What the environment and `.env` say, and what they were probably meant to say."""

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches

from django.conf import settings
from django.core import checks

from agentchat import environment as env
from agentchat.doctor.findings import Finding, ok, problem, warning
from tools_app.secrets import variables_in

ENV_FILE = env.BASE_DIR / ".env"
# Read by others than the settings.
ALSO_OURS = {"POSTGRES_PASSWORD", "PGPASSWORD", "WORKERS"}
# Told by a check of their own: the names, and four times that HTTPS_ONLY is off.
_TOLD_ELSEWHERE = {
    *("agentchat.E.SECRET_KEY", "agentchat.E.ALLOWED_HOSTS"),
    *("security.W004", "security.W008", "security.W012", "security.W016"),
}
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=")
_NEAR_IN_FILE, _NEAR_ELSEWHERE = 0.72, 0.85


def env_file() -> Iterator[Finding]:
    if not ENV_FILE.is_file():
        yield ok("There is none: the environment and the defaults hold.")
        return
    lines = ENV_FILE.read_text(errors="replace").splitlines()
    strange = [number for number, line in enumerate(lines, 1) if _is_strange(line)]
    if strange:
        yield problem(f"Line {strange[0]} of .env is not NAME=value.", "Write it so, or begin it with #.")
    else:
        yield ok(f"{sum(bool(_LINE.match(line)) for line in lines)} variables are set in it.")


def _is_strange(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#") and not _LINE.match(line)


def misspelt() -> Iterator[Finding]:
    """In `.env` a likeness is enough; elsewhere, where others put their variables too, it must be a close one."""
    named = _named_in_file()
    found = {name: near for name in sorted(named) if (near := _meant(name, _NEAR_IN_FILE))}
    found |= {name: near for name in sorted(set(os.environ) - named) if (near := _meant(name, _NEAR_ELSEWHERE))}
    for name, near in found.items():
        yield warning(f"Nothing reads {name}.", f"Did you mean {near}?")
    if not found:
        yield ok("No variable looks misspelt.")


def _named_in_file() -> set[str]:
    lines = ENV_FILE.read_text(errors="replace").splitlines() if ENV_FILE.is_file() else []
    return {match[1] for line in lines if (match := _LINE.match(line))}


def _meant(name: str, likeness: float) -> str:
    """The variables of ours, three at most, that `name` may stand for; empty when it is one of them, or like none."""
    known = env.NAMES | ALSO_OURS
    if name in known or name in variables_in(env.text("MCP_SERVERS")):
        return ""
    return " or ".join(get_close_matches(name.upper(), known, n=3, cutoff=likeness))


def values() -> Iterator[Finding]:
    """All that Django's own system checks find, those for deployment too where it is one."""
    messages = checks.run_checks(include_deployment_checks=not settings.LOCAL)
    told = [message for message in messages if not message.is_silenced() and message.id not in _TOLD_ELSEWHERE]
    for message in told:
        finding = problem if message.level >= checks.ERROR else warning
        yield finding(message.msg, message.hint or "")
    if not told:
        yield ok("All can be used.")


def secret_key() -> Finding:
    if env.text("SECRET_KEY"):
        return ok("Set.")
    if settings.LOCAL:
        return ok(f"Made and kept in {settings.VAR_DIR / 'secret_key'}.")
    command = "python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    return problem("SECRET_KEY is not set.", f"Set it to what this prints, the same for every process: {command}")


def allowed_hosts() -> Finding:
    given = env.host_list("ALLOWED_HOSTS")
    if "*" in given:
        return warning("ALLOWED_HOSTS allows every name.", "Name the hosts, such as debates.example.org.")
    if given or settings.LOCAL:
        return ok(", ".join(settings.ALLOWED_HOSTS))
    return problem("ALLOWED_HOSTS is not set, so no page opens.", "Name the hosts, such as debates.example.org.")


def https() -> Finding:
    if settings.LOCAL:
        sentence = "HTTPS_ONLY is on, but nothing speaks HTTPS here: no page opens."
        return problem(sentence, "Take HTTPS_ONLY out.") if settings.HTTPS_ONLY else ok("Plain HTTP on this machine.")
    if settings.HTTPS_ONLY:
        return ok("Required. The proxy in front must speak TLS and send X-Forwarded-Proto.")
    return warning(
        "HTTPS_ONLY is off: passwords and sessions travel readable.", "Put a TLS proxy in front and take it out."
    )


def metrics() -> Finding:
    who = "who bears METRICS_TOKEN" if settings.METRICS_TOKEN else "this machine alone, as METRICS_TOKEN is not set"
    where = f", workers' from port {settings.METRICS_PORT} on" if settings.METRICS_PORT else ", workers' are off"
    return ok(f"/metrics is open to {who}{where}.")


def agents_enabled() -> Finding:
    if settings.AGENTS_ENABLED:
        return ok("On.")
    if settings.LOCAL and not env.text("AGENTS_ENABLED"):
        return ok("`make run` turns it on.")
    return warning("AGENTS_ENABLED is off: no debate can be started.", "Set AGENTS_ENABLED=1.")
