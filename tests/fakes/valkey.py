"""A Valkey server that a test can start, stop and start again."""

import signal
import subprocess
import time
from pathlib import Path

from agentchat.embedded import valkey


class ValkeyServer:
    def __init__(self, folder: Path) -> None:
        self._socket, self._data = folder / "v.sock", folder / "data"
        self.url = f"unix://{self._socket}"
        self.broker_url = f"redis+socket://{self._socket}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        valkey.prepare(self._socket, self._data)
        self._process = subprocess.Popen(valkey.command(self._socket, self._data), stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not (self._socket.exists() and valkey.answers(self.url)):
            assert time.monotonic() < deadline, "Valkey did not start"
            time.sleep(0.01)

    def send(self, number: signal.Signals) -> None:
        assert self._process
        self._process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        assert self._process
        self._process.send_signal(number)
        self._process.wait(timeout=20)
        self._socket.unlink(missing_ok=True)
