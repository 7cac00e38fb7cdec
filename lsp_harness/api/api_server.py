"""The server process: it opens the port, serves until a signal comes, and ends all agents.

Its log on standard error has neither secrets nor control characters.
"""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import uvicorn

from lsp_harness.agents.agent_verbs import AgentVerbs
from lsp_harness.api.access.api_state import ApiState, remove_state, write_state
from lsp_harness.api.access.bounded_protocol import MAX_HEAD_BYTES, BoundedProtocol
from lsp_harness.api.api_app import make_app
from lsp_harness.api.api_context import ApiContext
from lsp_harness.api.api_settings import ApiSettings
from lsp_harness.api.browser_access import BrowserAccess
from lsp_harness.config.schema import Config
from lsp_harness.errors import UsageError
from lsp_harness.files.folders import resolve_links
from lsp_harness.files.secrets import redact
from lsp_harness.harness.harness import Harness
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.process.signals import ENDING_SIGNALS
from lsp_harness.sessions.session_verbs import SessionVerbs
from lsp_harness.workspace.workspace import Workspace

LISTEN_ADDRESS = "127.0.0.1"
LISTEN_ADDRESS_6 = "::1"
MAX_MESSAGE_BYTES = 1_100_000
"""Size of the largest message of a WebSocket."""
GRACE_S = 1
ReportStart = Callable[[ApiState, BrowserAccess], None]


def listen(port: int) -> list[socket.socket]:
    """Return the listening sockets: `127.0.0.1`, and `::1` where it exists, so that nobody else has `localhost`.

    Raises:
        UsageError: The port is in use.
    """
    try:
        first = socket.create_server((LISTEN_ADDRESS, port))
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is out of range"
        raise UsageError(f"the port {port} cannot be used: {reason}; choose another one with --port") from None
    sockets = [first]
    with suppress(OSError):
        sockets.append(socket.create_server((LISTEN_ADDRESS_6, first.getsockname()[1]), family=socket.AF_INET6))
    return sockets


async def serve(
    settings: ApiSettings,
    roots: Sequence[Path],
    read_settings: Callable[[Path], Config],
    report_start: ReportStart,
) -> int:
    """Serve until a signal comes. Return the exit status.

    Args:
        settings: The settings of the server.
        roots: The folders in which sessions and agents may work. The settings are those of the first one.
        read_settings: Returns the settings of a folder.
        report_start: Is told that the server listens.

    Raises:
        UsageError: A folder does not exist, or the port is in use.
    """
    folders = [resolve_links(root) for root in roots]
    if missing := next((root for root in folders if not root.is_dir()), None):
        raise UsageError(f"{missing} is not a folder; name an existing one with --root")
    config = read_settings(folders[0])
    start_log(sys.stderr, settings.log_level)
    sockets = listen(settings.port)
    port = sockets[0].getsockname()[1]
    context = _create_context(settings, folders, config, read_settings)
    context.url = f"http://{LISTEN_ADDRESS}:{port}"
    state = write_state(port)
    try:
        server = uvicorn.Server(_uvicorn_config(make_app(context, state.token, port), settings))
        _stop_on_signals(server)
        report_start(state, context.browsers)
        await server.serve(sockets=sockets)
    finally:
        remove_state(state)
        for listener in sockets:
            listener.close()
        await asyncio.shield(context.aclose())
    return 0


def _create_context(
    settings: ApiSettings,
    roots: Sequence[Path],
    config: Config,
    read_settings: Callable[[Path], Config],
) -> ApiContext:
    harness = Harness(config, make_engine, Workspace(roots))
    agents, sessions = AgentVerbs(harness.services), SessionVerbs(harness.services, "http")
    agents.limit(max_agents=settings.max_agents, default_timeout_s=settings.default_timeout_s)
    # whoever has the token can answer what the permission gate asks
    agents.gate.has_person = True
    return ApiContext(settings, roots, harness, sessions, agents, BrowserAccess(), read_settings)


def _uvicorn_config(app: object, settings: ApiSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # pyright: ignore[reportArgumentType] - an ASGI application
        http=BoundedProtocol,
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE_BYTES,
        # a small compressed message could become a large one
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        # connections that are accepted at once, before the first of them can be refused
        backlog=128,
        # our own lines have no queries, which may hold codes
        access_log=False,
        log_config=None,
        log_level=logging.WARNING,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )


def _stop_on_signals(server: uvicorn.Server) -> None:
    def stop(*_: object) -> None:
        server.should_exit = True

    # uvicorn raises the signal that stopped it again. Without these handlers it would end the process before its agents
    for number in (signal.SIGINT, *ENDING_SIGNALS):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


LOGGERS = ("lsp_harness", "uvicorn", "sse_starlette")
REFUSED_SOCKET = "ASGI callable returned without completing handshake."
"""The line of the library for a WebSocket that was answered with an error of HTTP. Our own line says which one."""
INVALID_TEXT = "Invalid UTF-8 sequence received from client."
"""The line of the library for a message of a client that is no text."""


class SafeLines(logging.Formatter):
    """Removes secrets from log records and their tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the log line of a record, with secrets removed."""
        return redact(super().format(record))


def drop_noise(record: logging.LogRecord) -> bool:
    """Return whether a record is shown. A mistake of a client is at most one line, without a traceback."""
    if record.msg == INVALID_TEXT:
        record.exc_info = record.exc_text = None
    return record.msg != REFUSED_SOCKET


def start_log(stream: TextIO, level: str) -> None:
    """Write the lines of the server to a stream, from a level on."""
    handler = logging.StreamHandler(stream)
    handler.addFilter(drop_noise)
    handler.setFormatter(SafeLines("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        # the lines of the libraries below a warning say nothing about requests that ours do not say
        logger.setLevel(level.upper() if name == "lsp_harness" else "WARNING")
