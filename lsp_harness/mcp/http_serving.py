"""Serves the MCP server over streamable HTTP on this machine only, to programs that know the token.

Other users of the machine can reach 127.0.0.1 too, so a request needs the token of a file that only the user can read.
A web page is refused by its `Host` and `Origin`, and learns nothing.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from mcp.server import MCPServer

from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.disk.file_writing import NEW_FILE_FLAGS
from lsp_harness.disk.opening import READING, open_unlinked
from lsp_harness.disk.ownership import is_closed
from lsp_harness.errors import FileError, UsageError
from lsp_harness.wire.loopback_access import (
    IPV4_NAMES,
    LOOPBACK_ADDRESS,
    Application,
    Message,
    Receive,
    Send,
    group_headers,
    has_credentials,
    host_names,
    is_local_host,
    send_refusal,
)

PATH = "/mcp"
TOKEN_NAME = "mcp.token"
MIN_TOKEN_CHARS = 32
STOP_WAIT_S = 2
REASONS = {
    401: "the token is missing or wrong",
    403: "this Host or Origin is not allowed",
    404: "not found",
}
"""Status of a refusal → its reason."""


class TokenGuard:
    """An ASGI application that passes on only requests with the token, for this address, and not of web pages.

    Args:
        inner: The application with the tools.
        token: The token that a request must have.
        port: The port, which the header `Host` must name.
    """

    def __init__(self, inner: Application, token: str, port: int) -> None:
        self._inner = inner
        self._credentials = f"Bearer {token}".encode()
        self._hosts = host_names(port, IPV4_NAMES)
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        status = 0 if scope["type"] == "lifespan" else self._refuse(scope)
        if status:
            await send_refusal(send, status, REASONS[status])
        else:
            await self._inner(scope, receive, send)

    def _refuse(self, scope: Message) -> int:
        """Return the HTTP status of a refusal, or 0."""
        if scope["type"] != "http":
            return 404
        headers = group_headers(scope)
        if not is_local_host(headers.get(b"host", []), self._hosts):
            return 403
        if any(origin not in self._origins for origin in headers.get(b"origin", [])):
            return 403
        return 0 if has_credentials(headers.get(b"authorization", []), self._credentials) else 401


def read_token(file: Path) -> str:
    """Return the token of a file, which is created with a new one if it is missing.

    Raises:
        UsageError: Others can read the file, or the token is too short.
        FileError: The file cannot be read or written.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            descriptor = os.open(file, NEW_FILE_FLAGS, 0o600)
        except FileExistsError:
            descriptor = open_unlinked(file, READING)
            with os.fdopen(descriptor) as stream:
                status = os.fstat(descriptor)
                token = stream.read(10_000).strip()
            if not is_closed(file, status):
                raise UsageError(f"others may read {file}; chmod 600 it, or delete it to get a new token") from None
            if len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable():
                raise UsageError(f"{file} has no token of {MIN_TOKEN_CHARS} characters; delete it") from None
            return token
        token = secrets.token_urlsafe(MIN_TOKEN_CHARS)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(token + "\n")
    except OSError as error:
        raise FileError(f"{file} cannot be used for the token: {describe_system_error(error)}") from error
    return token


async def serve_http(
    server: "MCPServer[None]", port: int, token: str, on_start: Callable[[str], None] = lambda url: None
) -> None:
    """Serve until the caller is cancelled.

    Args:
        server: The MCP server.
        port: The port; 0 means a free one.
        token: The token that each request needs.
        on_start: Called with the URL as soon as the port is bound.

    Raises:
        UsageError: The port is in use.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            listener.bind((LOOPBACK_ADDRESS, port))
            listener.listen()
        except OSError as error:
            raise UsageError(
                f"port {port} cannot be used: {describe_system_error(error)}; choose another --http"
            ) from error
        port = listener.getsockname()[1]
        application = server.streamable_http_app(streamable_http_path=PATH, host=LOOPBACK_ADDRESS)
        guarded = TokenGuard(application, token, port)
        config = uvicorn.Config(
            guarded, log_config=None, access_log=False, lifespan="on", ws="none", timeout_graceful_shutdown=STOP_WAIT_S
        )
        web = _Server(config)
        on_start(f"http://{LOOPBACK_ADDRESS}:{port}{PATH}")
        serving = asyncio.ensure_future(web.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            web.should_exit = True
            await asyncio.wait({serving}, timeout=STOP_WAIT_S + 1)
            serving.cancel()
            raise
    finally:
        listener.close()


class _Server(uvicorn.Server):
    """The HTTP server that leaves the signals to stop to the command `lsp-harness mcp`."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield
