"""The database, the broker, and who works on them."""

from collections.abc import Iterator
from datetime import UTC, datetime

import redis
from django.conf import settings
from django.db import connection
from redis.backoff import NoBackoff
from redis.retry import Retry

from agentchat import health
from agentchat.celery import app
from agentchat.doctor.findings import Finding, ok, problem, warning
from agentchat.environment import secrets_known
from debates import heartbeat
from tools_app.secrets import redact

SKEW_S, WRONG_CLOCK_S = 2, 30
# The reaper runs every five seconds.
REAPER_LATE_S = 30
PING_S = 1.5


def database() -> Finding:
    try:
        health.database()
    except Exception as error:
        where = (
            "See that VAR_DIR can be written."
            if settings.LOCAL
            else "See that it runs, and that DATABASE_URL is right."
        )
        return problem(f"The database does not answer: {_in_one_line(error)}", where)
    place = connection.settings_dict["HOST"] or connection.settings_dict["NAME"]
    return ok(f"{connection.display_name} answers ({place}).")


def migrations() -> Finding:
    if not (missing := health.migrations()):
        return ok("All are applied.")
    if settings.LOCAL:
        return warning(missing, "`make run` applies them.")
    return problem(missing, "Run `python manage.py migrate`.")


def clock() -> Finding:
    """Leases count by the database's clock, all else by the machine's."""
    if connection.vendor == "sqlite":
        return ok("The database uses this machine's.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (theirs,) = cursor.fetchone()
    apart = abs((datetime.now(UTC) - theirs).total_seconds())
    told = f"It is {apart:.1f} s apart from the database's."
    remedy = "Let both machines get their time over NTP."
    if apart > WRONG_CLOCK_S:
        return problem(told, remedy)
    return warning(told, remedy) if apart > SKEW_S else ok(told)


def broker() -> Iterator[Finding]:
    options = {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": Retry(NoBackoff(), 0)}
    try:
        with redis.Redis.from_url(settings.EVENTS_URL, decode_responses=True, **options) as client:
            yield from _of_broker(client)
    except redis.ResponseError as error:
        yield problem(f"The broker refuses what is needed: {_in_one_line(error)}", "Use Redis 6 or Valkey, or newer.")
    except (redis.RedisError, OSError) as error:
        where = (
            "Look at what `make run` printed." if settings.LOCAL else "See that it runs, and that REDIS_URL is right."
        )
        yield problem(f"The broker does not answer: {_in_one_line(error)}", where)


def _of_broker(client: redis.Redis) -> Iterator[Finding]:
    facts = client.info()
    client.xadd("doctor:stream", {"is": "there"}, maxlen=1)
    client.delete("doctor:stream")
    yield ok(f"{facts.get('server_name', 'redis')} {facts.get('valkey_version', facts['redis_version'])} answers.")
    policy = facts.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        yield warning(
            f"When its memory is full the broker throws entries away ({policy}), calls for workers among them.",
            "Set its maxmemory-policy to noeviction.",
        )


def worker() -> Finding:
    answers = app.control.ping(timeout=PING_S) or []
    names = [name for answer in answers for name in answer]
    if names:
        return ok(f"{len(names)} answer: {', '.join(sorted(names)[:5])}")
    remedy = "Look at what `make run` printed." if settings.LOCAL else "Start one; the Procfile has the command."
    return problem("No worker answers, so no debate goes on.", remedy)


def beat() -> Finding:
    """Known by what it wakes: the reaper leaves its time."""
    age_s = heartbeat.age_s()
    if age_s is not None and age_s < REAPER_LATE_S:
        return ok(f"The reaper ran {age_s:.0f} s ago.")
    told = "has never run" if age_s is None else f"ran {age_s:.0f} s ago"
    remedy = "Start beat, once for the whole installation; the Procfile has the command."
    return problem(f"The reaper {told}, so debates whose worker died are not taken up.", remedy)


def _in_one_line(error: Exception) -> str:
    return redact(" ".join(str(error).split()), secrets_known())[:300]
