"""The hooks of a session: which of them an event concerns, how each is called, and how their answers are merged.

A denial of any hook wins, whatever the order is: no hook of a project can undo a denial of the user. Otherwise the
first hook with an opinion decides. The contexts of all hooks are joined.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from lsp_harness.errors import ExtraMissing
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.tool_events import HookDecision
from lsp_harness.extras import need_extra
from lsp_harness.permission.glob_patterns import matches
from lsp_harness.permission.tool_callback import call_in_thread
from lsp_harness.process.tool_run import run_tool

HookVerdict = Literal["allow", "deny", "ask", ""]
HookFunction = Callable[[Mapping[str, Any]], Any | Awaitable[Any]]
"""A function of the payload. It returns None or an object with the keys of `HookAnswer`."""
DEFAULT_HOOK_TIMEOUT_S = 10.0

HOOK_EVENTS: Mapping[str, bool] = {
    "sessionStart": False,
    "sessionEnd": False,
    "preToolUse": True,
    "postToolUse": False,
    "postToolUseFailure": False,
    "userPromptSubmit": True,
    "permissionRequest": True,
    "fileChanged": False,
    "cwdChanged": False,
    "subagentStart": True,
    "subagentStop": False,
    "preCompact": True,
    "postCompact": False,
    "configChange": True,
    "notification": False,
    "turnStart": True,
    "turnStop": False,
}
"""Event → whether its hooks can block. A blocking hook that fails denies; another one that fails is ignored."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook. Exactly one of `command`, `url` and `function` is set.

    Attributes:
        event: The event, one of `HOOK_EVENTS`.
        matcher: A pattern for tools, such as `Bash` or `mcp__*`. Empty is every event, also those without a tool.
        command: A shell command. It reads the payload as JSON.
        url: An address to which the payload is posted as JSON.
        function: A function in this process.
        timeout_s: How long it may take.
    """

    event: str
    matcher: str = ""
    command: str = ""
    url: str = ""
    function: HookFunction | None = None
    timeout_s: float = DEFAULT_HOOK_TIMEOUT_S

    @property
    def name(self) -> str:
        """Return the command, the address or the name of the function."""
        return self.command or self.url or getattr(self.function, "__name__", "function")


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The answer of one hook. An empty decision is no opinion."""

    decision: HookVerdict = ""
    reason: str = ""
    updated_input: Mapping[str, Any] | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class HookOutcome:
    """The merged answers of the hooks of an event.

    Attributes:
        decision: Deny if any hook denied. Otherwise the first allow or ask; empty if no hook has an opinion.
        reason: The reason of the hook that decided.
        hook: The name of the hook that decided.
        updated_input: The last input that a hook put in place of that of the action.
        context: The contexts of all hooks that ran.
    """

    decision: HookVerdict = ""
    reason: str = ""
    hook: str = ""
    updated_input: Mapping[str, Any] | None = None
    context: str = ""

    @property
    def is_denied(self) -> bool:
        """Return whether a hook forbids what the event is about."""
        return self.decision == "deny"


class HookError(Exception):
    """The failure of a hook: it ended with an error, took too long, or gave an answer that is not valid."""


ANSWER_KEYS = frozenset({"decision", "reason", "updated_input", "context"})
DENY_EXIT_CODE = 2
MAX_ANSWER_BYTES = 1_000_000
MAX_REASON_CHARS = 2_000
WORDS = ("allow", "deny", "ask", "")


async def run_hook(hook: Hook, payload: Mapping[str, Any], folder: Path | None = None) -> HookAnswer:
    """Return the answer of a hook. The caller limits the time.

    Raises:
        HookError: The hook failed.
    """
    if hook.function is not None:
        return await _call_function(hook, payload)
    try:
        data = json.dumps(payload, default=str).encode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError) as error:
        raise HookError(f"the payload is no JSON: {error}") from error
    return await (_post(hook, data) if hook.url else _run_command(hook, data, folder))


async def _call_function(hook: Hook, payload: Mapping[str, Any]) -> HookAnswer:
    function = hook.function
    assert function is not None
    if inspect.iscoroutinefunction(function):
        answer = await function(payload)
    else:
        answer = await call_in_thread(lambda: function(payload))
        if inspect.isawaitable(answer):
            answer = await answer
    return HookAnswer() if answer is None else answer if isinstance(answer, HookAnswer) else read_hook_answer(answer)


async def _run_command(hook: Hook, data: bytes, folder: Path | None) -> HookAnswer:
    try:
        # one second more than the caller waits, so that the process is killed in any case
        result = await run_tool(["/bin/sh", "-c", hook.command], stdin=data, cwd=folder, limit_s=hook.timeout_s + 1)
    except (OSError, ValueError) as error:
        raise HookError(f"the command cannot be started: {error}") from error
    errors = result.stderr.decode("utf-8", "replace").strip()[:MAX_REASON_CHARS]
    if result.exit_code == DENY_EXIT_CODE:
        return HookAnswer("deny", errors)
    if result.exit_code != 0:
        last = errors.splitlines()[-1:] or [""]
        raise HookError(f"the command ended with status {result.exit_code} {last[0]}".rstrip())
    return _read_json(result.stdout)


async def _post(hook: Hook, data: bytes) -> HookAnswer:
    # the import takes a tenth of a second, and most sessions have no such hook
    try:
        with need_extra("engine"):
            import httpx2
    except ExtraMissing as error:
        raise HookError(error.message) from error
    try:
        async with httpx2.AsyncClient(timeout=hook.timeout_s, follow_redirects=False) as client:
            response = await client.post(hook.url, content=data, headers={"content-type": "application/json"})
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, OSError) as error:
        raise HookError(f"{hook.url} cannot be reached: {type(error).__name__} {error}".rstrip()) from error
    if not response.is_success:
        raise HookError(f"{hook.url} answered {response.status_code}")
    return _read_json(response.content)


def _read_json(data: bytes) -> HookAnswer:
    if len(data) > MAX_ANSWER_BYTES:
        raise HookError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
    text = data.strip()
    if not text.startswith(b"{"):
        # other output is for people
        return HookAnswer()
    try:
        return read_hook_answer(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise HookError(f"the answer is not valid JSON: {error}") from error


def read_hook_answer(answer: object) -> HookAnswer:
    """Return a valid answer.

    Raises:
        HookError: It is not valid. The message says why.
    """
    if isinstance(answer, str):
        answer = {"decision": answer}
    if not isinstance(answer, Mapping):
        raise HookError(f"the answer is a {type(answer).__name__} and no object")
    values = cast("Mapping[str, Any]", answer)
    if unknown := [key for key in values if key not in ANSWER_KEYS]:
        raise HookError(f"the answer has the unknown key {unknown[0]!r}; the keys are {', '.join(sorted(ANSWER_KEYS))}")
    decision, reason, context = (values.get(key) or "" for key in ("decision", "reason", "context"))
    if not isinstance(decision, str) or decision not in WORDS:
        raise HookError(f"the decision is {decision!r} and not allow, deny or ask")
    if not isinstance(reason, str) or not isinstance(context, str):
        raise HookError("the reason and the context must be texts")
    updated = values.get("updated_input")
    if updated is not None and not isinstance(updated, Mapping):
        raise HookError("updated_input is no object")
    return HookAnswer(cast("Any", decision), reason, cast("Mapping[str, Any] | None", updated), context)


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
        """Add a hook. It runs after the other hooks of its event."""
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
            error = f"there was no answer within {hook.timeout_s:g} s"
        except HookError as failure:
            error = str(failure)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            error = "the hook was cancelled"
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
