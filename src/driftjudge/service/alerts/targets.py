"""Where alerts may be sent: a webhook must not be a way into the network the service runs in."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from driftjudge.service.alerts.errors import TargetError

Resolve = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class Target:
    """A checked address: connect to `ip`, speak to `host`."""

    host: str
    port: int
    ip: str
    path: str
    scheme: str

    @property
    def url(self) -> str:
        """The URL with the address that was checked, so that a name cannot resolve to another one meanwhile."""
        ip = f"[{self.ip}]" if ":" in self.ip else self.ip
        return f"{self.scheme}://{ip}:{self.port}{self.path}"

    @property
    def host_header(self) -> str:
        """What the receiver is called."""
        usual = {"http": 80, "https": 443}[self.scheme]
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == usual else f"{host}:{self.port}"


def resolve(host: str, port: int) -> list[str]:
    """Every address of a name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def check_target(url: str, *, allow_private: bool = False, resolver: Resolve = resolve) -> Target:
    """The address behind a URL, or the sentence that says why alerts do not go there.

    A name is refused if any of its addresses is private: whoever controls the name could choose among them.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TargetError("an alert target is an http or https address; check the sink's URL")
    if parts.username or parts.password:
        raise TargetError("an alert target carries a user name in its address; keep credentials out of the URL")
    try:
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except ValueError as error:
        raise TargetError("an alert target has an impossible port; check the sink's URL") from error
    try:
        addresses = list(resolver(parts.hostname, port))
    except (OSError, UnicodeError) as error:
        raise TargetError(f"the alert target {parts.hostname!r} cannot be resolved; check its name") from error
    if not addresses:
        raise TargetError(f"the alert target {parts.hostname!r} has no address; check its name")
    for address in addresses:
        if not allow_private and not is_public(address):
            raise TargetError(
                f"the alert target {parts.hostname!r} lies in a loopback or private range; "
                "set allow_private = true for this sink if that is meant"
            )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.hostname, port, addresses[0], path, parts.scheme)


def is_public(address: str) -> bool:
    """True for an address anybody can reach.

    >>> is_public("10.0.0.1"), is_public("::ffff:127.0.0.1"), is_public("93.184.216.34"), is_public("64:ff9b::a00:1")
    (False, False, True, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None) or _nat64(ip)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _nat64(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address inside a NAT64 one (RFC 6052's well-known prefix)."""
    if ip in ipaddress.ip_network("64:ff9b::/96"):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return None
