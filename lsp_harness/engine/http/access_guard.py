"""Access over TCP: a caller needs the token of this user, must be on this machine and must use a name of this machine.

Every web page can reach a loopback port. Therefore the name in the request and the origin of the page are checked, too.
The Unix socket needs no check: its file belongs to one user.
"""

import socket
from collections.abc import Sequence
from hmac import compare_digest
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from lsp_harness.engine.http.response import make_error_response
from lsp_harness.errors import EngineUnavailable
from lsp_harness.wire.loopback_access import (
    IPV4_NAMES,
    LOOPBACK_ADDRESS,
    group_headers,
    host_names,
    is_local_host,
    read_bearer,
)

ORIGIN_NAMES = frozenset((*IPV4_NAMES, "::1"))
"""The names of this machine in the addresses of web pages."""
PUBLIC_PATH = "/health"
"""The only route that needs no token."""


def listen(port: int) -> socket.socket:
    """Return a listening socket on the loopback interface. With `port` 0 it takes any free port.

    Raises:
        EngineUnavailable: The port is in use or out of range.
    """
    try:
        return socket.create_server((LOOPBACK_ADDRESS, port))
    except (OSError, OverflowError):
        raise EngineUnavailable(
            f"port {port} of {LOOPBACK_ADDRESS} is not available; set engine.port to another port, or to 0 for none"
        ) from None


class AccessGuard:
    """An application that passes requests over TCP on only if they carry the token.

    Args:
        app: The ASGI application that is guarded.
        tokens: Each token that opens the engine: that of the port, and that of a channel without a Unix socket.
    """

    def __init__(self, app: ASGIApp, tokens: Sequence[str]) -> None:
        self._app = app
        self._tokens = [token.encode() for token in tokens]

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
        headers = group_headers(scope)
        if not is_local_host(headers.get(b"host", []), host_names(port)):
            return make_error_response(403, f"this engine answers only at {LOOPBACK_ADDRESS}:{port}; use that address")
        if any(not _is_local_origin(origin) for origin in headers.get(b"origin", [])):
            return make_error_response(
                403, "web pages of other machines may not use this engine; serve the page from this machine"
            )
        bearer = read_bearer(headers.get(b"authorization", []))
        has_token = any(compare_digest(bearer, token) for token in self._tokens)
        if scope["path"] != PUBLIC_PATH and not has_token:
            answer = make_error_response(
                401,
                "send the header `Authorization: Bearer TOKEN`, with the token that `lsp-harness engine token` prints",
            )
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        return None


def _is_local_origin(origin: bytes) -> bool:
    try:
        url = urlsplit(origin.decode("ascii"))
        return url.scheme in ("http", "https") and url.hostname in ORIGIN_NAMES
    except ValueError:
        return False
