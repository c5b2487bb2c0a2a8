"""A real HTTPS server on 127.0.0.1 with a certificate of our own making."""

import datetime
import ipaddress
import itertools
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

Answer = Callable[[ssl.SSLSocket], None]


def answer(status: str, body: str = "", headers: str = "") -> Answer:
    text = f"HTTP/1.1 {status}\r\nContent-Length: {len(body.encode())}\r\n{headers}\r\n{body}"
    return lambda connection: connection.sendall(text.encode())


def drip(head: str, then: Callable[[], None]) -> Answer:
    """Begins as `head` does and says a letter at a time without end; `then` happens when some have been said."""

    def speak(connection: ssl.SSLSocket) -> None:
        connection.sendall(head.encode())
        for said in itertools.count():
            connection.sendall(b"x")
            if said == 50:
                then()

    return speak


@dataclass
class HookServer:
    """`port` is open on `address`; `requests` are whole, as they came; `names` what the clients asked for by SNI."""

    port: int
    roots: Path
    answer: Answer = field(default_factory=lambda: answer("200 OK", "thank you"))
    requests: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)

    def serve(self, listener: socket.socket, tls: ssl.SSLContext) -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:  # closed: the test is over
                return
            plain.settimeout(10)
            with suppress(OSError), plain, tls.wrap_socket(plain, server_side=True) as connection:
                self.requests.append(_request(connection))
                self.answer(connection)

    def note_name(self, _connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _tls: ssl.SSLContext) -> None:
        self.names.append(name)


@contextmanager
def hook_server(folder: Path, name: str, address: str = "127.0.0.1") -> Iterator[HookServer]:
    certificate = _certificate(folder, name)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with socket.create_server((address, 0)) as listener:
        server = HookServer(listener.getsockname()[1], certificate)
        tls.sni_callback = server.note_name
        thread = threading.Thread(target=server.serve, args=(listener, tls), daemon=True)
        thread.start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def _request(connection: ssl.SSLSocket) -> bytes:
    text = b""
    while b"\r\n\r\n" not in text:
        text += _received(connection)
    head, _, body = text.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += _received(connection)
    return head + b"\r\n\r\n" + body


def _received(connection: ssl.SSLSocket) -> bytes:
    if part := connection.recv(65_536):
        return part
    raise ConnectionError("The client left.")


def _certificate(folder: Path, name: str) -> Path:
    """A file with a certificate for `name` (a host name or an IP address), trusted by whoever takes it as root, and its
    key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Test")])
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        alternative = x509.DNSName(name)
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name.replace(':', '-')}.pem"
    path.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path
