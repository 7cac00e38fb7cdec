"""Who may come in over TCP: holders of this user's token, from this machine, by a name of this machine.

Every web page can reach a loopback port; that is why the name it used and the page's own origin are looked at, too.
The Unix socket needs none of this: its file belongs to one user.
"""

import socket
from hmac import compare_digest
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from lsp_harness.engine.http.response import error
from lsp_harness.errors import EngineUnavailable

ADDRESS = "127.0.0.1"
LOOPBACK = frozenset((ADDRESS, "localhost", "::1"))
OPEN = "/health"
"""The one route that needs no token."""


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; `port` 0 takes any free one."""
    try:
        return socket.create_server((ADDRESS, port))
    except (OSError, OverflowError):
        raise EngineUnavailable(
            f"port {port} of {ADDRESS} is not available; set engine.port to another, or to 0 for none"
        ) from None


class Guard:
    """`app`, where requests over TCP are let in by `token` only."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # a Unix socket's own address has no port
        host, port = scope.get("server") or (None, None)
        if host is not None and port is None:
            await self._app(scope, receive, send)
            return
        answer = self._objection(scope, port)
        await (answer or self._app)(scope, receive, send)

    def _objection(self, scope: Scope, port: int | None) -> ASGIApp | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value)
        if not _names_us(given.get(b"host", []), port):
            return error(403, f"this engine answers only at {ADDRESS}:{port}; use that address")
        if any(not _from_here(origin) for origin in given.get(b"origin", [])):
            return error(403, "web pages of other machines may not use this engine; serve the page from this machine")
        if scope["path"] != OPEN and not self._holds(given.get(b"authorization", [])):
            answer = error(
                401,
                "send the header `Authorization: Bearer TOKEN`, with the token that `lsp-harness engine token` prints",
            )
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        return None

    def _holds(self, given: list[bytes]) -> bool:
        scheme, _, value = (given[0] if len(given) == 1 else b"").partition(b" ")
        return scheme.lower() == b"bearer" and compare_digest(value.strip(), self._token)


def _names_us(given: list[bytes], port: int | None) -> bool:
    names = {f"{f'[{name}]' if ':' in name else name}:{port}".encode() for name in LOOPBACK}
    return len(given) == 1 and given[0].lower() in names


def _from_here(origin: bytes) -> bool:
    try:
        url = urlsplit(origin.decode("ascii"))
        return url.scheme in ("http", "https") and url.hostname in LOOPBACK
    except ValueError:
        return False
