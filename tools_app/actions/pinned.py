"""An HTTPS connection to addresses that were looked at before, whatever the host's name may mean a moment later."""

import http.client
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress

import certifi

_CONNECT_S = 5.0


class PinnedConnection(http.client.HTTPSConnection):
    """Uses no proxy and follows no redirect. The certificate must be one for `host`. When `left_s` are over it breaks
    off, however slowly the server speaks; `is_over` tells this from other ends."""

    def __init__(self, host: str, port: int, addresses: Sequence[str], left_s: float) -> None:
        super().__init__(host, port, timeout=left_s)
        self._addresses, self._left_s = addresses, left_s
        self._tls = ssl.create_default_context(cafile=trusted_roots())
        self._end = threading.Timer(left_s, self._break_off)
        self._end.daemon = True
        self.is_over = False

    def connect(self) -> None:
        self._end.start()
        plain = self._opened()
        plain.settimeout(self._left_s)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self.host, do_handshake_on_connect=False)
        self.sock.do_handshake()

    def close(self) -> None:
        self._end.cancel()
        super().close()

    def _opened(self) -> socket.socket:
        failure = OSError()
        for address in self._addresses:
            if self.is_over:
                break
            try:
                return socket.create_connection((address, self.port), min(_CONNECT_S, self._left_s))
            except OSError as error:
                failure = error
        raise failure

    def _break_off(self) -> None:
        self.is_over = True
        if self.sock:
            with suppress(OSError):
                # The method of the TLS socket would take its state away from the thread that reads.
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


def trusted_roots() -> str:
    return certifi.where()
