"""On PostgreSQL the many threads of a worker share few connections."""

import os
import subprocess
import sys
from pathlib import Path

from agentchat.environment import BASE_DIR
from tests.agentchat.processes import UNSET, python

# Prints the most connections that were open at once, and how many threads were served.
CROWD = """
import os, threading
os.environ["DATABASE_URL"] += "&conn_max_age=60"
import django
django.setup()
from django.db import connection
counts = []
def ask():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), pg_sleep(0.05) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        counts.append(cursor.fetchone()[0])
    connection.close()
threads = [threading.Thread(target=ask) for _ in range(120)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(max(counts), len(counts))
"""


def test_a_crowd_of_threads_is_served_through_twenty(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.fakes.postgres", *python(CROWD)],
        cwd=BASE_DIR,
        env={**os.environ, **UNSET, "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "agentchat.settings"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert said.stdout, said.stderr
    most, served = map(int, said.stdout.split()[-2:])
    assert most <= 20
    assert served == 120
