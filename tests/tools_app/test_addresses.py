import socket
from collections.abc import Callable

import pytest

from tools_app.actions.addresses import is_public, public_addresses, refuse_numbers_inside
from tools_app.base import FailureKind, ToolFailure

Resolver = Callable[..., list[object]]


def resolves_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """The system's resolver answers with these, whatever it is asked; it reads them as it does without a network."""
    read = socket.getaddrinfo
    found = [entry for address in addresses for entry in read(address, 443, type=socket.SOCK_STREAM)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_named: found)


def does_not_resolve(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", fail)


def test_a_public_host_gives_its_addresses_once_each_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    resolves_to(monkeypatch, "2001:4860:4860::8888", "8.8.8.8", "8.8.8.8")
    assert public_addresses("hooks.test", 443) == ["2001:4860:4860::8888", "8.8.8.8"]


@pytest.mark.parametrize("inside", ["127.0.0.1", "10.1.2.3", "::1", "fe80::1", "fd00::1"])
def test_one_address_inside_among_public_ones_refuses_the_host(monkeypatch: pytest.MonkeyPatch, inside: str) -> None:
    resolves_to(monkeypatch, "8.8.8.8", inside)
    with pytest.raises(ToolFailure, match=r"'hooks\.test' is not on the public internet") as caught:
        public_addresses("hooks.test", 443)
    assert caught.value.kind == FailureKind.NOT_ALLOWED
    assert inside not in str(caught.value)


@pytest.mark.parametrize(
    "spelling", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "::1", "::ffff:127.0.0.1"]
)
def test_this_machine_is_refused_however_it_is_spelt(spelling: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        public_addresses(spelling, 443)
    assert caught.value.kind == FailureKind.NOT_ALLOWED


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.8",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.5",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:8.8.8.8%eth0",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1%eth0",
        "2001:4860:4860::8888%1",
        "fec0::1",
        "ff0e::1",
        "not an address",
        "",
    ],
)
def test_it_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2606:4700::1111"],
)
def test_it_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "error", [socket.gaierror(-2, "Name or service not known"), UnicodeError("label too long"), ValueError("null")]
)
def test_a_host_that_cannot_be_found_says_so(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    does_not_resolve(monkeypatch, error)
    with pytest.raises(ToolFailure, match=r"no address for 'nowhere\.test'; is the name right") as caught:
        public_addresses("nowhere.test", 443)
    assert caught.value.kind == FailureKind.UPSTREAM


def test_an_endless_name_is_shortened_in_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    does_not_resolve(monkeypatch, socket.gaierror(-2, "Name or service not known"))
    with pytest.raises(ToolFailure) as caught:
        public_addresses("a" * 100_000, 443)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("spelling", ["127.0.0.1", "2130706433", "::1", "10.0.0.1"])
def test_a_written_address_inside_is_refused_without_a_resolver(spelling: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        refuse_numbers_inside(spelling)
    assert caught.value.kind == FailureKind.NOT_ALLOWED


@pytest.mark.parametrize("host", ["8.8.8.8", "hooks.test", "localhost", "a" * 1_000])
def test_names_and_public_addresses_may_pass_before_the_resolver_is_asked(host: str) -> None:
    refuse_numbers_inside(host)
