"""The events of a session as updates of the Agent Client Protocol."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from acp import helpers
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    ContentToolCallContent,
    FileEditToolCallContent,
    PlanEntry,
    TerminalToolCallContent,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    UsageUpdate,
    UserMessageChunk,
)

from lsp_harness.files.secrets import redact
from lsp_harness.text.diff_reading import read_diff
from lsp_harness.text.visible_text import reveal_line
from lsp_harness.wire.event import Event

Update = (
    AgentMessageChunk
    | AgentPlanUpdate
    | AgentThoughtChunk
    | ToolCallProgress
    | ToolCallStart
    | UsageUpdate
    | UserMessageChunk
)
Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent
TOOL_KINDS: Mapping[str, Any] = {
    **dict.fromkeys(("read", "read_artifact", "read_task", "skill"), "read"),
    **dict.fromkeys(("glob", "grep", "find_symbol", "symbol_overview", "find_references", "find_tool"), "search"),
    **dict.fromkeys(("edit", "create", "replace_symbol_body", "insert_before_symbol", "insert_after_symbol"), "edit"),
    **dict.fromkeys(("bash", "wait_task", "cancel_task", "tests", "lint"), "execute"),
    "agent": "think",
}
"""Tool → its kind in the protocol. Others are `other`."""
STATES = {
    "UNDERSTAND": "Understand the request",
    "LOCATE": "Find the code",
    "PLAN": "Plan the edits",
    "GENERATE": "Write the edit",
    "VERIFY": "Check it",
}
"""States of a prompt of the driver `code` → their entries in the plan."""
MAX_OUTPUT_CHARS = 8_000
MAX_TITLE_CHARS = 120


class SessionUpdates:
    """Turns the events of one session into updates.

    Args:
        root: The folder of the session. Paths of the protocol are absolute.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._announced: set[str] = set()
        self._outputs: dict[str, str] = {}
        self._states: list[str] = []
        self._is_planned = False
        self.proposal = ""
        """The tool call of the last proposed edit of the driver `code`."""
        self.has_text = False
        """True if the turn has sent a text."""

    def begin_turn(self) -> None:
        """Forget the plan and the texts of the turn before."""
        self._states, self._is_planned, self.has_text, self.proposal = [], False, False, ""

    def convert(self, event: Event) -> Iterator[Update]:
        """Yield the updates of an event as it happens."""
        data = event.data
        match event.type:
            case "text.delta" if data.get("content"):
                self.has_text = True
                yield helpers.update_agent_message_text(str(data["content"]))
            case "thinking.delta" if data.get("content"):
                yield helpers.update_agent_thought_text(str(data["content"]))
            case "tool.output.delta":
                yield from self._add_output(str(data.get("call_id")), str(data.get("content")))
            case "state.entered" if data.get("state") in STATES:
                yield from self._enter_state(str(data["state"]))
            case _:
                yield from self._convert_saved(event)

    def replay(self, event: Event) -> Iterator[Update]:
        """Yield the updates of an event of a saved session. Its texts are in other events than those of a live one."""
        data = event.data
        match event.type:
            case "invocation.received" | "invocation.auto" | "queue.taken" if data.get("text"):
                yield helpers.update_user_message_text(str(data["text"]))
            case "model.completed":
                if data.get("thinking"):
                    yield helpers.update_agent_thought_text(str(data["thinking"]))
                if data.get("text"):
                    self.has_text = True
                    yield helpers.update_agent_message_text(str(data["text"]))
            case "turn.started":
                self.begin_turn()
            case "turn.stopped" if data.get("text") and not self.has_text:
                yield helpers.update_agent_message_text(str(data["text"]))
            case _:
                yield from self._convert_saved(event)

    def announce(
        self, call_id: str, tool: str, input: Mapping[str, Any], paths: Sequence[str] = ()
    ) -> Iterator[Update]:
        """Yield the start of a tool call, once. It is pending until the tool runs."""
        if call_id in self._announced:
            return
        self._announced.add(call_id)
        yield helpers.start_tool_call(
            call_id,
            call_title(tool, input),
            kind=TOOL_KINDS.get(tool, "other"),
            status="pending",
            content=list(self._edit_content(tool, input)),
            locations=self._list_locations(input, paths),
            raw_input=dict(input),
        )

    def announce_question(self, call_id: str, data: Mapping[str, Any]) -> Iterator[Update]:
        """Yield the updates before a question: the start of its tool call, and all that it would do."""
        tool, input = str(data.get("tool")), _as_mapping(data.get("input"))
        yield from self.announce(call_id, tool, input, [str(path) for path in _as_sequence(data.get("paths"))])
        yield helpers.update_tool_call(call_id, status="pending", content=self.question_content(data))

    def question_content(self, data: Mapping[str, Any]) -> list[Content]:
        """Return the whole text of a question, and the change that it is about as a diff."""
        tool, input = str(data.get("tool")), _as_mapping(data.get("input"))
        text = helpers.tool_content(helpers.text_block(str(data.get("text"))))
        changed, _ = self._read_diff(str(input.get("diff") or ""))
        return [text, *self._edit_content(tool, input), *changed]

    # -- parts
    def _convert_saved(self, event: Event) -> Iterator[Update]:
        data, call_id = event.data, str(event.data.get("call_id") or "")
        match event.type:
            case "tool.started":
                # it runs when the gate has allowed it
                yield from self.announce(call_id, str(data.get("tool")), _as_mapping(data.get("input")))
            case "permission.decided" if data.get("decision") == "allow" and call_id in self._announced:
                yield helpers.update_tool_call(call_id, status="in_progress")
            case "tool.completed" | "tool.failed":
                yield from self.announce(call_id, str(data.get("tool")), {})
                status = "completed" if event.type == "tool.completed" else "failed"
                text = _shorten(str(data.get("output") or data.get("reason") or ""))
                content = [helpers.tool_content(helpers.text_block(text))] if text else []
                # an edit keeps its diff, and a denial or an error says why there is none
                is_diff = TOOL_KINDS.get(str(data.get("tool"))) == "edit" and status == "completed"
                yield helpers.update_tool_call(call_id, status=status, content=None if is_diff else content)
                self._outputs.pop(call_id, None)
            case "edit.proposed":
                self.proposal = event.id
                self._announced.add(event.id)
                content, locations = self._read_diff(str(data.get("diff")))
                yield helpers.start_tool_call(
                    event.id,
                    str(data.get("summary")),
                    kind="edit",
                    status="pending",
                    content=content,
                    locations=locations,
                )
            case "edit.applied":
                yield helpers.update_tool_call(str(data.get("proposal")), status="completed")
            case "edit.rejected":
                reason = helpers.tool_content(helpers.text_block(f"not applied: {data.get('reason')}"))
                yield helpers.update_tool_call(str(data.get("proposal")), status="failed", content=[reason])
            case "edit.stale" if self.proposal:
                yield helpers.update_tool_call(self.proposal, status="failed")
            case "plan.proposed":
                yield from self._plan_items(data)
            case _:
                pass

    def _add_output(self, call_id: str, text: str) -> Iterator[Update]:
        if call_id not in self._announced:
            return
        # the content of an update replaces that of the one before
        output = self._outputs[call_id] = (self._outputs.get(call_id, "") + text)[-MAX_OUTPUT_CHARS:]
        yield helpers.update_tool_call(call_id, content=[helpers.tool_content(helpers.text_block(output))])

    def _enter_state(self, state: str) -> Iterator[Update]:
        if state not in self._states:
            self._states.append(state)
        entries: list[PlanEntry] = []
        for name, title in STATES.items():
            status = "in_progress" if name == state else "completed" if name in self._states else "pending"
            entries.append(helpers.plan_entry(title, status=status))
        if not self._is_planned:
            yield helpers.update_plan(entries)

    def _plan_items(self, data: Mapping[str, Any]) -> Iterator[Update]:
        items = [_as_mapping(item) for item in _as_sequence(data.get("items"))]
        if len(items) > 1:
            # the edits of a plan say more than the states
            self._is_planned = True
            titles = (f"{item.get('path')}: {item.get('symbol') or item.get('line')}" for item in items)
            yield helpers.update_plan([helpers.plan_entry(title, status="in_progress") for title in titles])

    def _list_locations(self, input: Mapping[str, Any], paths: Sequence[str]) -> list[ToolCallLocation]:
        named = paths or [value for key in ("path", "file_path") if isinstance(value := input.get(key), str) and value]
        return [ToolCallLocation(path=str(self._root / path)) for path in named]

    def _edit_content(self, tool: str, input: Mapping[str, Any]) -> Iterator[FileEditToolCallContent]:
        path, new = input.get("path"), input.get("new" if tool == "edit" else "text")
        if TOOL_KINDS.get(tool) == "edit" and isinstance(path, str) and isinstance(new, str):
            old = input.get("old")
            yield helpers.tool_diff_content(str(self._root / path), redact(new), redact(old) if old else None)

    def _read_diff(self, diff: str) -> tuple[list[Content], list[ToolCallLocation]]:
        """Return the changed parts of a unified diff, and where they are."""
        parts = [(str(self._root / part.path), part) for part in read_diff(diff)]
        content: list[Content] = [helpers.tool_diff_content(path, part.new, part.old) for path, part in parts]
        return content, [ToolCallLocation(path=path, line=part.line) for path, part in parts]


def call_title(tool: str, input: Mapping[str, Any]) -> str:
    """Return one line about a call of a tool. It says how much it leaves out."""
    what = next((str(input[key]) for key in ("command", "path", "name", "pattern", "task") if input.get(key)), "")
    line = reveal_line(f"{tool} {' '.join(what.split())}".strip())
    more = len(line) - MAX_TITLE_CHARS
    return line if more <= 0 else f"{line[:MAX_TITLE_CHARS]}… {more} more characters"


def _shorten(text: str, limit: int = MAX_OUTPUT_CHARS) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _as_sequence(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
