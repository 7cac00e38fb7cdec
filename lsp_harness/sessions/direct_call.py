"""A tool call that a person or a program makes, without a model. It passes the gate and is in the log as any other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsp_harness.events.model_events import ToolCall
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Ending
from lsp_harness.kernel.log.turn import current_turn
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.text.ulid import make_ulid


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The result of a call.

    Attributes:
        tool: The tool.
        output: What a model would read.
        is_error: Whether the call failed.
        reason: Why it failed: "error", "denied", "not_allowed", "invalid_input" or "unknown_tool".
        findings: What the checks report about the files that the tool changed.
        artifact_id: The artifact with the whole output, if it is large.
    """

    tool: str
    output: str
    is_error: bool
    reason: str = ""
    findings: tuple[str, ...] = ()
    artifact_id: str = ""


async def call_tool(opened: OpenSession, name: str, input: Mapping[str, Any]) -> CallOutcome:
    """Call a tool of a session in a turn of its own, and return the result."""
    call = ToolCall(make_ulid(), name, input)
    request = Ingress("command", _describe_call(name, input), source=opened.options.source)
    turn = opened.session.begin_turn(request, "tool")
    token = current_turn.set(turn)
    ending = Ending("error", "the call did not end")
    try:
        await opened.notices.tell_start()
        await opened.create_execution().run(call, turn)
        ending = Ending("completed", "pipeline_done")
    finally:
        current_turn.reset(token)
        opened.session.end_turn(turn, ending)
    event = next(
        event
        for event in reversed(opened.session.log.turns[turn.number])
        if event.type in ("tool.completed", "tool.failed") and event.data.get("call_id") == call.call_id
    )
    data = event.data
    return CallOutcome(
        name,
        str(data.get("output") or ""),
        event.type == "tool.failed",
        str(data.get("reason") or ""),
        tuple(data.get("findings") or ()),
        str(data.get("artifact_id") or ""),
    )


def _describe_call(name: str, input: Mapping[str, Any]) -> str:
    """Return the request in words: the tool, and the first line of the first text that it gets."""
    given = next((value for value in input.values() if isinstance(value, str) and value.strip()), "")
    return " ".join([f"call the tool {name}", *given.strip().splitlines()[:1]])
