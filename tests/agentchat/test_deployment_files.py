"""The files that start an installation elsewhere say what they have to; test_deployment.py runs their commands."""

import re
import shlex
from typing import Any

import pytest

from agentchat.environment import BASE_DIR
from tests.agentchat.deployment import COMPOSE, DOCKERFILE, PROCFILE, command_of, grace_s, image_command
from tools_app.secrets import is_credential

SERVERS = ["web", "worker", "beat"]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return COMPOSE


@pytest.mark.parametrize("name", ["release", *SERVERS])
def test_every_line_of_the_env_file_reaches_the_program(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["env_file"] == [{"path": ".env", "required": False}]
    for variable, value in service["environment"].items():
        settled = variable in ("DATABASE_URL", "REDIS_URL", "PGPASSWORD", "VAR_DIR", "PORT")
        assert settled or value.startswith(f"${{{variable}:"), f"{variable} of .env would be overruled"


@pytest.mark.parametrize("name", SERVERS)
def test_the_servers_wait_for_the_migrations(services: dict[str, Any], name: str) -> None:
    assert services[name]["depends_on"] == {
        "release": {"condition": "service_completed_successfully"},
        "database": {"condition": "service_healthy"},
        "broker": {"condition": "service_healthy"},
    }
    assert services[name]["restart"] == "unless-stopped"


def test_the_migrations_run_once_and_wait_for_the_stores_alone(services: dict[str, Any]) -> None:
    assert services["release"]["restart"] == "no"
    assert set(services["release"]["depends_on"]) == {"database", "broker"}


def test_the_password_may_hold_any_character(services: dict[str, Any]) -> None:
    environment = services["web"]["environment"]
    assert "PASSWORD" not in environment["DATABASE_URL"]
    assert environment["PGPASSWORD"] == services["database"]["environment"]["POSTGRES_PASSWORD"]


def test_in_ci_no_test_may_be_skipped_for_want_of_a_browser() -> None:
    assert "export CI=true" in (BASE_DIR / ".ci" / "run").read_text()


# --- what starts -------------------------------------------------------------------------------------------------


def test_the_procfile_has_what_hosts_expect() -> None:
    assert list(PROCFILE) == ["release", "web", "worker", "beat"]
    assert "--port $PORT" in PROCFILE["web"] and "migrate" in PROCFILE["release"]


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_both_files_start_the_same(name: str) -> None:
    assert command_of(name) == shlex.split(PROCFILE[name])


def test_the_release_and_the_web_server_are_the_same_too() -> None:
    shell, option, release = command_of("release")
    assert (shell, option, release) == ("sh", "-c", PROCFILE["release"])
    shell, option, web = image_command()
    assert (shell, option, web) == ("sh", "-c", "exec " + PROCFILE["web"].replace("$PORT", "${PORT:-8000}"))


def test_one_web_process_serves_whatever_the_host_proposes() -> None:
    """Some set WEB_CONCURRENCY, which uvicorn obeys; the metrics would be those of any one of them."""
    assert "--workers 1 " in PROCFILE["web"]


# --- staying up and going down -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(COMPOSE) - {"release", "beat"}))
def test_each_service_is_looked_after(services: dict[str, Any], name: str) -> None:
    assert services[name]["restart"] == "unless-stopped"
    assert services[name]["healthcheck"]["test"]


def test_no_service_is_killed_before_it_can_have_ended(services: dict[str, Any]) -> None:
    (streams_s,) = re.findall(r"--timeout-graceful-shutdown (\d+)", PROCFILE["web"])
    assert grace_s("web") >= 2 * int(streams_s)
    assert grace_s("worker") > 3
    assert grace_s("database") >= 60


def test_any_number_of_workers_can_run(services: dict[str, Any]) -> None:
    worker = services["worker"]
    assert worker["deploy"] == {"replicas": "${WORKERS:-1}"}
    assert not {"ports", "container_name"} & set(worker)
    assert "replicas" not in str(services["beat"]), "one is enough"


def test_ollama_comes_only_when_asked_for(services: dict[str, Any]) -> None:
    assert services["ollama"]["profiles"] == ["ollama"]
    assert [name for name, service in services.items() if "profiles" in service] == ["ollama"]


# --- what must not be in them ------------------------------------------------------------------------------------


def test_no_secret_is_in_the_compose_file(services: dict[str, Any]) -> None:
    for service in services.values():
        for variable, value in service.get("environment", {}).items():
            assert not is_credential(variable) or value.startswith("${"), variable
            assert not re.search(r"://[^@/]*:[^@/]*@", value), variable
    assert services["database"].get("ports") is None and services["broker"].get("ports") is None


def test_the_image_is_slim_runs_as_nobody_special_and_holds_what_production_needs() -> None:
    assert re.search(r"^FROM python:3\.\d+-slim$", DOCKERFILE, re.MULTILINE)
    assert DOCKERFILE.index("USER agentchat") < DOCKERFILE.index("CMD")
    assert re.findall(r"requirements/\w+\.txt", DOCKERFILE) == ["requirements/base.txt"] * 3
    ignored = (BASE_DIR / ".dockerignore").read_text().split()
    assert {".env", ".git", "var", "tests"} <= set(ignored)


def test_hosts_without_docker_install_the_same() -> None:
    assert (BASE_DIR / "requirements.txt").read_text() == "-r requirements/base.txt\n"
