"""A client of one session that stays open over many prompts."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack, cast

from lsp_harness.sdk.child_connection import ChildConnection
from lsp_harness.sdk.client_turn import Turn
from lsp_harness.sdk.frame_router import EventFeed, FrameRouter
from lsp_harness.sdk.harness_binary import find_binary
from lsp_harness.sdk.harness_options import (
    PERMISSION_WAIT_S,
    START_WAIT_S,
    HarnessKeywords,
    HarnessOptions,
    PermissionMode,
)
from lsp_harness.sdk.hook_functions import HOOK_WAIT_S, collect_hooks, run_hook
from lsp_harness.sdk.in_process_connection import InProcessConnection
from lsp_harness.sdk.permission_callback import ask_callback, read_answer
from lsp_harness.sdk.python_tools import collect_tools
from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.sdk.session_arguments import session_arguments, session_options
from lsp_harness.sdk.session_connection import SessionConnection
from lsp_harness.sdk.socket_connection import SocketConnection
from lsp_harness.sdk.tool_config import ToolConfig
from lsp_harness.sdk.tool_server import ToolServer
from lsp_harness.wire.client_events import PermissionRequest, SessionStart
from lsp_harness.wire.session_socket import socket_path

HOOKS_WAIT_S = HOOK_WAIT_S + 5.0
"""Time for a session to end that has functions of this program as hooks."""
UNKNOWN_HOOK = {"error": "this program has no such function"}


class HarnessClient:
    """A session that is open as long as its `async with` block runs.

    The process, the model and the conversation stay the same over all prompts. Prompts are answered one after the
    other, in the order of the calls of `send`.
    """

    def __init__(self, **options: Unpack[HarnessKeywords]) -> None:
        """Set the options, which `HarnessOptions` describes. Raise HarnessError if one is wrong."""
        self._options = HarnessOptions(**options)
        self._tools = collect_tools(self._options.tools or ())
        self._hooks = collect_hooks(self._options.hooks or {})
        self._connection: SessionConnection | None = None
        self._router: FrameRouter | None = None
        self._started: SessionStart | None = None
        self._tool_server: ToolServer | None = None
        self._tool_config: ToolConfig | None = None
        self._reading: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._queue = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Start the session. Raise HarnessError."""
        if self._connection or self._closing:
            raise HarnessError("a client can be opened once; create another one", code="usage")
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _open(self) -> None:
        options = self._options
        config = None
        if not (options.attach or options.in_process):
            # before the server of the tools, which takes a second to start
            find_binary(_make_environment(options))
        session_arguments(session_options(options, None))
        if self._tools:
            self._tool_server = ToolServer(self._tools)
            await self._tool_server.start()
            other = Path(options.mcp_config) if options.mcp_config else None
            self._tool_config = ToolConfig(self._tool_server.entry(), other)
            config = self._tool_config.path
        self._connection = _make_connection(options, config)
        self._router = FrameRouter(self._connection, self._answer if options.can_use_tool else None, self._run_hook)
        limit = options.start_timeout or START_WAIT_S
        await self._connection.open()
        try:
            self._started = await asyncio.wait_for(self._router.read_ready(), limit)
        except TimeoutError:
            raise HarnessError(f"the session was not ready within {limit:g} s", code="timeout") from None
        self._reading = asyncio.create_task(self._router.run())

    @property
    def session_id(self) -> str:
        """Return the id of the session, by which a later client can resume it."""
        return self.started.session_id

    @property
    def started(self) -> SessionStart:
        """Return the properties of the session: its model, its mode and its folder."""
        if not self._started:
            raise HarnessError("the client is not open; use `async with`", code="closed")
        return self._started

    @property
    def pid(self) -> int | None:
        """Return the number of the process of the session, or None if it has none of its own."""
        return self._connection.pid if self._connection else None

    async def send(self, prompt: str, *, json_schema: Mapping[str, Any] | None = None) -> Turn:
        """Send a prompt when the turns of earlier prompts have ended, and return its events.

        Args:
            prompt: The prompt.
            json_schema: The schema of the answer, in place of that of the options.

        Raises:
            HarnessError: The session has ended.
        """
        router = self._open_router()
        if not isinstance(prompt, str):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers are checked
            raise HarnessError(f"the prompt is {prompt!r:.80}, and must be a text", code="usage")
        await self._queue.acquire()
        turn = None
        try:
            turn = router.begin_turn()
            frame: dict[str, Any] = {"id": turn.prompt_id, "prompt": prompt}
            schema = json_schema if json_schema is not None else self._options.json_schema
            if schema is not None:
                frame["json_schema"] = schema
            router.start_task(self._release_after(turn.ended))
            await self._require_connection().write(frame)
        except HarnessError as error:
            if turn is None:
                self._queue.release()
            else:
                turn.fail(error)
            raise
        except BaseException:
            if turn is not None:
                turn.close()
                router.interrupt_turn(turn)
            raise
        return Turn(turn, router.interrupt_turn)

    async def _release_after(self, ended: asyncio.Event) -> None:
        try:
            await ended.wait()
        finally:
            self._queue.release()

    def _answer(self, request: PermissionRequest) -> None:
        self._open_router().start_task(self._send_answer(request))

    async def _send_answer(self, request: PermissionRequest) -> None:
        callback, router = self._options.can_use_tool, self._open_router()
        assert callback
        answer = await ask_callback(callback, request, self._options.permission_timeout or PERMISSION_WAIT_S)
        router.send_later("permission", request_id=request.request_id, **answer)

    def _run_hook(self, frame: Mapping[str, Any]) -> None:
        self._open_router().start_task(self._send_hook_answer(frame))

    async def _send_hook_answer(self, frame: Mapping[str, Any]) -> None:
        router = self._open_router()
        hook = dict(enumerate(self._hooks)).get(cast("int", frame.get("hook")))
        answer = await run_hook(hook[1], frame.get("payload") or {}) if hook else UNKNOWN_HOOK
        router.send_later("hook", request_id=frame.get("request_id"), **answer)

    # -- the running turn and the next one
    async def interrupt(self) -> None:
        """Stop the running turn. The session stays open, and the turn ends with `TurnStop(reason="interrupted")`."""
        router = self._open_router()
        turn = router.running_turn
        try:
            await router.send_command("interrupt", **({"id": turn.prompt_id} if turn else {}))
        except HarnessError:
            # a turn that ended by itself meanwhile cannot be interrupted
            if router.error or (turn and turn is router.running_turn):
                raise

    async def steer(self, text: str) -> str:
        """Send a text into the running turn, and return its id. The model reads it at the next step."""
        return await self._text("item_id", "steer", text=text)

    async def follow_up(self, text: str) -> str:
        """Queue a text as the prompt of a turn after the running one, and return its id.

        `events` has the events of that turn.
        """
        return await self._text("item_id", "follow_up", text=text)

    async def edit_queued(self, item_id: str, text: str) -> None:
        """Replace a text of `steer` or `follow_up` that waits."""
        await self._command("edit_queued", item_id=item_id, text=text)

    async def remove_queued(self, item_id: str) -> None:
        """Withdraw a text of `steer` or `follow_up` that waits."""
        await self._command("remove_queued", item_id=item_id)

    # -- settings
    async def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change the permission mode from now on."""
        HarnessOptions(permission_mode=mode)
        await self._command("set_permission_mode", mode=mode)

    async def set_model(self, name: str | None = None, *, provider: str | None = None) -> str:
        """Let another model answer from the next model call on, and return its name.

        The arguments are those of the options `model` and `provider`.
        """
        return await self._text("model", "set_model", model=name, provider=provider)

    async def answer_permission(
        self,
        request: PermissionRequest,
        decision: Literal["allow", "deny"],
        *,
        reason: str = "",
        updated_input: Mapping[str, Any] | None = None,
        remember: Literal["once", "session", "always"] = "once",
    ) -> None:
        """Answer a `PermissionRequest` that an iterator returned. It is for programs without `can_use_tool`."""
        answer = {"decision": decision, "reason": reason, "updated_input": updated_input, "remember": remember}
        await self._command("permission", request_id=request.request_id, **read_answer(answer))

    # -- what there is
    def events(self) -> EventFeed:
        """Return all events of the session from now on, also those of no prompt, such as the end of a task."""
        return self._open_router().subscribe()

    async def status(self) -> dict[str, Any]:
        """Return what the session reports about itself."""
        return await self._command("status")

    async def context_usage(self) -> dict[str, Any]:
        """Return the size of the present prompt: `tokens`, `sections`, `window`, `budget` and `model`."""
        return await self._command("context_usage")

    async def mcp_status(self) -> list[dict[str, Any]]:
        """Return the `name`, `status`, `reason` and `tools` of each MCP server.

        The status is "running", "failed" or "disabled".
        """
        return await self._command("mcp_status")

    async def read_artifact(self, artifact_id: str) -> str:
        """Return the whole output that a `ToolEnd` with this `artifact_id` has only the beginning of."""
        texts = list[str]()
        offset, size = 0, 1
        while offset < size:
            part = await self._command("read_artifact", artifact_id=artifact_id, since=offset)
            texts.append(part["text"])
            # an artifact never changes, so no part is empty
            offset, size = part["cursor"], part["size"]
        return "".join(texts)

    # -- history
    async def undo(
        self,
        turn: int | None = None,
        *,
        force: bool = False,
        commands: bool = False,
        redo: bool = False,
        preview: bool = False,
    ) -> dict[str, Any]:
        """Undo the edits of a turn, or of the last one that changed files.

        Args:
            turn: The number of the turn.
            force: Restore files that somebody changed after the turn, too.
            commands: Restore files that changed while commands of the turn ran, too. Others may have written them.
            redo: Take the last undo back instead.
            preview: Change nothing, and return what would happen.

        Returns:
            `turn`, `paths`, those of them that are `removed`, `skipped` (path → why it is not restored), `commands`
            (those that changed while a command ran) and `texts` (path → the files with the texts before and after).
        """
        given = {"force": force, "commands": commands, "redo": redo, "preview": preview}
        # the program itself asks for it
        return await self._command("undo", turn=turn, confirmed=True, **{k: v for k, v in given.items() if v})

    async def fork(self, at_seq: int | None = None) -> str:
        """Begin a session that continues this one after an event, or after the last. Return its id, for `resume`."""
        return await self._text("session_id", "fork", at_seq=at_seq)

    # -- tasks
    async def tasks(self) -> list[dict[str, Any]]:
        """Return the `task_id`, `kind`, `title`, `status` and `summary` of each task."""
        return await self._command("tasks")

    async def read_task(self, task_id: str, since: int = 0) -> dict[str, Any]:
        """Return the output of a task from a byte on: `text`, `cursor` for the next call, and `is_running`."""
        return await self._command("read_task", task_id=task_id, since=since)

    async def cancel_task(self, task_id: str) -> dict[str, Any]:
        """End a task and all its processes. Return its `task_id` and `status`."""
        return await self._command("cancel_task", task_id=task_id)

    # -- the end
    async def close(self) -> None:
        """End the session and everything that it started. Iterators that are still read end with HarnessError."""
        if not self._closing:
            self._closing = asyncio.create_task(self._close())
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            # nobody waits any more, so nothing may be left
            if self._connection:
                self._connection.kill()
            raise

    async def _close(self) -> None:
        router, connection = self._router, self._connection
        try:
            at_once = self._started is None
            if router:
                at_once = at_once or router.running_turn is not None
                if self._reading and self._hooks and not at_once:
                    # they also hear of the end
                    await router.finish(self._reading, HOOKS_WAIT_S)
                router.fail(HarnessError("the client was closed", code="closed"))
                router.cancel_tasks()
            if self._reading:
                self._reading.cancel()
                await asyncio.wait({self._reading})
            if connection:
                await connection.close(at_once)
        finally:
            if connection:
                connection.kill()
            if self._tool_config:
                self._tool_config.close()
            if self._tool_server:
                await self._tool_server.close()

    def _require_connection(self) -> SessionConnection:
        assert self._connection
        return self._connection

    def _open_router(self) -> FrameRouter:
        if not self._router or not self._router.is_ready:
            raise HarnessError("the client is not open; use `async with`", code="closed")
        return self._router

    async def _command(self, name: str, **fields: Any) -> Any:
        given = {key: value for key, value in fields.items() if value is not None}
        return await self._open_router().send_command(name, **given)

    async def _text(self, key: str, name: str, **fields: Any) -> str:
        result = await self._command(name, **fields)
        if not isinstance(result, Mapping) or key not in result:
            raise HarnessError(f"the session answered the command {name} without {key}", code="protocol")
        return str(cast("Mapping[str, Any]", result)[key])


def _make_connection(options: HarnessOptions, mcp_config: Path | None) -> SessionConnection:
    values = session_options(options, mcp_config)
    environment = _make_environment(options)
    if options.in_process:
        return InProcessConnection({**values, "env": dict(options.env or {})})
    if attach := options.attach:
        path = socket_path(options.working_folder(), environment) if attach is True else Path(attach)
        return SocketConnection(path, {**values, "env": dict(options.env or {})})
    return ChildConnection(
        [*find_binary(environment), "session", *session_arguments(values)], options.working_folder(), environment
    )


def _make_environment(options: HarnessOptions) -> dict[str, str]:
    return {**os.environ, **(options.env or {})}
