"""Which machines a tool may speak to: those of the public internet, never this one or its neighbours."""

import ipaddress
import socket
from collections.abc import Sequence
from typing import Any

from tools_app.base import FailureKind, ToolFailure

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Found = tuple[int, int, int, str, tuple[Any, ...]]

# What `is_global` of some Python versions lets through: protocol assignments, the relays of 6to4, documentation.
_NOT_FOR_HOSTS = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def public_addresses(host: str, port: int) -> list[str]:
    """The IP addresses of `host`, in the order in which to try them. Raises `ToolFailure`: NOT_ALLOWED when even one of
    them is not public, UPSTREAM when there is none. It waits as long as the system's resolver does."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError, OverflowError):  # ValueError: a name that cannot be one, such as an endless label
        raise ToolFailure(FailureKind.UPSTREAM, f"There is no address for {_shown(host)}; is the name right?") from None
    return _checked(host, found)


def refuse_numbers_inside(host: str) -> None:
    """Raises NOT_ALLOWED when `host` is itself an address, in whatever spelling, and not a public one. Asks no
    resolver: a name of a model's making could carry something out before a person has allowed it."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, ValueError):
        return
    _checked(host, found)


def is_public(address: str) -> bool:
    """False also for what is no IP address, and for one that is valid on one network interface only."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return _is_public(parsed)


def _checked(host: str, found: Sequence[_Found]) -> list[str]:
    addresses = list(dict.fromkeys(_numeric(entry[4]) for entry in found))
    if not all(map(is_public, addresses)):
        # The address stays unsaid: whoever asks shall not learn how the network inside looks.
        message = f"{_shown(host)} is not on the public internet, and nothing else may be spoken to. Name another host."
        raise ToolFailure(FailureKind.NOT_ALLOWED, message)
    return addresses


def _is_public(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = _ipv4_inside(address)
        if address.scope_id is not None or (inner is not None and not _is_public(inner)):
            return False
        if address.ipv4_mapped or address in _NAT64:
            return True
        if address not in _UNICAST:
            return False
    return address.is_global and not address.is_multicast and not any(address in net for net in _NOT_FOR_HOSTS)


def _ipv4_inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The machine that packets to `address` reach in the end, where it is written inside."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _numeric(place: tuple[Any, ...]) -> str:
    address, scope = str(place[0]), place[3] if len(place) > 3 else 0
    return f"{address}%{scope}" if scope and "%" not in address else address


def _shown(host: str) -> str:
    return repr(host if len(host) <= 100 else host[:100] + "…")
