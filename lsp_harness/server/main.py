"""`lsp-harness serve`: one client, over the standard streams, a loopback socket or a WebSocket."""

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from lsp_harness.config.load import ConfigLoader
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.server import handshake, log_forwarding
from lsp_harness.server.features.lifecycle.initialize import Greeting
from lsp_harness.server.redacting_log import stderr_log
from lsp_harness.server.transport import parent_process
from lsp_harness.server.transport.transport import Transport

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.server.editor_client import Client
    from lsp_harness.workspace.workspace import Workspace

    MakeHarness = Callable[[Config, Workspace], Harness]

log = logging.getLogger(__name__)

LEAVE_SECONDS = 5.0


def serve(make_harness: "MakeHarness", load: ConfigLoader, *, tcp: str | None = None, ws: str | None = None) -> int:
    """Runs until the client leaves; the exit status of the process. `load` reads the settings of a project."""
    logging.basicConfig(level=logging.WARNING, handlers=[stderr_log()])
    # at INFO pygls logs the body of every message: the user's source code
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
            loop.add_signal_handler(number, task.cancel)
    transport: Transport | None = None
    try:
        # a signal may come before there is a connection, too
        transport = await _connect(tcp, ws)
        messages = transport.messages()
        greeting = await handshake.greet(transport, messages)
        with log_forwarding.forwarded() as warnings:
            return (
                1 if greeting is None else await _converse(make_harness, load, greeting, transport, messages, warnings)
            )
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    finally:
        if transport is not None:
            await transport.aclose()


async def _connect(tcp: str | None, ws: str | None) -> Transport:
    if tcp is not None and ws is not None:
        raise UsageError("choose one of --tcp and --ws")
    if tcp is not None:
        from lsp_harness.server.transport import listen_address
        from lsp_harness.server.transport.tcp import accept_tcp

        return await accept_tcp(listen_address.parse(tcp))
    if ws is not None:
        from lsp_harness.server.transport import listen_address
        from lsp_harness.server.transport.websocket import accept_ws

        return await accept_ws(listen_address.parse(ws))
    from lsp_harness.server.transport.stdio import open_stdio

    return await open_stdio()


async def _converse(
    make_harness: "MakeHarness",
    load: ConfigLoader,
    greeting: Greeting,
    transport: Transport,
    messages: AsyncIterator[bytes],
    warnings: log_forwarding.Notices,
) -> int:
    client = _client(make_harness, load, greeting, transport)
    warnings.to(client.tell)

    async def listen() -> int:
        protocol = client.server.lsp
        async for body in messages:
            protocol.receive(body)
            if client.stopped.done():
                break
            await transport.drain()
        return client.stopped.result() if client.stopped.done() else 0 if protocol.shut else 1

    async def outlive(pid: int) -> int:
        await parent_process.gone(pid)
        log.warning("the editor (process %d) is gone", pid)
        return 1

    endings = [asyncio.create_task(listen())]
    if greeting.process_id is not None:
        endings.append(asyncio.create_task(outlive(greeting.process_id)))
    try:
        done, _ = await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for ending in endings:
            ending.cancel()
        await _leave(client)


def _client(make_harness: "MakeHarness", load: ConfigLoader, greeting: Greeting, transport: Transport) -> "Client":
    """Everything that knows LSP types is imported here, after `initialize` was answered."""
    from lsp_harness.server import client_settings, index_progress
    from lsp_harness.server.editor_client import Client
    from lsp_harness.server.feature_binding import bind
    from lsp_harness.server.feature_table import FEATURES
    from lsp_harness.server.protocol import Server
    from lsp_harness.workspace.workspace import Workspace

    # settings of a folder that is not trusted do not count either
    project = greeting.roots[0] if greeting.roots and greeting.trusted else None
    base, problems = load(project)
    settled, faults = client_settings.merged(base, greeting.options, greeting.roots) if greeting.options else (base, [])
    harness = make_harness(settled, Workspace(greeting.roots, is_trusted=greeting.trusted))
    client = Client(Server(transport), harness, greeting.abilities, settled)
    client.options = greeting.options or {}
    client.project = project
    client.load_project = lambda: load(project)
    harness.events.subscribe(index_progress.bars(client))
    bind(client, FEATURES)
    client_settings.report(client, problems)
    for fault in faults:
        client.warn(fault)
    return client


async def _leave(client: "Client") -> None:
    """Lets go of the engine, but does not keep the editor waiting for it."""
    try:
        async with asyncio.timeout(LEAVE_SECONDS):
            await client.aclose()
            await client.harness.aclose()
    except TimeoutError:
        log.warning("background work did not end in time")
    except HarnessError as error:
        log.warning("%s", error.message)
    except Exception:
        log.exception("leaving failed")
