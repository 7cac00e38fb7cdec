"""The terminal of an agent in the terminal of the user, until the agent ends or the user leaves it."""

import asyncio
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from lsp_harness.cli.agents.api_client import ApiClient, agent_path
from lsp_harness.errors import UsageError
from lsp_harness.extras import need_extra
from lsp_harness.process.raw_terminal import pressed_keys, raw_mode, watched_size

LEAVE_KEY = b"\x1d"
"""Ctrl-], which leaves the terminal and lets the agent go on."""
RESET = "\x1b[0m\x1b[?25h\x1b[?1049l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\r\n"
"""Ends what the agent may have switched on: styles, the second screen, paste marks and the mouse."""


async def attach_terminal(client: ApiClient, agent: str) -> str:
    """Connect the terminals. Return why it ended.

    Raises:
        UsageError: Standard input is no terminal, or the server does not answer.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("attach needs a terminal; read the output with `lsp-harness agents logs`")
    with need_extra("runtime"):
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

    # an error of the agent is said better by HTTP
    client.request("GET", agent_path(agent, "screen"))
    url = f"{client.state.url.replace('http', 'ws', 1)}/ws{agent_path(agent, 'terminal')}?mode=binary"
    try:
        async with connect(url, additional_headers=client.headers, max_size=None, compression=None) as socket:
            with _raw_terminal():
                return await _pass_bytes(socket)
    except (OSError, WebSocketException) as error:
        raise UsageError("the server does not answer; start it again with `lsp-harness api`") from error


async def _pass_bytes(socket: Any) -> str:
    left = asyncio.Event()
    sending: asyncio.Queue[bytes | str] = asyncio.Queue()

    def take_keys(keys: bytes) -> None:
        if not keys or LEAVE_KEY in keys:
            left.set()
        if keys := keys.partition(LEAVE_KEY)[0]:
            sending.put_nowait(keys)

    def send_size(columns: int, rows: int) -> None:
        sending.put_nowait(json.dumps({"type": "resize", "cols": columns, "rows": rows}))

    async def send() -> None:
        while True:
            await socket.send(await sending.get())

    with pressed_keys(sys.stdin.fileno(), take_keys), watched_size(sys.stdout.fileno(), send_size):
        tasks = [asyncio.ensure_future(work) for work in (send(), _show(socket), left.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return "detached" if left.is_set() else "the agent has ended"
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _show(socket: Any) -> None:
    async for message in socket:
        if isinstance(message, bytes):
            sys.stdout.buffer.write(message)
            sys.stdout.buffer.flush()


@contextmanager
def _raw_terminal() -> Generator[None]:
    """Give the agent each key as it is pressed, until the block ends."""
    try:
        with raw_mode(sys.stdin.fileno(), sys.stdout.fileno()):
            yield
    finally:
        with suppress(OSError):
            sys.stdout.write(RESET)
            sys.stdout.flush()
