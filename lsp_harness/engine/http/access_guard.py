"""Access over TCP: a caller needs the token of this user, must be on this machine and must use a name of this machine.

Every web page can reach a loopback port. Therefore the name in the request and the origin of the page are checked, too.
The Unix socket needs no check: its file belongs to one user.
"""

import socket
from hmac import compare_digest
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from lsp_harness.engine.http.response import error_response
from lsp_harness.errors import EngineUnavailable

LISTEN_ADDRESS = "127.0.0.1"
LOOPBACK_NAMES = frozenset((LISTEN_ADDRESS, "localhost", "::1"))
PUBLIC_PATH = "/health"
"""The only route that needs no token."""


def listen(port: int) -> socket.socket:
    """Return a listening socket on the loopback interface. With `port` 0 it takes any free port.

    Raises:
        EngineUnavailable: The port is in use or out of range.
    """
    try:
        return socket.create_server((LISTEN_ADDRESS, port))
    except (OSError, OverflowError):
        raise EngineUnavailable(
            f"port {port} of {LISTEN_ADDRESS} is not available; set engine.port to another port, or to 0 for none"
        ) from None


class AccessGuard:
    """An application that passes requests over TCP on only if they carry the token.

    Args:
        app: The guarded application.
        token: The token of this user.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        # The address of a Unix socket has no port.
        host, port = scope.get("server") or (None, None)
        if host is not None and port is None:
            await self._app(scope, receive, send)
            return
        rejection = self._reject(scope, port)
        await (rejection or self._app)(scope, receive, send)

    def _reject(self, scope: Scope, port: int | None) -> ASGIApp | None:
        """Return the error for a request that is not allowed, else None."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        if not _is_local_host(headers.get(b"host", []), port):
            return error_response(403, f"this engine answers only at {LISTEN_ADDRESS}:{port}; use that address")
        if any(not _is_local_origin(origin) for origin in headers.get(b"origin", [])):
            return error_response(
                403, "web pages of other machines may not use this engine; serve the page from this machine"
            )
        if scope["path"] != PUBLIC_PATH and not self._has_token(headers.get(b"authorization", [])):
            answer = error_response(
                401,
                "send the header `Authorization: Bearer TOKEN`, with the token that `lsp-harness engine token` prints",
            )
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        return None

    def _has_token(self, authorizations: list[bytes]) -> bool:
        scheme, _, value = (authorizations[0] if len(authorizations) == 1 else b"").partition(b" ")
        return scheme.lower() == b"bearer" and compare_digest(value.strip(), self._token)


def _is_local_host(hosts: list[bytes], port: int | None) -> bool:
    """Return whether the `Host` headers are one name of this machine with the right port."""
    names = {f"{f'[{name}]' if ':' in name else name}:{port}".encode() for name in LOOPBACK_NAMES}
    return len(hosts) == 1 and hosts[0].lower() in names


def _is_local_origin(origin: bytes) -> bool:
    try:
        url = urlsplit(origin.decode("ascii"))
        return url.scheme in ("http", "https") and url.hostname in LOOPBACK_NAMES
    except ValueError:
        return False
