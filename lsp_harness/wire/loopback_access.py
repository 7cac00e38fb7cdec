"""Requests that reach a port of this machine: the names that they use, the token that they carry, and a refusal.

Every web page can reach a loopback port, and so can every user of the machine. The servers of the engine, of sessions
and of tools each decide for themselves whom they serve. They read the messages of ASGI by these functions.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from hmac import compare_digest
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK_ADDRESS = "127.0.0.1"
IPV4_NAMES = (LOOPBACK_ADDRESS, "localhost")
LOOPBACK_NAMES = (*IPV4_NAMES, "[::1]")
"""The names of this machine in the header `Host`."""


def group_headers(scope: Mapping[str, Any]) -> dict[bytes, list[bytes]]:
    """Return name, in small letters → values of the headers of a request."""
    headers: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.lower(), []).append(value)
    return headers


def host_names(port: int | None, names: Iterable[str] = LOOPBACK_NAMES) -> frozenset[bytes]:
    """Return the values of `Host` that name a port of this machine."""
    return frozenset(f"{name}:{port}".encode() for name in names)


def is_local_host(hosts: Sequence[bytes], names: Collection[bytes]) -> bool:
    """Return whether the `Host` headers of a request are exactly one, and one of some names."""
    return len(hosts) == 1 and hosts[0].lower() in names


def read_bearer(authorizations: Sequence[bytes]) -> bytes:
    """Return the token of the only `Authorization` header of a request, or nothing."""
    scheme, _, token = (authorizations[0] if len(authorizations) == 1 else b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def has_credentials(authorizations: Sequence[bytes], credentials: bytes) -> bool:
    """Return whether the only `Authorization` header of a request has exactly this value."""
    return len(authorizations) == 1 and compare_digest(authorizations[0], credentials)


async def send_refusal(send: Send, status: int, reason: str) -> None:
    """Answer a request with a status and a reason as JSON."""
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
