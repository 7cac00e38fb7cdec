"""The MCP server with the Python functions of the user, in this process.

It listens on 127.0.0.1 only. Other users of the machine can reach that address, too, so a request needs the random
token, and a web page is refused by its `Host` and `Origin`. The port is bound before the server starts, so no other
program can take it in between. `mcp` and `uvicorn` are imported only here, and only when a client has tools.
"""

import asyncio
import logging
import secrets
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from lsp_harness.extras import install_command
from lsp_harness.sdk.daemon_thread import call_in_thread
from lsp_harness.sdk.python_tools import PythonTool
from lsp_harness.sdk.sdk_errors import HarnessError
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
    send_refusal,
)

PATH = "/mcp"
STOP_WAIT_S = 3.0


class AccessCheck:
    """An ASGI application that passes on only the requests of our own session.

    Args:
        inner: The application with the tools.
        token: The token that a request must have.
        port: The port, which the header `Host` must name.
    """

    def __init__(self, inner: Application, token: str, port: int) -> None:
        self._inner = inner
        self._credentials = f"Bearer {token}".encode()
        self._requests: set[asyncio.Future[None]] = set()
        self._hosts = host_names(port, IPV4_NAMES)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
        elif refusal := self._find_refusal(scope):
            await send_refusal(send, *refusal)
        else:
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        has_begun = has_ended = False

        async def send_message(message: Message) -> None:
            nonlocal has_begun, has_ended
            has_begun = True
            has_ended = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        request = asyncio.ensure_future(self._inner(scope, receive, send_message))
        self._requests.add(request)
        try:
            await asyncio.wait({request})
        finally:
            self._requests.discard(request)
            request.cancel()
        if not request.cancelled():
            request.result()
        elif not has_begun:
            await send_refusal(send, 503, "the session has ended")
        elif not has_ended:
            await send({"type": "http.response.body", "body": b""})

    def cancel_requests(self) -> None:
        """Cancel the requests that still run. The server alone would wait for them, and report them as errors."""
        for request in self._requests:
            request.cancel()

    def _find_refusal(self, scope: Message) -> tuple[int, str] | None:
        if scope["type"] != "http":
            return 404, "this is an HTTP server"
        headers = group_headers(scope)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 403, "another Host is expected"
        if headers.get(b"origin"):
            return 403, "web pages may not call tools"
        if not has_credentials(headers.get(b"authorization", []), self._credentials):
            return 401, "the token is missing or wrong"
        return None


class ToolServer:
    """The server of the tools of one client."""

    def __init__(self, tools: Sequence[PythonTool]) -> None:
        self._tools = tools
        self._token = secrets.token_urlsafe(32)
        self._socket: socket.socket | None = None
        self._application: AccessCheck | None = None
        self._server: Any = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start to listen. Raise HarnessError."""
        listener = socket.socket()
        self._socket = listener
        try:
            listener.bind((LOOPBACK_ADDRESS, 0))
            application, uvicorn = await call_in_thread(_build_application, self._tools)
            self._application = guarded = AccessCheck(application, self._token, self.port)
            started = asyncio.Event()
            self._server = _make_server(uvicorn, guarded, started)
            self._task = asyncio.create_task(self._server.serve(sockets=[listener]))
            waiting = asyncio.ensure_future(started.wait())
            try:
                await asyncio.wait({waiting, self._task}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()
            if not started.is_set():
                raise HarnessError("the server of the tools did not start", code="tools")
        except BaseException:
            await self.close()
            raise

    @property
    def port(self) -> int:
        """Return the port on which the server listens."""
        assert self._socket
        return self._socket.getsockname()[1]

    def entry(self) -> dict[str, Any]:
        """Return the entry of the server in a file of MCP servers."""
        url = f"http://{LOOPBACK_ADDRESS}:{self.port}{PATH}"
        return {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {self._token}"}}

    async def close(self) -> None:
        """Stop to listen. Running calls are cancelled."""
        if self._server and self._task:
            if self._application:
                self._application.cancel_requests()
            self._server.should_exit = True
            await asyncio.wait({self._task}, timeout=STOP_WAIT_S)
            self._task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._task
        if self._socket:
            self._socket.close()


def _build_application(tools: Sequence[PythonTool]) -> tuple[Application, Any]:
    """Return the application and the module `uvicorn`. Raise HarnessError."""
    try:
        import uvicorn
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        message = f"tools need the extra `mcp`: {error}; run: {install_command('mcp')}"
        raise HarnessError(message, code="missing_extra") from error
    root = logging.getLogger()
    # with a handler in place, the library does not change the logging of the program
    placeholder = logging.NullHandler()
    root.addHandler(placeholder)
    try:
        server = MCPServer("lsp-harness-sdk", log_level="ERROR")
    finally:
        root.removeHandler(placeholder)
    for item in tools:
        try:
            server.add_tool(item.as_async(ToolError), name=item.name, description=item.description)
        except Exception as error:
            raise HarnessError(f"{item.name} cannot be a tool: {error}", code="tools") from error
    return server.streamable_http_app(streamable_http_path=PATH, host=LOOPBACK_ADDRESS), uvicorn


def _make_server(uvicorn: Any, application: Application, started: asyncio.Event) -> Any:
    class Server(uvicorn.Server):
        """A server that leaves the signals to the program, and says when it listens."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)  # pyright: ignore[reportUnknownMemberType] - uvicorn is imported late
            started.set()

        @contextmanager
        def capture_signals(self) -> Generator[None, None, None]:
            yield

    config = uvicorn.Config(
        application, log_config=None, access_log=False, lifespan="on", ws="none", timeout_graceful_shutdown=1
    )
    return Server(config)
