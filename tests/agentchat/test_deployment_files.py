"""The files that start an installation elsewhere say what they have to; nothing here runs them."""

from typing import Any

import pytest
import yaml

from agentchat.environment import BASE_DIR

SERVERS = ["web", "worker", "beat"]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    compose: dict[str, Any] = yaml.safe_load((BASE_DIR / "docker-compose.yml").read_text())
    return dict(compose["services"])


@pytest.mark.parametrize("name", ["release", *SERVERS])
def test_every_line_of_the_env_file_reaches_the_program(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["env_file"] == [{"path": ".env", "required": False}]
    for variable, value in service["environment"].items():
        settled = variable in ("DATABASE_URL", "REDIS_URL", "PGPASSWORD", "VAR_DIR")
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
