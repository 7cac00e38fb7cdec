"""The tool that starts a subagent: a whole session of its own, as a task of the session that starts it.

The log of the parent only has the task, the end and the answer. Everything else is in the log of the subagent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from lsp_harness.chat.chat_model import Model
from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.tool_environment import Execution
from lsp_harness.chat.tools.tool_input import Input, Schema, make_text_schema, object_schema, read_text
from lsp_harness.errors import HarnessError, NoAnswer, UsageError
from lsp_harness.events.session_events import AgentFinished
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.projections.session_state import TokenTotals
from lsp_harness.kernel.tasks.task_output import TaskOutput
from lsp_harness.kernel.tasks.task_request import TaskRequest
from lsp_harness.kernel.tasks.task_runner import TaskRunner
from lsp_harness.permission.action import Action
from lsp_harness.permission.hooks import Hooks
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.sessions.agent_presets import PRESETS, AgentPreset, narrow_tools
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.event import Event

MAX_PROMPT_CHARS = 8_000
MAX_TITLE_CHARS = 80
MAX_ANSWER_CHARS = 2_000
"""Characters of an answer in the log of the parent and its prompt."""
EXECUTIONS: tuple[Execution, ...] = ("inline", "background")
ChildOpener = Callable[[SessionOptions, Sequence[Model]], Awaitable[OpenSession]]


@dataclass(frozen=True, slots=True)
class ParentSession:
    """The parts of the session that starts subagents.

    Attributes:
        options: The options of the parent.
        models: Its models, which the subagents use too.
        log: The log of the parent.
        gate: Its gate, whose mode and person count for the subagents too.
        hooks: The hooks of the parent.
        tasks: The background tasks of the parent.
    """

    options: SessionOptions
    models: Sequence[Model]
    log: SessionLog
    gate: PermissionGate
    hooks: Hooks
    tasks: TaskRunner


class SubagentTool:
    """Starts a subagent and returns its answer.

    Args:
        parent: The session that starts it.
        open_child: Opens the session of a subagent with the models of its parent.
    """

    name = "agent"
    description = (
        "Give a task to a subagent, which works on its own and returns its answer. It knows only the prompt. "
        + " ".join(f"{preset.name}: {preset.purpose}." for preset in PRESETS.values())
    )
    schema: Schema = object_schema(
        {"prompt": make_text_schema("The whole task, with all names and paths that it needs", MAX_PROMPT_CHARS)},
        {
            "preset": {"enum": list(PRESETS), "description": f"{next(iter(PRESETS))} if absent"},
            "execution": {"enum": list(EXECUTIONS), "description": "background: go on and get the answer later"},
        },
    )

    def __init__(self, parent: ParentSession, open_child: ChildOpener) -> None:
        self._parent = parent
        self._open_child = open_child
        self.running: set[OpenSession] = set()
        """The subagents that run now."""

    def action(self, input: Input) -> Action:
        return Action(self.name, "agent", input)

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        prompt = read_text(input, "prompt")
        preset = PRESETS.get(read_text(input, "preset", next(iter(PRESETS))))
        execution = cast("Execution", read_text(input, "execution", "inline"))
        if preset is None:
            raise UsageError(f'"preset" must be one of {", ".join(PRESETS)}')
        if execution not in EXECUTIONS:
            raise UsageError(f'"execution" must be one of {", ".join(EXECUTIONS)}')
        if not prompt.strip():
            raise UsageError('"prompt" is empty; write what the subagent has to do')
        facts = {"session_id": self._parent.log.id, "preset": preset.name, "prompt": prompt}
        outcome = await self._parent.hooks.run("subagentStart", facts)
        if outcome.is_denied:
            raise UsageError(f"the hook {outcome.hook} does not allow this subagent: {outcome.reason}")
        if outcome.context:
            prompt = f"{prompt}\n\n{outcome.context}"
        return await self._start(preset, prompt, execution, context)

    def follow_mode(self, mode: str) -> None:
        """Give the running subagents the new permission mode of the parent."""
        for child in self.running:
            child.parts.gate.set_mode(mode)  # pyright: ignore[reportArgumentType] - the parent has it already
            child.parts.follow_mode(mode)

    def running_tokens(self) -> TokenTotals:
        """Return the tokens of the subagents that run. Those of the others are in the state of the parent."""
        totals = TokenTotals()
        for child in self.running:
            totals = totals.with_usage(child.session.state.tokens.usage)
        return totals

    @property
    def _used_tokens(self) -> int:
        return self._parent.log.state.tokens.total + self.running_tokens().total

    async def _start(self, preset: AgentPreset, prompt: str, execution: Execution, context: CallContext) -> ToolResult:
        child = await self._open_child(self._child_options(preset), self._parent.models)
        own, limits = child.session.state, child.session.limits
        child.session.limits = replace(limits, count_shared=lambda: self._used_tokens - own.tokens.total)
        run = _SubagentRun(child, self._parent, preset, is_background=execution == "background")
        self.running.add(child)
        run.on_end = lambda: self.running.discard(child)
        title = " ".join(prompt.split())[:MAX_TITLE_CHARS]
        request = TaskRequest(
            "subagent",
            f"{preset.name}: {title}",
            lambda output: run.perform(prompt, output),
            execution,
            call_id=context.call_id,
            session_id=child.session.id,
        )
        try:
            result = await self._parent.tasks.run(request)
        except HarnessError:
            # the task did not begin, so nothing closes the session
            await run.aclose()
            raise
        data = {"status": result.status, "task_id": result.task_id, "session_id": child.session.id}
        match result.status:
            case "started":
                text = f"Subagent {result.task_id} runs in the background; you are told when it ends."
                return ToolResult(text, data=data)
            case "completed":
                return ToolResult(run.answer, data=data)
            case _:
                return ToolResult(f"The subagent {result.status}: {result.summary}", is_error=True, data=data)

    def _child_options(self, preset: AgentPreset) -> SessionOptions:
        """Return the options of a subagent, which may never do more than its parent."""
        options, log = self._parent.options, self._parent.log
        if options.max_tokens_total and self._used_tokens >= options.max_tokens_total:
            raise UsageError(f"all {options.max_tokens_total} tokens of the session are used; raise max_tokens_total")
        return replace(
            options,
            allowed_tools=narrow_tools(preset.tools, options.allowed_tools),
            permission_mode=self._parent.gate.mode,
            max_turns=min(preset.max_steps, options.max_turns or preset.max_steps),
            system_prompt=preset.system.format(folder=options.root.name or options.root),
            resume="",
            mcp_config="",
            strict_mcp_config=True,
            json_schema=None,
            driver="chat",
            parent=log.id,
            source="subagent",
        )


class _SubagentRun:
    """The run of one subagent, from its prompt to the end of its session."""

    def __init__(self, child: OpenSession, parent: ParentSession, preset: AgentPreset, *, is_background: bool) -> None:
        self._child = child
        self._parent = parent
        self._preset = preset
        self._is_background = is_background
        self._is_closed = False
        self.answer = ""
        self.on_end: Callable[[], None] = lambda: None
        # whoever answers the questions of the parent answers those of the subagent
        child.parts.gate.callback, child.parts.gate.person = parent.gate.callback, parent.gate.person
        child.session.log.listeners.append(self._forward_question)

    async def perform(self, prompt: str, output: TaskOutput) -> str:
        """Run the only turn of the subagent and return its answer.

        Raises:
            HarnessError: The subagent did not finish.
        """
        output.adopt(self)
        reason, text = "error", ""
        try:
            stopped = await self._child.submit(
                Ingress("message", prompt, source="subagent"), self._child.create_driver()
            )
            reason, text = stopped.reason, stopped.text or stopped.detail
        except asyncio.CancelledError:
            reason, text = "cancelled", "it was cancelled"
            raise
        except HarnessError as error:
            text = error.message
            raise
        finally:
            await self._record_end(reason, text)
        if reason != "completed":
            raise NoAnswer(f"the subagent ended with {reason}: {text}")
        return self.answer

    async def aclose(self) -> None:
        """Close the session of the subagent with all its tasks."""
        if self._is_closed:
            return
        self._is_closed = True
        self.on_end()
        await self._child.aclose()

    async def _record_end(self, reason: str, text: str) -> None:
        child_id, name = self._child.session.id, self._preset.name
        self.answer = text if len(text) <= MAX_ANSWER_CHARS else f"{text[: MAX_ANSWER_CHARS - 1]}…"
        # from here on the log of the parent has the tokens, and no turn may use more
        self._child.session.run_next = None
        self.on_end()
        usage = self._child.session.state.tokens.usage
        finished = AgentFinished(child_id, reason, self.answer, name, self._is_background, usage)
        self._parent.log.append_to_running(finished)
        facts = {"session_id": self._parent.log.id, "agent_id": child_id, "preset": name, "reason": reason}
        await self._parent.hooks.run("subagentStop", facts)

    def _forward_question(self, event: Event) -> None:
        """Show a question of the subagent to the client of the parent, without writing it to the log of the parent."""
        if event.type == "permission.requested":
            self._parent.log.send_frame(event.type, event.data)
