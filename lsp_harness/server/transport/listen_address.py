"""Where to listen: HOST:PORT, on this machine only.

Who can connect can read every open file and have edits computed, and LSP has no notion of a password; so there is no
way to listen on the network. Use an SSH tunnel for that.
"""

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from lsp_harness.errors import UsageError


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse(text: str) -> Address:
    """`HOST:PORT` or just `PORT`; port 0 takes a free one. Raises UsageError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"{text!r} must have the form HOST:PORT, with a port from 0 to 65535; for example 127.0.0.1:8765"
        )
    if not loopback(host):
        raise UsageError(
            f"{host} is an address that other machines can reach; use 127.0.0.1, and an SSH tunnel for access from elsewhere"
        )
    return Address(host, int(port))


def loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def local_authority(value: str) -> bool:
    """Whether a Host header names this machine; anything else is a page that had its own name point here."""
    return loopback(urlsplit(f"//{value}").hostname or "")


def local_origin(value: str) -> bool:
    """Whether an Origin header names a page served by this machine."""
    return loopback(urlsplit(value).hostname or "")
