"""`lsp-harness serve`: the server of one client, over the standard streams, a loopback socket or a WebSocket."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING

from lsp_harness.config.load import ConfigLoader
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.process.process_table import is_alive
from lsp_harness.process.signals import handle_signal
from lsp_harness.server import handshake, server_log
from lsp_harness.server.handshake import Greeting
from lsp_harness.server.server_log import stderr_log
from lsp_harness.server.transport.transport import Transport

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.server.editor_client import EditorClient
    from lsp_harness.workspace.workspace import Workspace

    MakeHarness = Callable[[Config, Workspace], Harness]

log = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_S = 5.0
"""Time that background work has to end before the server ends."""
POLL_INTERVAL_S = 2.0
"""Time between two looks whether the process of the editor is still there: a socket may stay open after its end."""


def serve(make_harness: "MakeHarness", load: ConfigLoader, *, tcp: str | None = None, ws: str | None = None) -> int:
    """Serve one client until it leaves.

    Args:
        make_harness: Creates the harness.
        load: Reads the settings of a project.
        tcp: The address to listen on, `HOST:PORT`, or None.
        ws: The same for a WebSocket. Without both, the client is at the standard streams.

    Returns:
        The exit status of the process.
    """
    logging.basicConfig(level=logging.WARNING, handlers=[stderr_log()])
    # at level INFO, pygls logs the body of every message, which has the source code of the user
    logging.getLogger("pygls").setLevel(logging.WARNING)
    try:
        return asyncio.run(_serve(make_harness, load, tcp, ws))
    except HarnessError as error:
        sys.stderr.write(f"lsp-harness: {error.message}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"lsp-harness: {error.strerror or error}\n")
        return 1


async def _serve(make_harness: "MakeHarness", load: ConfigLoader, tcp: str | None, ws: str | None) -> int:
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    if task is not None:
        for number in (signal.SIGTERM, signal.SIGINT):
            handle_signal(loop, number, task.cancel)
    transport: Transport | None = None
    try:
        # a signal may also arrive before there is a connection
        transport = await _connect(tcp, ws)
        messages = transport.messages()
        greeting = await handshake.greet(transport, messages)
        with server_log.forward_warnings() as warnings:
            return (
                1
                if greeting is None
                else await _serve_client(make_harness, load, greeting, transport, messages, warnings)
            )
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    finally:
        if transport is not None:
            await transport.aclose()


async def _connect(tcp: str | None, ws: str | None) -> Transport:
    if tcp is not None and ws is not None:
        raise UsageError("--tcp and --ws exclude each other; choose one")
    if tcp is not None:
        from lsp_harness.server.transport.tcp import accept_tcp, parse_address

        return await accept_tcp(parse_address(tcp))
    if ws is not None:
        from lsp_harness.server.transport.tcp import parse_address
        from lsp_harness.server.transport.websocket import accept_ws

        return await accept_ws(parse_address(ws))
    from lsp_harness.server.transport.stdio import open_stdio

    return await open_stdio()


async def _serve_client(
    make_harness: "MakeHarness",
    load: ConfigLoader,
    greeting: Greeting,
    transport: Transport,
    messages: AsyncIterator[bytes],
    warnings: server_log.WarningForwarder,
) -> int:
    client = _create_client(make_harness, load, greeting, transport)
    warnings.send_to(client.send_log_message)

    async def receive_messages() -> int:
        protocol = client.server.lsp
        async for body in messages:
            protocol.receive(body)
            if client.exit_status.done():
                break
            await transport.drain()
        return client.exit_status.result() if client.exit_status.done() else 0 if protocol.is_shut_down else 1

    async def watch_editor(pid: int) -> int:
        await _wait_for_end(pid)
        log.warning("the editor (process %d) has ended", pid)
        return 1

    tasks = [asyncio.create_task(receive_messages())]
    if greeting.process_id is not None:
        tasks.append(asyncio.create_task(watch_editor(greeting.process_id)))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await _close(client)


def _create_client(
    make_harness: "MakeHarness", load: ConfigLoader, greeting: Greeting, transport: Transport
) -> "EditorClient":
    """Create the client. The LSP types are imported here, after `initialize` was answered."""
    from lsp_harness.server import client_settings, file_watching, progress
    from lsp_harness.server.agent_feed import AgentDiagnostics, AgentFeed
    from lsp_harness.server.client_edits import change_open_text
    from lsp_harness.server.editor_client import EditorClient
    from lsp_harness.server.features.feature_binding import bind
    from lsp_harness.server.features.feature_table import FEATURES
    from lsp_harness.server.protocol import LspServer
    from lsp_harness.server.session_feed import SessionFeed
    from lsp_harness.workspace.workspace import Workspace

    # the settings of a folder that the user does not trust do not count
    project = greeting.roots[0] if greeting.roots and greeting.is_trusted else None
    base, problems = load(project)
    config, faults = client_settings.merge(base, greeting.settings, greeting.roots) if greeting.settings else (base, [])
    harness = make_harness(config, Workspace(greeting.roots, is_trusted=greeting.is_trusted))
    client = EditorClient(LspServer(transport), harness, greeting.capabilities, config)
    client.initial_settings = greeting.settings
    client.project = project
    client.load_project = lambda: load(project)
    harness.events.subscribe(progress.index_listener(client))
    harness.events.subscribe(progress.verification_listener(client))
    harness.events.subscribe(SessionFeed(client).handle)
    harness.events.subscribe(AgentFeed(client).handle)
    file_watching.listen(client)
    diagnostics = AgentDiagnostics(client)
    harness.events.subscribe(diagnostics.handle)
    client.text_listeners.append(diagnostics.follow)
    if greeting.capabilities.apply_edit:
        harness.services.apply_edit = partial(change_open_text, client)
    bind(client, FEATURES)
    client_settings.report(client, problems)
    for fault in faults:
        client.warn(fault)
    return client


async def _close(client: "EditorClient") -> None:
    """End all work. The editor waits for the end of the process, so there is a time limit."""
    try:
        async with asyncio.timeout(SHUTDOWN_TIMEOUT_S):
            await client.aclose()
            await client.harness.aclose()
    except TimeoutError:
        log.warning("background work did not end in time")
    except HarnessError as error:
        log.warning("%s", error.message)
    except Exception:
        log.exception("closing the connection failed")


async def _wait_for_end(pid: int) -> None:
    """Return when a process has ended.

    If there is no such process at the first call, never return: the number is from another PID namespace (a container)
    and says nothing about the client.
    """
    if not is_alive(pid):
        log.info("process %d is not visible from here and is not watched", pid)
        await asyncio.Event().wait()
    is_parent = os.getppid() == pid
    while is_alive(pid) and (not is_parent or os.getppid() == pid):  # noqa: ASYNC110 - no event tells of the end
        await asyncio.sleep(POLL_INTERVAL_S)
