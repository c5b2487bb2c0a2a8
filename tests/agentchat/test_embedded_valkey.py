"""The embedded Valkey server listens on a private socket, keeps what it was told and starts in any state."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from agentchat.embedded import valkey
from agentchat.embedded.leashed import Leashed
from tests.agentchat.processes import eventually

Start = Callable[[], Leashed]


@pytest.fixture
def socket(tmp_path: Path) -> Path:
    return tmp_path / "v.sock"


@pytest.fixture
def start(socket: Path, tmp_path: Path) -> Iterator[Start]:
    started: list[Leashed] = []

    def launch() -> Leashed:
        valkey.prepare(socket, tmp_path / "data")
        started.append(Leashed(valkey.command(socket, tmp_path / "data"), {}, hear=print))
        assert eventually(lambda: valkey.answers(f"unix://{socket}"))
        return started[-1]

    yield launch
    for server in started:
        server.end(5)


def test_a_socket_that_a_killed_server_left_is_no_obstacle_and_nothing_is_lost(socket: Path, start: Start) -> None:
    server = start()
    with redis.Redis.from_url(f"unix://{socket}") as client:
        client.set("kept", "yes")
    server.end(0)
    assert socket.exists()
    assert not valkey.answers(f"unix://{socket}")
    start()
    with redis.Redis.from_url(f"unix://{socket}") as client:
        assert client.get("kept") == b"yes"


def test_it_is_reached_through_a_private_socket_alone(socket: Path, start: Start) -> None:
    start()
    assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    with redis.Redis.from_url(f"unix://{socket}") as client:
        assert client.config_get("port") == {"port": "0"}


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(PermissionError, match="VAR_DIR"):
        valkey.prepare(tmp_path / "link" / "v.sock", tmp_path / "data")
