"""Calls of synchronous functions of the user in threads.

The threads are daemons: a function that never returns must not keep the interpreter from ending, as a thread of the
default executor would.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


async def call_in_thread(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """Call a function in a thread of its own and return its result. The context variables are those of the caller."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if result.done():
            return
        if error is None:
            result.set_result(value)
        else:
            result.set_exception(error)

    def run() -> None:
        value, error = None, None
        try:
            value = context.run(function, *args, **keywords)
        except StopIteration as stop:
            # a future cannot have this exception
            error = RuntimeError(f"StopIteration: {stop}")
        except BaseException as raised:  # noqa: BLE001 - it is raised again in the task that waits
            error = raised
        # the loop may have ended meanwhile
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name="lsp-harness-sdk", daemon=True).start()
    return await result
