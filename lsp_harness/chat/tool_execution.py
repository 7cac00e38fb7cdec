"""Runs the tool calls of a model: validation, the permission gate, the tool, and the record of the result."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from lsp_harness.chat.conversation_steps import CallResult
from lsp_harness.chat.schema_check import find_input_problem
from lsp_harness.chat.tool import CallContext, Tool
from lsp_harness.errors import HarnessError
from lsp_harness.events.model_events import ToolCall
from lsp_harness.events.tool_events import ToolCompleted, ToolFailed, ToolStarted
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.permission.action import Action, Decision
from lsp_harness.permission.hooks import Hooks

MAX_EQUAL_CALLS = 3
"""Calls of one tool with the same input in a row. The last one is refused."""


class ToolGate(Protocol):
    """Decides about side effects."""

    async def check(self, action: Action) -> Decision:
        """Return the decision about an action. This raises nothing."""
        ...

    def asks(self, action: Action) -> bool:
        """Return whether a person is asked about an action, which may read its files without a question."""
        ...


@runtime_checkable
class CheckedTool(Protocol):
    """A tool whose work is checked, so that a person can be asked with what the checks found."""

    async def find_findings(self, input: Mapping[str, Any]) -> Sequence[str]:
        """Return what the checks of the tools find wrong with the result of a call.

        Raises:
            HarnessError: The call cannot be made.
        """
        ...


class ToolExecution:
    """The tools of a session, and what their calls must pass.

    Args:
        tools: The tools by their names.
        gate: Decides about every call.
        artifacts: Keeps large outputs.
        hooks: Hear of the results of calls.
        before_call: Called before each call that is allowed, for checkpoints.
        after_call: Called after each call that ran, for checkpoints.
        hidden: Tools that the model does not see. A model that calls one hears from the gate why it may not.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        gate: ToolGate,
        artifacts: ArtifactStore,
        hooks: Hooks | None = None,
        before_call: Callable[[Action], Awaitable[None]] | None = None,
        after_call: Callable[[], Awaitable[None]] | None = None,
        hidden: Mapping[str, Tool] | None = None,
    ) -> None:
        self._tools = tools
        self._gate = gate
        self._artifacts = artifacts
        self._before_call = before_call
        self._after_call = after_call
        self._hidden: Mapping[str, Tool] = {} if hidden is None else hidden
        self._hooks = hooks or Hooks()
        self._last_call: tuple[str, str] = ("", "")
        self._equal_calls = 0

    def repeats(self, tool: str, given: Mapping[str, Any]) -> bool:
        """Return whether a call is equal to the last one."""
        return self._last_call == _call_key(tool, given)

    def promote(self, text: str, call_id: str) -> str:
        """Keep an output as an artifact and return its id. The id is empty if it cannot be written."""
        try:
            return self._artifacts.store(text, "tool_output", call_id).artifact_id
        except HarnessError:
            return ""

    async def run(self, call: ToolCall, turn: Turn) -> CallResult:
        """Run one call. Every call gets exactly one result in the log, whatever happens.

        Raises:
            asyncio.CancelledError: The turn was interrupted. The loop records the result.
        """
        tool = self._tools.get(call.tool) or self._hidden.get(call.tool)
        turn.append(ToolStarted(call.call_id, call.tool, call.input))
        if tool is None:
            names = ", ".join(self._tools) or "none"
            return self._fail(turn, call, "unknown_tool", f"there is no tool {call.tool!r}; the tools are: {names}")
        if problem := find_input_problem(tool, call.input):
            return self._fail(turn, call, "invalid_input", problem)
        if self._count_equal(call) >= MAX_EQUAL_CALLS:
            message = (
                f"{call.tool} was called with the same input {self._equal_calls} times in a row; the result will not "
                "change, so do something else or answer"
            )
            return self._fail(turn, call, "repeated", message)
        try:
            result = await self._run_allowed(tool, call, turn)
        except HarnessError as error:
            result = self._fail(turn, call, "error", error.message)
        except Exception as error:  # noqa: BLE001 - a tool of somebody else must not end the turn
            result = self._fail(turn, call, "error", f"{type(error).__name__}: {error}")
        facts = {
            "session_id": turn.session_id,
            "tool": call.tool,
            "tool_input": dict(call.input),
            "call_id": call.call_id,
            "output": result.output,
        }
        await self._hooks.run("postToolUseFailure" if result.is_error else "postToolUse", facts)
        return result

    def refuse(self, call: ToolCall, problem: str, turn: Turn) -> CallResult:
        """Record that a call could not be read. The model reads the problem as its result."""
        turn.append(ToolStarted(call.call_id, call.tool, call.input))
        return self._fail(turn, call, "invalid_input", problem)

    async def _run_allowed(self, tool: Tool, call: ToolCall, turn: Turn) -> CallResult:
        action = replace(tool.action(call.input), call_id=call.call_id, session_id=turn.session_id)
        if isinstance(tool, CheckedTool) and self._gate.asks(action):
            # a person should not think about a call that must fail
            action = replace(action, findings=tuple(await tool.find_findings(call.input)))
        decision = await self._gate.check(action)
        if not decision.is_allowed:
            reason = "not_allowed" if decision.by == "tools" else "denied"
            # a person who refuses wants the model to stop, and not to try another way
            ends_turn = decision.by == "person"
            return self._fail(turn, call, reason, f"not allowed: {decision.reason}", ends_turn=ends_turn)
        call_input = call.input if decision.updated_input is None else decision.updated_input
        if self._before_call:
            await self._before_call(replace(tool.action(call_input), session_id=turn.session_id))
        started_s = time.monotonic()
        try:
            context = CallContext(
                call.call_id,
                _make_reporter(turn, call),
                self._gate.check,
                only_reads=decision.only_reads,
                seen_findings=action.findings if decision.by == "person" and call_input is call.input else (),
            )
            result = await tool.run(call_input, context)
        finally:
            if self._after_call:
                await self._after_call()
        if decision.context:
            result = replace(result, text=f"{result.text}\n{decision.context}")
        if result.is_error:
            return self._fail(turn, call, "error", result.text, artifact_id=result.artifact_id)
        output, artifact_id = self._artifacts.shorten(result.text, "tool_output", call.call_id)
        ms = round(1000 * (time.monotonic() - started_s))
        whole = artifact_id or result.artifact_id
        turn.append(ToolCompleted(call.call_id, call.tool, output, whole, result.findings, ms))
        return CallResult(call.call_id, output=output)

    def _count_equal(self, call: ToolCall) -> int:
        """Return how often this call was made in a row, with this one."""
        key = _call_key(call.tool, call.input)
        self._equal_calls = self._equal_calls + 1 if key == self._last_call else 1
        self._last_call = key
        return self._equal_calls

    def _fail(
        self, turn: Turn, call: ToolCall, reason: str, message: str, *, ends_turn: bool = False, artifact_id: str = ""
    ) -> CallResult:
        output, whole = self._artifacts.shorten(message, "tool_output", call.call_id)
        turn.append(ToolFailed(call.call_id, call.tool, reason, output, whole or artifact_id))
        return CallResult(call.call_id, is_error=True, ends_turn=ends_turn, output=output)


def _make_reporter(turn: Turn, call: ToolCall) -> Callable[[str], None]:
    return lambda text: turn.send_frame("tool.output.delta", call_id=call.call_id, content=text)


def _call_key(tool: str, given: Mapping[str, Any]) -> tuple[str, str]:
    """Return a key by which equal calls are found."""
    return tool, repr(sorted(given.items()))
