"""A mail server on 127.0.0.1 that answers each command as it is told, or takes what comes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_USUAL = {"EHLO": "250-mail.test\r\n250 AUTH PLAIN", "AUTH": "235 welcome", "DATA": "354 go on", "QUIT": "221 bye"}


@dataclass
class MailServer:
    """`says` by command ("" for the greeting); `silent_at` a command it says nothing to. `mails` are whole."""

    port: int
    says: dict[str, str] = field(default_factory=dict)
    silent_at: str = ""
    mails: list[str] = field(default_factory=list)

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed: the test is over
                return
            connection.settimeout(10)
            with suppress(OSError), connection:
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        connection.sendall(f"{self.says.get('', '220 mail.test')}\r\n".encode())
        with connection.makefile("rb") as lines:
            for line in lines:
                command = line.decode().split()[0].upper()
                if command == self.silent_at:
                    lines.read()
                    return
                answer = self.says.get(command, _USUAL.get(command, "250 ok"))
                connection.sendall(f"{answer}\r\n".encode())
                if command == "DATA" and answer.startswith("354"):
                    self.mails.append(b"".join(iter(lines.readline, b".\r\n")).decode())
                    connection.sendall(f"{self.says.get('.', '250 taken')}\r\n".encode())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = MailServer(listener.getsockname()[1])
        thread = threading.Thread(target=server.serve, args=(listener,), daemon=True)
        thread.start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()
