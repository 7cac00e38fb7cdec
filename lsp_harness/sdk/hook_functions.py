"""Python functions as hooks: how a program names them, and how they are run."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.sdk.daemon_thread import FunctionFailed, call_function
from lsp_harness.sdk.sdk_errors import HarnessError

HookFunction = Callable[[dict[str, Any]], Any | Awaitable[Any]]
HOOK_WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class HookMatcher:
    """A function that is asked about some tools only.

    Attributes:
        matcher: A pattern for tools, such as `Bash`, `edit|create` or `mcp__*`. Empty is every event.
        function: The function. It gets the facts about the event, and returns None, "allow", "deny", "ask", or a
            dictionary with `decision`, `reason`, `updated_input` and `context`.
        timeout: The seconds that it has for an answer.
    """

    matcher: str
    function: HookFunction
    timeout: float = HOOK_WAIT_S


HookTable = Mapping[str, Sequence[HookMatcher | HookFunction]]
"""Event, such as "preToolUse" → the functions, in the order in which they run."""


def collect_hooks(table: HookTable) -> list[tuple[str, HookMatcher]]:
    """Return the functions with their events. Their places in this list name them. Raise HarnessError."""
    hooks: list[tuple[str, HookMatcher]] = []
    if not isinstance(table, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers are checked
        raise _make_error("must be a dictionary of events and lists of functions")
    for event, functions in table.items():
        if not isinstance(functions, list | tuple):
            raise _make_error(f"has no list of functions for {event}")
        for item in functions:
            hook = item if isinstance(item, HookMatcher) else HookMatcher("", item)
            if not callable(hook.function):
                raise _make_error(f"has {item!r:.80} for {event}, which is no function and no HookMatcher")
            if type(hook.timeout) not in (int, float) or not 0 < hook.timeout < float("inf"):
                raise _make_error(f"has the timeout {hook.timeout!r} for {event}, and it must be a number above 0")
            hooks.append((event, hook))
    return hooks


def describe_hooks(table: HookTable) -> list[dict[str, Any]]:
    """Return what the session is told about the functions."""
    return [
        {"event": event, "matcher": hook.matcher, "name": _name(hook.function), "timeout_s": hook.timeout}
        for event, hook in collect_hooks(table)
    ]


async def run_hook(hook: HookMatcher, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a function, or why it failed, as the fields of the command `hook`. This never raises."""
    try:
        answer = await call_function(hook.function, dict(facts), hook.timeout)
        if isinstance(answer, Mapping):
            answer = dict(cast("Mapping[str, Any]", answer))
        # the session gets JSON
        json.dumps(answer)
    except FunctionFailed as error:
        return {"error": f"it {error}"}
    except (TypeError, ValueError, RecursionError) as error:
        return {"error": f"it returned something that is not JSON: {error}"}
    return {"answer": answer}


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _make_error(what: str) -> HarnessError:
    return HarnessError(f"hooks {what}", code="usage")
