"""The course of one tool call: its progress for the client, and its errors in words for the model."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from lsp_harness.errors import HarnessError

T = TypeVar("T")
MAX_MESSAGE_CHARS = 200

CallContext = Context[Any, Any]
"""The context that the library gives to a tool or a resource."""


async def follow_call(context: CallContext, work: Callable[[Callable[[str], None]], Awaitable[T]]) -> T:
    """Do the work of a call, report its progress to the client, and let a model read what went wrong.

    Args:
        context: The context of the call.
        work: The work. It gets a function that receives lines of progress.

    Raises:
        ToolError: The work raised HarnessError.
    """
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    sending = asyncio.ensure_future(_send(context, lines))
    try:
        return await work(lines.put_nowait)
    except HarnessError as error:
        raise ToolError(error.message) from error
    finally:
        lines.put_nowait(None)
        try:
            await sending
        finally:
            sending.cancel()


async def _send(context: CallContext, lines: "asyncio.Queue[str | None]") -> None:
    number = 0
    while (line := await lines.get()) is not None:
        number += 1
        # a client that is gone gets no answer either
        with suppress(Exception):
            await context.report_progress(number, None, " ".join(line.split())[:MAX_MESSAGE_CHARS])
