"""Serves one session to another program: objects in, objects out (see docs/sessions.md).

The first object may be `{"command": "open", "options": {…}}`. Then prompts and commands come, and the frames of all
events go out. Every prompt ends with exactly one `turn_stop`, and every command with a `request_id` gets one
`response`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, cast

from lsp_harness.chat.schema_check import find_mismatch
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.events.event_codec import encode_frame
from lsp_harness.inference.models.measured_abilities import find_abilities
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_commands import COMMANDS
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.event import Event
from lsp_harness.wire.frame_lines import WIRE_VERSION
from lsp_harness.wire.version import VERSION

Frame = Mapping[str, Any]
FrameQueue = asyncio.Queue[Frame | None]
Opener = Callable[[SessionOptions], Awaitable[OpenSession]]
MAX_SCHEMA_CHARS = 200_000
ANSWERS = frozenset({"hook", "permission"})
"""The commands that answer what the session asks its client."""


async def serve_session(
    incoming: FrameQueue,
    outgoing: FrameQueue,
    options: Mapping[str, Any] | SessionOptions | None = None,
    opener: Opener = open_session,
) -> None:
    """Serve one session until the input ends or the client sends the command `exit`.

    Args:
        incoming: The objects of the client. None ends them.
        outgoing: The objects for the client. None is the last item.
        options: The options of the session. With None, the first object must be the command `open`.
        opener: Opens the session with its options.
    """
    try:
        await _SessionHost(incoming, outgoing, opener).run(options)
    finally:
        outgoing.put_nowait(None)


class _SessionHost:
    def __init__(self, incoming: FrameQueue, outgoing: FrameQueue, opener: Opener) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._opener = opener
        self._opened: OpenSession | None = None
        self._schemas: dict[str, Mapping[str, Any]] = {}
        self._turns: dict[asyncio.Task[None], str | None] = {}
        self._unanswered: set[str | None] = set()
        self._frames: FrameQueue = asyncio.Queue()

    async def run(self, options: Mapping[str, Any] | SessionOptions | None) -> None:
        """Serve the session until its client ends it."""
        first: Frame | None = None
        if options is None:
            first = await self._incoming.get()
            if first is None:
                return
            if first.get("command") == "open":
                options, first = first.get("options") or {}, None
        try:
            is_ready = isinstance(options, SessionOptions)
            # options as a mapping are those of a program
            given = options if is_ready else SessionOptions.from_mapping({"source": "sdk", **(options or {})})
            await self._open(given)
        except HarnessError as error:
            self._send({"type": "error", **_error_fields(error), "recoverable": False})
            return
        if first is not None:
            self._frames.put_nowait(first)
        hooks, reading = self._require_open().parts.client_hooks, asyncio.ensure_future(self._read())
        has_client = False
        try:
            while True:
                frame = await self._frames.get()
                if frame is None or frame.get("command") == "exit":
                    break
                await self._handle(frame)
            if frame is None:
                # the input ended: what was asked is still answered
                await asyncio.gather(*self._turns, return_exceptions=True)
                await self._require_open().session.finish_waiting()
            has_client = frame is not None
        finally:
            if not has_client:
                hooks.end()
            try:
                await self._close_whole()
            finally:
                reading.cancel()

    async def _read(self) -> None:
        """Read the frames of the client. Answers count at once, also while a command waits for them. Other frames wait
        for their turn.
        """
        while (frame := await self._incoming.get()) is not None:
            if frame.get("command") in ANSWERS:
                await self._handle(frame)
            else:
                self._frames.put_nowait(frame)
        parts = self._require_open().parts
        parts.client_hooks.end()
        # a question that nobody can answer would keep the session, and its lock, for ever
        parts.questions.end()
        self._frames.put_nowait(None)

    async def _close_whole(self) -> None:
        """Close the session to the end, also if the program that serves it is cancelled meanwhile."""
        closing = asyncio.ensure_future(self._close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await asyncio.gather(closing, return_exceptions=True)
            raise

    async def _open(self, options: SessionOptions) -> None:
        opened = self._opened = await self._opener(options)
        log = opened.session.log
        ready: dict[str, Any] = {
            "type": "ready",
            "version": VERSION,
            "wire": WIRE_VERSION,
            "session_id": log.id,
            "seq": None,
            "turn": None,
            "model": opened.model,
            "resumed_events": opened.event_count,
            "cwd": str(options.root),
            "permission_mode": opened.permission_mode,
            "driver": opened.options.driver_name,
        }
        if abilities := find_abilities(opened.parts.config):
            ready["abilities"] = {"sentence": abilities.sentence, **asdict(abilities)}
        if unfinished := opened.unfinished_prompt:
            ready["unfinished"] = unfinished
        self._send(ready)
        log.listeners.append(self._forward_event)
        opened.parts.client_hooks.send = self._send
        opened.record_start()

    async def _close(self) -> None:
        opened = self._opened
        if opened is None:
            return
        for task, request_id in list(self._turns.items()):
            # a turn with its last event is left to write it to disk, and to tell the hooks
            if request_id in self._unanswered:
                task.cancel()
        await asyncio.gather(*self._turns, return_exceptions=True)
        for request_id in sorted(self._unanswered, key=str):
            # a task that was cancelled before its first step has told nobody
            self._stop_unbegun(request_id, "cancelled", "the session was closed")
        await opened.aclose()

    # -- frames
    def _send(self, frame: Frame) -> None:
        self._outgoing.put_nowait(frame)

    def _forward_event(self, event: Event) -> None:
        request_id = self._require_open().session.requests.request_of(event.turn) or None
        frame = encode_frame(event, request_id)
        if frame is None:
            return
        if frame["type"] == "turn_stop":
            self._unanswered.discard(request_id)
            frame["structured_output"] = self._structured_output(request_id, frame)
        self._send(frame)

    def _structured_output(self, request_id: str | None, frame: Frame) -> Any:
        """Return the value of an answer, or None if it does not fit the schema, as that of a service may not."""
        schema = self._schemas.get(request_id or "") or self._require_open().options.json_schema
        if schema is None or frame.get("reason") != "completed":
            return None
        try:
            value = json.loads(str(frame.get("text")))
        except (ValueError, RecursionError):
            return None
        return None if find_mismatch(schema, value) else value

    # -- prompts
    async def _handle(self, frame: Frame) -> None:
        if "prompt" in frame:
            self._handle_prompt(frame)
            return
        request_id = frame.get("request_id")
        command = frame.get("command")
        run_command = COMMANDS.get(command) if isinstance(command, str) else None
        try:
            if run_command is None:
                raise UsageError(
                    f"there is no command {command!r}; send a prompt, or one of {', '.join(['exit', *COMMANDS])}"
                )
            result = await run_command(self._require_open(), frame)
        except HarnessError as error:
            response = {"ok": False, "error": _error_fields(error)}
        except Exception as error:  # noqa: BLE001 - a command that fails must not end the session
            response = {
                "ok": False,
                "error": {"message": f"{type(error).__name__}: {error}", "code": type(error).__name__},
            }
        else:
            response = {"ok": True, "result": result}
        if request_id is not None or not response["ok"]:
            self._send({"type": "response", "command": command, "request_id": request_id, **response})

    def _handle_prompt(self, frame: Frame) -> None:
        request_id, prompt, schema = frame.get("id"), frame.get("prompt"), frame.get("json_schema")
        name = str(request_id) if request_id is not None else None
        if not isinstance(prompt, str) or not prompt.strip():
            self._refuse(name, "the prompt must be a text that is not empty")
            return
        if schema is not None and not isinstance(schema, Mapping):
            self._refuse(name, "json_schema must be a JSON schema: an object")
            return
        self._unanswered.add(name)
        if name is not None:
            self._require_open().session.requests.expect(name)
        if schema is not None and name is not None:
            self._schemas[name] = cast("Mapping[str, Any]", schema)
        task = asyncio.ensure_future(self._run_turn(prompt, name, cast("Mapping[str, Any] | None", schema)))
        self._turns[task] = name
        task.add_done_callback(self._turns.pop)

    def _refuse(self, request_id: str | None, message: str) -> None:
        """End a request that cannot begin a turn. It gets its `turn_stop`, too."""
        fields = self._make_fields(request_id)
        self._send({"type": "error", "message": message, "code": "UsageError", "recoverable": False, **fields})
        self._stop_unbegun(request_id, "error", message)

    def _stop_unbegun(self, request_id: str | None, reason: str, detail: str) -> None:
        # the number that the turn would have had
        number = self._require_open().session.state.turn_count
        stop = {"type": "turn_stop", "turn_number": number, "reason": reason, "detail": detail, "text": ""}
        self._send(stop | self._make_fields(request_id))

    def _make_fields(self, request_id: str | None) -> dict[str, Any]:
        fields: dict[str, Any] = {"session_id": self._session_id, "seq": None, "turn": None}
        return fields | ({"id": request_id} if request_id is not None else {})

    async def _run_turn(self, prompt: str, request_id: str | None, schema: Mapping[str, Any] | None) -> None:
        opened = self._require_open()
        ingress = Ingress("message", prompt, source=opened.options.source, request_id=request_id)
        try:
            await opened.submit(ingress, opened.create_driver(schema))
        except Exception as error:  # noqa: BLE001 - whatever fails, the client waits for the end of its prompt
            # otherwise the log has the error and the end of the turn
            if request_id in self._unanswered:
                message = error.message if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
                self._refuse(request_id, message)
            self._unanswered.discard(request_id)
        finally:
            self._schemas.pop(request_id or "", None)
            opened.session.requests.forget(request_id or "")

    @property
    def _session_id(self) -> str:
        return self._opened.session.id if self._opened else ""

    def _require_open(self) -> OpenSession:
        assert self._opened, "a session is open before anything is handled"
        return self._opened


def _error_fields(error: HarnessError) -> dict[str, Any]:
    return {"message": error.message, "code": type(error).__name__, "exit_code": error.exit_code}
