"""Calls of functions of the user: within a time limit, and those that are not async in threads.

The threads are daemons: a function that never returns must not keep the interpreter from ending, as a thread of the
default executor would.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class FunctionFailed(Exception):
    """A function of the user failed. The message says how, after the name of the function."""


async def call_function(function: Callable[[Any], Any], argument: Any, limit_s: float) -> Any:
    """Call a function, async or not, and return its result.

    Raises:
        FunctionFailed: It raised an exception, was cancelled, or did not answer in time.
    """
    task = asyncio.ensure_future(_call(function, argument))
    try:
        # not wait_for, which would wait for a function that ignores its cancellation
        await asyncio.wait({task}, timeout=limit_s)
    finally:
        if not task.done():
            task.cancel()
    if not task.done():
        raise FunctionFailed(f"did not answer within {limit_s:g} s")
    if task.cancelled():
        raise FunctionFailed("was cancelled")
    if error := task.exception():
        raise FunctionFailed(f"failed: {type(error).__name__}: {error}") from error
    return task.result()


async def _call(function: Callable[[Any], Any], argument: Any) -> Any:
    is_async = any(map(inspect.iscoroutinefunction, (function, type(function).__call__)))
    answer: Any = function(argument) if is_async else await call_in_thread(function, argument)
    return await answer if inspect.isawaitable(answer) else answer


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
