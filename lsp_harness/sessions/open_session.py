"""A session that is open: its log, gate, tasks, tools and model, put together from its options."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from lsp_harness.chat.answer_protocol import ChatSettings
from lsp_harness.chat.chat_driver import ChatDriver
from lsp_harness.chat.chat_model import Model
from lsp_harness.chat.mcp.mcp_servers import McpServerStatus
from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tool_execution import ToolExecution
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.events.session_events import (
    ErrorOccurred,
    QueueKind,
    SessionClosed,
    SessionResumed,
    TurnStopped,
)
from lsp_harness.inference.request import Owner
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints, RestorationGuard
from lsp_harness.kernel.driver import Driver
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Ending
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.projections.session_state import TokenTotals
from lsp_harness.kernel.projections.task_list import TaskRow, project_tasks
from lsp_harness.kernel.session import Session
from lsp_harness.kernel.tasks.task_runner import TaskRunner
from lsp_harness.permission.action import Action
from lsp_harness.permission.client_hooks import ClientHooks
from lsp_harness.permission.hooks import HookOutcome, Hooks
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.sessions.edit_copies import EditCopies
from lsp_harness.sessions.pending_questions import PendingQuestions
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.sessions.session_undo import (
    REQUESTING_USER,
    TEXTS_FOLDER,
    UndoResult,
    UndoWish,
    run_undo,
)

T = TypeVar("T")
SYSTEM_PROMPT = """You work in the folder {folder}. Call a tool whenever one can answer, and then say in one or two
sentences what it returned. Change a file only if the user asks for it. Paths are relative to the folder."""
"""The text of a session without one of its own. A small model that reads what it is explains tools, and calls none."""


@dataclass(slots=True)
class SessionParts:
    """The parts of an open session.

    Attributes:
        config: The settings.
        models: The models, the first choice first.
        gate: The permission gate.
        hooks: The hooks of the session.
        tasks: The background tasks of the session.
        artifacts: The large outputs, saved in files.
        checkpoints: The texts of files before edits.
        edit_copies: Makes and completes the checkpoints of edits.
        create_edit_driver: Returns the driver of a prompt that becomes an edit.
        tools: The tools by their names.
        hidden_tools: Those that the lists of tools forbid.
        refresh_tools: Reads the tools of MCP servers again that have changed, and returns whether there are others now.
        questions: The questions that the client answers.
        client_hooks: The functions of the client that are hooks.
        list_servers: Returns the MCP servers and their tools.
        server_remarks: What is wrong with MCP servers, when the session is opened.
        warnings: What is wrong with the options and stops nothing.
        closers: Functions that close what the session has opened, the last one first.
        on_task_end: Functions that receive the id of a background task that ended.
        follow_mode: Receives each new permission mode, for subagents.
        running_tokens: Returns the tokens of the subagents that run.
        list_unsaved: Returns the files whose texts in the editor are not saved.
    """

    config: Config
    models: list[Model]
    gate: PermissionGate
    hooks: Hooks
    tasks: TaskRunner
    artifacts: ArtifactStore
    checkpoints: Checkpoints
    edit_copies: EditCopies
    create_edit_driver: Callable[[Callable[[], Awaitable[UndoResult]]], Driver]
    tools: Mapping[str, Tool]
    hidden_tools: Mapping[str, Tool]
    refresh_tools: Callable[[], Awaitable[bool]]
    questions: PendingQuestions
    client_hooks: ClientHooks
    list_servers: Callable[[], Sequence[McpServerStatus]] = tuple
    server_remarks: Sequence[str] = ()
    warnings: Sequence[str] = ()
    closers: list[Callable[[], Any]] = field(default_factory=list[Callable[[], Any]])
    on_task_end: list[Callable[[str], None]] = field(default_factory=list[Callable[[str], None]])
    follow_mode: Callable[[str], None] = lambda mode: None
    running_tokens: Callable[[], TokenTotals] = TokenTotals
    list_unsaved: Callable[[], Collection[Path]] = tuple


class OpenSession:
    """A session that is open in this process.

    Attributes:
        notices: The notices that the hooks of the session get.

    Args:
        session: The turns and the log.
        options: The options of the session.
        parts: The gate, hooks, tasks and tools of the session.
        event_count: The number of events that the session had when it was opened.
        store: The folder of all sessions.
    """

    def __init__(
        self, session: Session, options: SessionOptions, parts: SessionParts, event_count: int, store: SessionStore
    ) -> None:
        self.session = session
        self.options = options
        self.parts = parts
        self.event_count = event_count
        self._store = store
        self.notices = Notices(session, options, parts, self.event_count)
        session.run_next = self._run_next

    @property
    def model(self) -> str:
        """The name of the model that answers."""
        return self.parts.models[0].name

    @property
    def permission_mode(self) -> str:
        """The present permission mode."""
        return self.parts.gate.mode

    def record_start(self) -> None:
        """Append the event that the session begins or is continued."""
        if self.event_count:
            self.session.log.append(SessionResumed(self.event_count, self.model, self.options.source))
        else:
            self.session.record_start()
        for warning in self.parts.warnings:
            self.session.log.append(ErrorOccurred(warning, "warning"))
        self.notices.tell_start()
        if unfinished := self.unfinished_prompt:
            self.session.enqueue("follow_up", unfinished)

    @property
    def unfinished_prompt(self) -> str:
        """The prompt about code at which the last process was killed, or an empty text.

        It is continued without being asked again.
        """
        unfinished = self.session.state.code.unfinished if self.options.driver == "code" else ""
        is_queued = any(item.text == unfinished for item in self.session.state.queue.values())
        return "" if is_queued else unfinished

    def create_driver(self, schema: Mapping[str, Any] | None = None) -> Driver:
        """Return the driver of a turn. Only a conversation answers by a schema."""
        if self.options.driver == "chat" or schema is not None:
            return self.create_chat_driver(schema)
        return self.parts.create_edit_driver(self.undo)

    def create_chat_driver(self, schema: Mapping[str, Any] | None = None) -> ChatDriver:
        """Return the driver of a turn of a conversation.

        Args:
            schema: The JSON schema of the answer. The default is that of the options.

        Raises:
            EngineRefused: The grammar cannot express the schema.
        """
        options, parts = self.options, self.parts
        system = options.system_prompt
        if system is None:
            system = SYSTEM_PROMPT.format(folder=options.root.name or options.root)
        settings = ChatSettings(
            system=system,
            answer_schema=schema or options.json_schema,
            context_tokens=options.context_tokens,
            owner=Owner(persist=True, affinity=self.session.id),
        )
        execution, refresh = self.create_execution(), parts.refresh_tools
        return ChatDriver(parts.models, parts.tools, execution, settings, parts.hooks, refresh)

    def create_execution(self) -> ToolExecution:
        """Return what runs the tool calls of a turn."""
        parts = self.parts
        keep, seal = self._keep_folder, parts.edit_copies.seal
        return ToolExecution(parts.tools, parts.gate, parts.artifacts, parts.hooks, keep, seal, parts.hidden_tools)

    async def _keep_folder(self, action: Action) -> None:
        """Make a checkpoint before an action that may change files which it does not name."""
        if action.kind in ("execute", "network", "agent") and not self.parts.gate.explain(action).only_reads:
            await self.parts.edit_copies.keep_folder()

    async def submit(self, ingress: Ingress, driver: Driver) -> TurnStopped:
        """Run a turn. The hooks of prompts and turns may block it, or add text for the model.

        Raises:
            HarnessError: The turn failed.
        """
        await self.notices.tell_start()
        outcome = await self.notices.ask("userPromptSubmit", ingress.text)
        if outcome.is_denied:
            return self._refuse(ingress, _describe_denial(outcome))
        return await self._run_turn(replace(ingress, text=_with_context(ingress.text, outcome)), driver)

    async def enqueue(self, kind: QueueKind, text: str) -> str:
        """Keep a text for the next step ("steer") or the next turn ("follow_up"). Return its id.

        Raises:
            UsageError: The text is empty, or a hook of prompts does not allow it.
        """
        return self.session.enqueue(kind, await self.notices.admit(text))

    async def edit_queued(self, item_id: str, text: str) -> None:
        """Replace a text that waits.

        Raises:
            UsageError: The text has taken effect already, or a hook of prompts does not allow the new one.
        """
        self.session.queue.edit(item_id, await self.notices.admit(text))

    async def _run_next(self, ingress: Ingress) -> TurnStopped:
        return await self._run_turn(ingress, self.create_driver())

    async def _run_turn(self, ingress: Ingress, driver: Driver) -> TurnStopped:
        outcome = await self.notices.ask("turnStart", ingress.text)
        if outcome.is_denied:
            return self._refuse(ingress, _describe_denial(outcome))
        facts = {"session_id": self.session.id, "prompt": ingress.text}
        ingress = replace(ingress, text=_with_context(ingress.text, outcome))
        try:
            stopped = await self.session.submit(ingress, driver)
        except asyncio.CancelledError:
            self.notices.start("turnStop", facts | {"reason": "cancelled", "detail": "cancelled"})
            raise
        except HarnessError as error:
            await self.notices.finish("turnStop", facts | {"reason": "error", "detail": error.message})
            raise
        await self.notices.finish("turnStop", facts | {"reason": stopped.reason, "detail": stopped.detail})
        return stopped

    def _refuse(self, ingress: Ingress, reason: str) -> TurnStopped:
        turn = self.session.begin_turn(ingress, self.options.driver_name)
        return self.session.end_turn(turn, Ending("denied", reason), ingress.request_id)

    # -- questions and settings
    def answer_question(self, request_id: str, fields: Mapping[str, Any]) -> None:
        """Give the answer of the client to a question. Raise UsageError if there is no such question."""
        self.parts.questions.answer(request_id, fields)

    async def set_permission_mode(self, mode: str) -> None:
        """Change the permission mode from the next action on.

        Raises:
            UsageError: A hook does not allow it, or there is no such mode.
        """
        await self.notices.admit_change(permission_mode=mode)
        try:
            self.parts.gate.set_mode(mode)  # pyright: ignore[reportArgumentType] - checked there
        except ValueError as error:
            raise UsageError(str(error)) from error
        self.parts.follow_mode(mode)

    # -- what a client can ask
    def status(self) -> dict[str, Any]:
        """Return the state of the session in numbers and names."""
        state = self.session.state
        tokens = state.tokens.with_usage(self.parts.running_tokens().usage)
        return {
            "session_id": self.session.id,
            "model": self.model,
            "permission_mode": self.permission_mode,
            "events": state.next_seq,
            "turns": state.turn_count,
            "is_idle": self.session.is_idle,
            "tools": list(self.parts.tools),
            "queue": [{"item_id": item.item_id, "kind": item.kind, "text": item.text} for item in state.queue.values()],
            "tokens": {"input": tokens.input, "output": tokens.output, "cached": tokens.cached},
            "questions": self.parts.questions.open_ids,
            "summary": state.summary.lines,
        }

    def fork(self, at_seq: int | None) -> str:
        """Begin a session that continues this one after an event, and return its id. Raise UsageError."""
        if not self.session.log.is_saved:
            raise UsageError("this session is not saved, so it cannot be forked")
        opened = self._store.fork(self.session.id, at_seq)
        opened.log.close()
        return opened.log.id

    async def undo(self, wish: UndoWish | None = None, *, is_confirmed: bool = True) -> UndoResult:
        """Give the files of a turn the texts that they had before it, or take the last undo back.

        Args:
            wish: What is to be undone.
            is_confirmed: Whether the user asked for it, so that the request answers the question about the permission.
                Otherwise, the question goes to the person, as that about an edit.

        Raises:
            UsageError: There is nothing to undo, or it is not allowed.
            StaleDocument: Somebody changed all files of the turn.
        """
        parts, log = self.parts, self.session.log
        gate = parts.gate.answered_by(REQUESTING_USER) if is_confirmed else parts.gate
        guard = RestorationGuard(gate.check, self._find_undo_problem)
        history = list(read_history(self._store.folder, self.session.id)) if log.path.exists() else []
        checkpoints = parts.checkpoints.for_undo(guard, log.append)
        return await run_undo(checkpoints, history, wish or UndoWish(), log.folder / TEXTS_FOLDER)

    def _find_undo_problem(self, path: Path) -> str:
        """Return why no undo may change a file, or an empty text."""
        if path in self.parts.list_unsaved():
            return "it has changes in the editor that are not saved"
        return self.parts.gate.policy.protected.edit_problem(path)

    def list_tasks(self) -> list[dict[str, Any]]:
        """Return the tasks of the session, those of earlier processes too."""
        rows: list[TaskRow] = []
        if self.session.log.path.exists():
            rows += project_tasks(read_history(self._store.folder, self.session.id))
        known = {row.task_id: row for row in (*rows, *self.parts.tasks.list())}
        return [row.fields for row in known.values()]

    def read_task(self, task_id: str, since: int) -> dict[str, Any]:
        """Return the output of a task from a byte on. Raise UsageError for an unknown id."""
        part = self.parts.tasks.read(task_id, since)
        return {"text": part.text, "cursor": part.next_cursor, "is_running": part.is_running}

    async def cancel_task(self, task_id: str) -> dict[str, Any]:
        """End a task and all its processes. Raise UsageError for an unknown id."""
        result = await self.parts.tasks.cancel(task_id)
        return {"task_id": task_id, "status": result.status}

    def report_task_end(self, task_id: str) -> None:
        """Begin a turn about a background task that ended, if the session is idle."""
        row = next((row for row in self.parts.tasks.list() if row.task_id == task_id), None)
        title = f" ({row.title})" if row and row.title else ""
        text = f"The background task {task_id}{title} has ended. Go on with its result."
        self.notices.start("notification", {"session_id": self.session.id, "task_id": task_id, "text": text})
        self.session.report_task_end(task_id, text)

    async def aclose(self) -> None:
        """Stop everything, record the end, and let other processes continue the session."""
        self.session.run_next = None
        self.session.requests.interrupt()
        await self.parts.tasks.aclose()
        await self.session.stop()
        await self.notices.tell_end()
        if self.session.state.next_seq:
            self.session.log.append(SessionClosed("the client ended the session"))
        async with AsyncExitStack() as stack:
            # each one is called, also if another one fails
            stack.push_async_callback(self.session.aclose)
            for close in self.parts.closers:
                stack.push_async_callback(close)


class Notices:
    """The events of a session as a whole, of its prompts and of its settings, which hooks are told.

    Those that nobody waits for go on when the turn that they are about is cancelled.

    Args:
        session: The session.
        options: Its options.
        parts: The gate, hooks, tasks and tools of the session.
        event_count: The number of events that it had when it was opened.
    """

    def __init__(self, session: Session, options: SessionOptions, parts: SessionParts, event_count: int) -> None:
        self._session = session
        self._options = options
        self._hooks = parts.hooks
        self._models = parts.models
        self._event_count = event_count
        self._start: asyncio.Future[None] | None = None
        self._running: set[asyncio.Future[Any]] = set()

    def start(self, event: str, facts: Mapping[str, Any]) -> "asyncio.Future[Any]":
        """Run the hooks of an event, and return what to wait for."""
        return self._keep(self._hooks.run(event, facts))

    def _keep(self, run: Coroutine[Any, Any, T]) -> "asyncio.Future[T]":
        task = asyncio.ensure_future(run)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def finish(self, event: str, facts: Mapping[str, Any]) -> None:
        """Run the hooks of an event to their end, also if the caller is cancelled."""
        await asyncio.shield(self.start(event, facts))

    def tell_start(self) -> "asyncio.Future[None]":
        """Tell once that the session begins, and return what to wait for."""
        self._start = self._start or self._keep(self._run_start_hooks())
        return asyncio.shield(self._start)

    async def _run_start_hooks(self) -> None:
        root, started = str(self._options.root), self._session.state.started
        facts = {"session_id": self._session.id, "cwd": root}
        await self._hooks.run("sessionStart", facts | {"model": self._models[0].name})
        previous = started.root if self._event_count and started else root
        if previous != root:
            await self._hooks.run("cwdChanged", facts | {"previous": previous})

    async def tell_end(self) -> None:
        """Wait for the hooks that run, and tell the end of a session whose beginning was told."""
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._start is not None:
            await self._hooks.run("sessionEnd", {"session_id": self._session.id})

    async def ask(self, event: str, text: str) -> HookOutcome:
        """Return what the hooks decide about a prompt."""
        return await self._hooks.run(event, {"session_id": self._session.id, "prompt": text})

    async def admit(self, text: str) -> str:
        """Return a text that a user queues, with what the hooks of prompts add to it. Raise UsageError."""
        outcome = await self.ask("userPromptSubmit", text)
        if outcome.is_denied:
            raise UsageError(_describe_denial(outcome))
        return _with_context(text, outcome)

    async def admit_change(self, **settings: str) -> None:
        """Raise UsageError if a hook does not allow a change of settings."""
        outcome = await self._hooks.run("configChange", {"session_id": self._session.id, **settings})
        if outcome.is_denied:
            names = " and ".join(settings).replace("_", " ")
            raise UsageError(f"the hook {outcome.hook} does not allow this {names}: {outcome.reason}")


def _describe_denial(outcome: HookOutcome) -> str:
    return f"the hook {outcome.hook} does not allow this prompt: {outcome.reason}"


def _with_context(text: str, outcome: HookOutcome) -> str:
    return f"{text}\n\n{outcome.context}" if outcome.context else text


def command_environment(options: SessionOptions) -> Mapping[str, str]:
    """Return the environment of commands: that of this process with the variables of the options."""
    return {**os.environ, **(options.env or {})}
