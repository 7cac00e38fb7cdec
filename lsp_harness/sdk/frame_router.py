"""The dispatch of the frames of a session: to its turns, to the commands that wait, and to readers of all events."""

import asyncio
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from lsp_harness.sdk.client_turn import TurnEvents
from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.sdk.session_connection import SessionConnection
from lsp_harness.wire.client_event_codec import parse_event
from lsp_harness.wire.client_events import (
    ClientEvent,
    ErrorEvent,
    HookDecision,
    PermissionRequest,
    SessionStart,
    UnknownEvent,
)
from lsp_harness.wire.frame_lines import WIRE_VERSION

MAX_WAITING_EVENTS = 100_000
"""The most events that are kept for a reader of all events."""
FRAMES_IN_A_ROW = 50
"""The most frames that are dispatched before other tasks run."""
INTERRUPT_WAIT_S = 30.0
"""Time for a turn to stop after it was interrupted. A session that does not stop it is ended."""
COMMAND_WAIT_S = 30.0

Answer = Callable[[PermissionRequest], None]


class EventFeed:
    """All events of a session from now on, as an async iterator. It ends with the session."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[ClientEvent | HarnessError | None] = asyncio.Queue()
        self._has_ended = False

    def add(self, event: ClientEvent) -> None:
        """Add an event for the reader of this feed."""
        if self._events.qsize() < MAX_WAITING_EVENTS:
            self._events.put_nowait(event)
        else:
            self.end(HarnessError("the events of the session were not read", code="slow_reader"))

    def end(self, error: HarnessError | None = None) -> None:
        """End the iterator after the events that were received, with an error or without."""
        if not self._has_ended:
            self._has_ended = True
            self._events.put_nowait(error)

    def __aiter__(self) -> "EventFeed":
        return self

    async def __anext__(self) -> ClientEvent:
        event = await self._events.get()
        if isinstance(event, ClientEvent):
            return event
        self._events.put_nowait(None)
        if event:
            raise event
        raise StopAsyncIteration


class FrameRouter:
    """The state of one connection: the turn that runs, and the commands without an answer.

    Args:
        connection: The connection to the session.
        ask: Called with each question of the permission gate.
        run_hook: Called with each question to a hook.
    """

    def __init__(
        self, connection: SessionConnection, ask: Answer | None, run_hook: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._connection = connection
        self._ask = ask
        self._run_hook = run_hook
        self._is_closing = False
        self._early: list[ErrorEvent] = []
        self.is_ready = False
        self._turn: TurnEvents | None = None
        self._responses: dict[tuple[str, str], asyncio.Future[dict[str, Any]]] = {}
        self._feeds: weakref.WeakSet[EventFeed] = weakref.WeakSet()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._last_number = 0
        self.error: HarnessError | None = None

    @property
    def running_turn(self) -> TurnEvents | None:
        """Return the turn that has begun and not ended."""
        return self._turn if self._turn and not self._turn.ended.is_set() else None

    def new_id(self, kind: str) -> str:
        """Return the next id of a prompt or a command."""
        self._last_number += 1
        return f"{kind}{self._last_number}"

    async def read_ready(self) -> SessionStart:
        """Read frames until the session is ready. Raise HarnessError."""
        last_error: ErrorEvent | None = None
        while (frame := await self._connection.read()) is not None:
            if frame.get("type") == "ready":
                started = _check_ready(frame)
                self.is_ready = True
                return started
            event = parse_event(frame)
            if isinstance(event, ErrorEvent):
                last_error = event
                if not event.recoverable:
                    break
        error = await self._connection.end_error()
        if last_error:
            raise HarnessError(
                last_error.message,
                code=last_error.code or "start_failed",
                stderr=error.stderr,
                exit_code=error.exit_code,
            )
        raise error

    async def run(self) -> None:
        """Dispatch frames until the session ends."""
        try:
            count = 0
            while (frame := await self._connection.read()) is not None:
                self._dispatch(frame)
                count += 1
                if not count % FRAMES_IN_A_ROW:
                    # frames that have already arrived are read without a pause, in which others could run
                    await asyncio.sleep(0)
            error = await self._connection.end_error()
            if self._is_closing:
                error = HarnessError("the client was closed", code="closed")
        except HarnessError as failure:
            error = failure
            self._connection.kill()
        except Exception as failure:  # noqa: BLE001 - it is reported
            # nobody waits for this task, and without an error the iterators would wait for ever
            error = HarnessError(f"the frames of the session cannot be read: {failure!r}", code="protocol")
            error.__cause__ = failure
            self._connection.kill()
        self.fail(error)

    def _dispatch(self, frame: dict[str, Any]) -> None:
        if frame.get("type") == "response":
            self._end_command(frame)
            return
        if frame.get("type") == "hook_request":
            self._run_hook(frame)
            return
        event = parse_event(frame)
        for feed in list(self._feeds):
            feed.add(event)
        if self._turn is None and isinstance(event, ErrorEvent):
            # a warning about the options, which is for whoever reads the first turn
            self._early.append(event)
        if self._turn and self._belongs_to_turn(event, self._turn):
            self._turn.add(event)
        if isinstance(event, PermissionRequest) and self._ask:
            self._ask(event)

    def _belongs_to_turn(self, event: ClientEvent, turn: TurnEvents) -> bool:
        """Return whether an event is one of a turn. Others are of a follow-up, or of the session as a whole."""
        if event.prompt_id is not None:
            return event.prompt_id == turn.prompt_id
        if isinstance(event, SessionStart) or turn.number is None:
            # the hooks of a prompt run before its turn begins
            return isinstance(event, UnknownEvent | HookDecision | ErrorEvent)
        return event.turn in (None, turn.number)

    def _end_command(self, frame: Mapping[str, Any]) -> None:
        response = self._responses.pop((str(frame.get("command")), str(frame.get("request_id"))), None)
        if response and not response.done():
            response.set_result(dict(frame))

    def begin_turn(self) -> TurnEvents:
        """Return the events of a new turn, which is the running one now."""
        if self.error:
            raise self.error
        self._turn = TurnEvents(self.new_id("p"))
        while self._early:
            self._turn.add(self._early.pop(0))
        return self._turn

    async def finish(self, reading: "asyncio.Task[None]", limit_s: float) -> None:
        """Ask the session to end, and answer its hooks until it has ended."""
        self._is_closing = True
        await self._send_quietly({"command": "exit"})
        await asyncio.wait({reading}, timeout=limit_s)

    async def send_command(self, command: str, **values: Any) -> Any:
        """Send a command and return its result. Raise HarnessError if the session refuses it."""
        if self.error:
            raise self.error
        request_id = str(values.pop("request_id", None) or self.new_id("c"))
        response: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._responses[command, request_id] = response
        try:
            await self._connection.write({"command": command, "request_id": request_id, **values})
            await asyncio.wait({response}, timeout=COMMAND_WAIT_S)
        finally:
            self._responses.pop((command, request_id), None)
            if not response.cancel():
                # the exception may not have been read, if this task was cancelled
                response.exception()
        if response.cancelled():
            raise HarnessError(f"the session did not answer the command {command}", code="timeout")
        return _read_response(command, response.result())

    def send_later(self, command: str, **values: Any) -> None:
        """Send a command from a callback. Errors are ignored, because the end of the session reports them."""
        self.start_task(self._send_quietly({"command": command, **values}))

    async def _send_quietly(self, frame: dict[str, Any]) -> None:
        with suppress(HarnessError):
            await self._connection.write(frame)

    def start_task(self, coroutine: Any) -> None:
        """Run a coroutine that ends with the connection."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def interrupt_turn(self, turn: TurnEvents) -> None:
        """Interrupt a turn whose events nobody reads any more."""
        if not turn.ended.is_set() and not self.error:
            self.start_task(self._stop_turn(turn))

    async def _stop_turn(self, turn: TurnEvents) -> None:
        if turn.ended.is_set():
            return
        await self._send_quietly({"command": "interrupt", "request_id": self.new_id("c"), "id": turn.prompt_id})
        ended = asyncio.ensure_future(turn.ended.wait())
        try:
            await asyncio.wait({ended}, timeout=INTERRUPT_WAIT_S)
        finally:
            ended.cancel()
        if not turn.ended.is_set():
            self._connection.kill()
            self.fail(HarnessError(f"a turn did not stop within {INTERRUPT_WAIT_S:g} s", code="stuck"))

    def subscribe(self) -> EventFeed:
        """Return the events of the session from now on."""
        feed = EventFeed()
        if self.error:
            feed.end()
        else:
            self._feeds.add(feed)
        return feed

    def fail(self, error: HarnessError) -> None:
        """End the turn, the commands and the feeds with an error. The first error counts."""
        if self.error:
            return
        self.error = error
        if self._turn:
            self._turn.fail(error)
        for response in self._responses.values():
            if not response.done():
                response.set_exception(error)
        is_closed = error.code == "closed"
        for feed in list(self._feeds):
            feed.end(None if is_closed else error)

    def cancel_tasks(self) -> None:
        """Cancel what still runs for this connection."""
        for task in self._tasks:
            task.cancel()


def _check_ready(frame: Mapping[str, Any]) -> SessionStart:
    wire, event = frame.get("wire"), parse_event(frame)
    if type(wire) is not int or not isinstance(event, SessionStart) or not event.session_id:
        raise HarnessError(f"the program sent an unknown first line: {dict(frame)!r:.200}", code="protocol")
    if wire > WIRE_VERSION:
        version = event.version or "of an unknown version"
        raise HarnessError(
            f"lsp-harness {version} speaks version {wire} of the protocol, and this SDK only "
            f"{WIRE_VERSION}: upgrade the package lsp-harness of this program",
            code="wire_version",
        )
    return event


def _read_response(command: str, frame: Mapping[str, Any]) -> Any:
    if frame.get("ok") is True:
        return frame.get("result")
    error = frame.get("error")
    details = cast("dict[str, Any]", error) if isinstance(error, dict) else {"message": str(error)}
    raise HarnessError(
        str(details.get("message") or f"the session refused {command}"), code=str(details.get("code") or "refused")
    )
