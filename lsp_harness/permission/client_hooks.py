"""Hooks that are functions of the client: the session asks them by a frame, and the client answers by another one."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.permission.hooks import DEFAULT_HOOK_TIMEOUT_S, HOOK_EVENTS, Hook, HookError
from lsp_harness.text.ulid import make_ulid

KEYS = ("event", "matcher", "name", "timeout_s")


@dataclass(frozen=True, slots=True)
class ClientHook:
    """A function of the client.

    Attributes:
        event: The event, one of `HOOK_EVENTS`.
        matcher: A pattern for tools. Empty is every event.
        name: The name of the function, for the log.
        timeout_s: How long it may take.
    """

    event: str
    matcher: str = ""
    name: str = "function"
    timeout_s: float = DEFAULT_HOOK_TIMEOUT_S


def read_client_hooks(value: object) -> tuple[ClientHook, ...]:
    """Return the hooks of a JSON list.

    Raises:
        UsageError: It is not valid. The message says why.
    """
    if not isinstance(value, list | tuple):
        raise UsageError("client_hooks must be a list of objects")
    return tuple(map(_read_row, cast("Sequence[object]", value)))


def _read_row(row: object) -> ClientHook:
    if isinstance(row, ClientHook):
        return row
    if not isinstance(row, Mapping) or "event" not in row or not set(cast("Mapping[str, Any]", row)) <= set(KEYS):
        raise UsageError(f"a hook of client_hooks must be an object with {', '.join(KEYS)}")
    hook = ClientHook(**dict(cast("Mapping[str, Any]", row)))
    if hook.event not in HOOK_EVENTS:
        raise UsageError(f"{hook.event!r} is no event of hooks; they are {', '.join(HOOK_EVENTS)}")
    if not isinstance(hook.matcher, str) or not isinstance(hook.name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - it comes from JSON
        raise UsageError(f"the matcher and the name of the hook of {hook.event} must be texts")
    if type(hook.timeout_s) not in (int, float) or not 0 < hook.timeout_s < float("inf"):
        raise UsageError(f"timeout_s of the hook of {hook.event} must be a number above 0, not {hook.timeout_s!r}")
    return hook


class ClientHooks:
    """The functions of the client of a session.

    Attributes:
        send: Sends a frame to the client. Without it nobody answers, and every question fails at once.

    Args:
        hooks: The functions, in their order.
    """

    def __init__(self, hooks: Sequence[ClientHook] = ()) -> None:
        self.send: Callable[[Mapping[str, Any]], None] | None = None
        self._hooks = tuple(hooks)
        self._waiting: dict[str, asyncio.Future[Any]] = {}

    def hooks(self) -> list[Hook]:
        """Return the functions as hooks of a session. A subagent has those of its parent."""
        return [
            Hook(hook.event, hook.matcher, function=self._make_function(number, hook), timeout_s=hook.timeout_s)
            for number, hook in enumerate(self._hooks)
        ]

    def _make_function(self, number: int, hook: ClientHook) -> Callable[[Mapping[str, Any]], Awaitable[Any]]:
        async def ask(payload: Mapping[str, Any]) -> Any:
            return await self._ask(number, payload)

        ask.__name__ = hook.name
        return ask

    async def _ask(self, number: int, payload: Mapping[str, Any]) -> Any:
        if self.send is None:
            raise HookError("the client that has this function does not answer any more")
        # the client gets the same, whether it is in this process or not
        facts = json.loads(json.dumps(payload, default=str))
        request_id = make_ulid()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        try:
            self.send({"type": "hook_request", "request_id": request_id, "hook": number, "payload": facts})
            return await future
        finally:
            self._waiting.pop(request_id, None)

    def answer(self, request_id: str, fields: Mapping[str, Any]) -> None:
        """Give what a function returned (`answer`), or why it failed (`error`).

        Raises:
            UsageError: There is no such question.
        """
        future = self._waiting.get(request_id)
        if future is None or future.done():
            raise UsageError(f"there is no open question {request_id!r} to a hook; its time is over")
        if fields.get("error") is not None:
            future.set_exception(HookError(str(fields["error"])))
        else:
            future.set_result(fields.get("answer"))

    def end(self) -> None:
        """Fail all open questions to functions of the client, because the client has ended."""
        self.send = None
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(HookError("the client ended before it answered"))
