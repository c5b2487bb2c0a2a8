"""The HTTP side of the connection to a server: which machines it reaches, and how much it takes from them."""

import ipaddress
from collections.abc import AsyncIterator, Sequence

import httpx2
from django.conf import settings

from tools_app.actions.addresses import public_addresses
from tools_app.base import FailureKind, ToolFailure
from tools_app.mcp.places import Server

CONNECT_S = 5
LARGEST_REPLY = 4_000_000
_LOOPBACK_NAMES = {"localhost": ["127.0.0.1", "::1"]}


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Connects to the addresses that were looked at, whatever the name means a moment later. `status` is that of the
    last answer to a POST."""

    def __init__(self, host: str, addresses: Sequence[str]) -> None:
        self.status = 0
        self._host, self._addresses = host, addresses
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.host != self._host:
            raise httpx2.UnsupportedProtocol("another host")
        response = await self._answer(request)
        if request.method == "POST":
            self.status = response.status_code
        # Packed, few bytes can be a great many.
        if "content-encoding" in response.headers or not isinstance(response.stream, httpx2.AsyncByteStream):
            await response.aclose()
            raise httpx2.RemoteProtocolError("a packed reply")
        response.stream = _Bounded(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        for address in self._addresses[:-1]:
            try:
                return await self._inner.handle_async_request(self._pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(self._pinned(request, self._addresses[-1]))

    def _pinned(self, request: httpx2.Request, address: str) -> httpx2.Request:
        """The header Host and the certificate stay those of the name."""
        return httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": self._host},
        )


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LARGEST_REPLY
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise httpx2.RemoteProtocolError("a reply without end")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def headers_of(server: Server) -> dict[str, str]:
    headers = server.filled()
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            message = f"{server.label}: the header {name!r} has characters that no header may have. Correct its value."
            raise ToolFailure(FailureKind.CONFIG, message)
    return {**headers, "Accept-Encoding": "identity"}


def allowed_addresses(server: Server, url: httpx2.URL) -> list[str]:
    """The IP addresses to connect to. Raises `ToolFailure` when this server must not be spoken to."""
    if own := _loopback(url.host):
        if not settings.LOCAL:
            message = f"{server.label} is on this machine, which only a local installation may speak to. Use a command."
            raise ToolFailure(FailureKind.NOT_ALLOWED, message)
        return own
    if url.scheme != "https":
        raise ToolFailure(FailureKind.NOT_ALLOWED, f"{server.label} must have an address that begins with https://.")
    return public_addresses(url.host, url.port or 443)


def _loopback(host: str) -> list[str]:
    try:
        return [host] if ipaddress.ip_address(host).is_loopback else []
    except ValueError:
        return _LOOPBACK_NAMES.get(host.lower(), [])
