"""Everything that the doctor looks at, in the order in which it is told."""

import logging
from collections.abc import Iterator

from agentchat.doctor import configuration, installation, models, stores
from agentchat.doctor.findings import Check, Finding, State, problem

logger = logging.getLogger(__name__)

CHECKS = (
    Check("python", installation.python_version),
    Check("packages", installation.packages),
    Check(".env", configuration.env_file),
    Check("spelling", configuration.misspelt),
    Check("values", configuration.values),
    Check("secret key", configuration.secret_key),
    Check("allowed hosts", configuration.allowed_hosts),
    Check("https", configuration.https),
    Check("static files", installation.static_files),
    Check("disk", installation.disk),
    Check("open files", installation.open_files),
    Check("port", installation.port),
    Check("metrics", configuration.metrics),
    Check("agents", configuration.agents_enabled),
    Check("database", stores.database),
    Check("migrations", stores.migrations, after="database"),
    Check("clock", stores.clock, after="database"),
    Check("running", installation.running),
    Check("broker", stores.broker, after="running"),
    Check("worker", stores.worker, after="broker"),
    Check("beat", stores.beat, after="broker"),
    Check("model", models.debating, after="migrations"),
    Check("fallbacks", models.fallbacks, after="migrations"),
    Check("utility model", models.utility, after="migrations"),
    Check("sources", models.sources, after="migrations"),
)


def examine() -> Iterator[tuple[str, Finding]]:
    """The name of the check and what it found, as it goes. What makes no sense after a failure is left out."""
    failed: set[str] = set()
    for check in CHECKS:
        if check.after in failed:
            failed.add(check.name)
            continue
        found = _findings(check)
        if found[0].state is not State.OK:
            failed.add(check.name)
        for finding in found:
            yield check.name, finding


def _findings(check: Check) -> list[Finding]:
    try:
        return check.findings()
    except Exception as error:  # a doctor that falls ill must not keep the other results back
        logger.debug("The check %s failed", check.name, exc_info=True)
        return [problem(f"This check itself failed: {type(error).__name__}.", "LOG_LEVEL=DEBUG shows where.")]
