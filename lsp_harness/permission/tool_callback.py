"""The function of a program that decides about actions (`can_use_tool`). An error, no answer in time and a wrong answer
are denials with three different reasons.
"""

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

CallbackVerdict = Literal["allow", "deny", "ask"]
ToolCallback = Callable[[str, Mapping[str, Any]], Any]
"""A function of the name of a tool and the context of the call. It may be a coroutine function."""
WORDS: tuple[CallbackVerdict, ...] = ("allow", "deny", "ask")
ANSWER_KEYS = frozenset({"decision", "reason", "updated_input"})
DEFAULT_TIMEOUT_S = 30.0
MAX_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class CallbackAnswer:
    """A valid answer of a callback, or the denial that stands for a failed one."""

    decision: CallbackVerdict
    reason: str = ""
    updated_input: Mapping[str, Any] | None = None


async def call_callback(
    callback: ToolCallback, tool: str, context: Mapping[str, Any], timeout_s: float = DEFAULT_TIMEOUT_S
) -> CallbackAnswer:
    """Return the answer of a callback. Never raises, but for a cancellation of the caller."""
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            answer = await _call(callback, tool, context)
    except TimeoutError as error:
        if not limit.expired():
            return CallbackAnswer("deny", f"the permission callback failed: TimeoutError {error}".rstrip())
        seconds = f"{timeout_s:g} s"
        return CallbackAnswer("deny", f"the permission callback gave no answer within {seconds} (callback_timeout_s)")
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return CallbackAnswer("deny", "the permission callback failed: it was cancelled")
    except Exception as error:  # noqa: BLE001 - a function of a program may raise anything
        return CallbackAnswer("deny", f"the permission callback failed: {type(error).__name__}: {_show(error)}")
    return read_answer(answer)


def read_answer(answer: object) -> CallbackAnswer:
    """Return a valid answer, or a denial that says what is wrong with it."""
    if isinstance(answer, str) and answer in WORDS:
        return CallbackAnswer(answer)
    if not isinstance(answer, Mapping):
        return _refuse(f"{_show(answer)} instead of allow, deny, ask or a decision with a reason")
    values = cast("Mapping[object, object]", answer)
    decision, reason, updated = values.get("decision"), values.get("reason", ""), values.get("updated_input")
    if not isinstance(decision, str) or decision not in WORDS:
        return _refuse(f"the decision {_show(decision)} instead of allow, deny or ask")
    if unknown := [key for key in values if key not in ANSWER_KEYS]:
        return _refuse(f"the unknown key {_show(unknown[0])}; the keys are {', '.join(sorted(ANSWER_KEYS))}")
    if reason is not None and not isinstance(reason, str):
        return _refuse("a reason that is not a text")
    if updated is not None and not (isinstance(updated, Mapping) and all(isinstance(key, str) for key in updated)):  # type: ignore[reportUnknownVariableType]
        return _refuse("an updated_input that is not an object")
    return CallbackAnswer(decision, reason or "", cast("Mapping[str, Any] | None", updated))


def _refuse(what: str) -> CallbackAnswer:
    return CallbackAnswer("deny", f"the permission callback gave {what}")


def _show(value: object) -> str:
    try:
        text = str(value) if isinstance(value, BaseException) else repr(value)
    except Exception:  # noqa: BLE001 - `repr` of a foreign object may raise anything
        return f"a {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"


async def _call(callback: ToolCallback, tool: str, context: Mapping[str, Any]) -> Any:
    if inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(type(callback).__call__):
        return await callback(tool, context)
    answer = await call_in_thread(lambda: callback(tool, context))
    if inspect.isawaitable(answer):
        return await answer
    return answer


async def call_in_thread(function: Callable[[], Any]) -> Any:
    """Return the result of a function that runs in a thread of its own.

    The thread is a daemon, so that a function that never returns neither holds a worker of a pool nor the end of the
    process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    outcome = _Outcome()

    def settle() -> None:
        if future.done():
            return
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)

    def run() -> None:
        try:
            outcome.value = function()
        except BaseException as error:  # noqa: BLE001 - the caller waits for an outcome of any kind
            # a StopIteration cannot be set on a future, and an exit of the thread is not one of the process
            is_plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
            outcome.error = error if is_plain else RuntimeError(f"{type(error).__name__}: {error}")
        try:
            loop.call_soon_threadsafe(settle)
        except RuntimeError:
            # the loop has ended meanwhile, and nobody waits
            return

    threading.Thread(target=run, name="permission-callback", daemon=True).start()
    return await future


@dataclass(slots=True)
class _Outcome:
    value: Any = None
    error: BaseException | None = field(default=None)
