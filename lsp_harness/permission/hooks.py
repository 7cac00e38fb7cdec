"""The hooks of a session: which of them an event concerns, and how their answers are merged.

A denial of any hook wins, whatever the order is: no hook of a project can undo a denial of the user. Otherwise the
first hook with an opinion decides. The contexts of all hooks are joined.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.tool_events import HookDecision
from lsp_harness.permission.glob_patterns import matches
from lsp_harness.permission.hook import HOOK_EVENTS, Hook, HookAnswer, HookError, HookOutcome
from lsp_harness.permission.hook_calls import run_hook


class Hooks:
    """The hooks of a session.

    Args:
        hooks: The hooks, in the order in which they run.
        record: Receives the event `hook.decision` of each run.
        folder: The folder in which commands run.
    """

    def __init__(
        self,
        hooks: Sequence[Hook] = (),
        record: Callable[[SessionEvent], object] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._hooks = list(hooks)
        self._record: Callable[[SessionEvent], object] = record or _drop
        self._folder = folder

    def add(self, hook: Hook) -> None:
        """Add a hook. It runs after the others of its event."""
        if hook.event not in HOOK_EVENTS:
            raise ValueError(f"{hook.event!r} is no event of hooks; they are {', '.join(HOOK_EVENTS)}")
        self._hooks.append(hook)

    def concerns(self, event: str, tool: str = "") -> bool:
        """Return whether a hook would run for an event."""
        return any(_is_about(hook, event, tool) for hook in self._hooks)

    async def run(self, event: str, payload: Mapping[str, Any]) -> HookOutcome:
        """Run the hooks of an event, one after the other, and return their merged answer.

        Args:
            event: One of `HOOK_EVENTS`.
            payload: The facts about the event. `tool` is compared with the matchers.

        Returns:
            The merged answer. A hook that fails denies if the event can be blocked; otherwise it is only recorded.
        """
        tool = str(payload.get("tool", ""))
        decided, contexts, updated = HookAnswer(), list[str](), None
        name = ""
        for hook in [hook for hook in self._hooks if _is_about(hook, event, tool)]:
            facts = (
                {"event": event, **payload} if updated is None else {"event": event, **payload, "tool_input": updated}
            )
            answer = await self._run_one(hook, facts, tool)
            contexts += [answer.context] if answer.context else []
            updated = answer.updated_input if answer.updated_input is not None else updated
            if answer.decision == "deny":
                return HookOutcome("deny", answer.reason, hook.name, None, "\n".join(contexts))
            if answer.decision and not decided.decision:
                decided, name = answer, hook.name
        return HookOutcome(decided.decision, decided.reason, name, updated, "\n".join(contexts))

    async def _run_one(self, hook: Hook, payload: Mapping[str, Any], tool: str) -> HookAnswer:
        is_blocking, error, answer = HOOK_EVENTS[hook.event], "", HookAnswer()
        try:
            async with asyncio.timeout(hook.timeout_s):
                answer = await run_hook(hook, payload, self._folder)
        except TimeoutError:
            error = f"it gave no answer within {hook.timeout_s:g} s"
        except HookError as failure:
            error = str(failure)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            error = "it was cancelled"
        except Exception as failure:  # noqa: BLE001 - a function of the user may raise anything
            error = f"{type(failure).__name__}: {failure}"
        if error:
            reason = f"the hook {hook.name} failed: {error}" if is_blocking else ""
            answer = HookAnswer("deny" if is_blocking else "", reason)
        elif not is_blocking:
            # what the event is about has already happened
            answer = HookAnswer("", answer.reason, None, answer.context)
        elif answer.decision == "deny" and not answer.reason:
            answer = HookAnswer("deny", f"the hook {hook.name} denies it", None, answer.context)
        call_id = str(payload.get("call_id", ""))
        texts = (hook.name, answer.decision, answer.reason, tool, answer.context, error, call_id)
        self._record(HookDecision(hook.event, *texts))
        return answer


def _drop(event: SessionEvent) -> None:
    """Record nothing."""


def _is_about(hook: Hook, event: str, tool: str) -> bool:
    if hook.event != event:
        return False
    if not hook.matcher:
        return True
    return any(matches(pattern.strip().casefold(), tool.casefold()) for pattern in hook.matcher.split("|"))
