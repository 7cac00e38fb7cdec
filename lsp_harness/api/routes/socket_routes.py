"""The WebSockets: the events of all agents, and the terminal of an agent.

On the socket of a terminal, what the agent prints goes out, and what the user types comes in. In text mode, which other
clients know, a message that begins with `{` is a control message for the client. So no output begins with `{`: a chunk
that would is sent after a NUL, which terminals ignore. Typed text is a control message only if it is an object with a
known `type`, so that JSON can be pasted. In binary mode, binary messages are bytes of the terminal, and text messages
are control messages. A chunk never ends within a character or an escape sequence.
"""

import asyncio
import codecs
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from lsp_harness.api.access.request_guard import SUBPROTOCOL
from lsp_harness.api.api_context import ApiContext
from lsp_harness.api.api_errors import Conflict, InvalidApiRequest, NotFound, describe_error, make_error_answer
from lsp_harness.api.event_streams import OpenStream
from lsp_harness.api.routes.agent_routes import AGENT_ID
from lsp_harness.errors import HarnessError
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_events import AgentEvent, SlowReader
from lsp_harness.runtime.terminal.terminal_viewer import SlowViewer, TerminalViewer
from lsp_harness.runtime.viewer_sizes import MAX_SIDE

if TYPE_CHECKING:
    from lsp_harness.runtime.terminal.terminal import Terminal

Control = Mapping[str, Any]
Handler = Callable[[WebSocket], Awaitable[None]]
MODES = ("text", "binary")
FILLER = "\0"
"""A character without effect, before output that looks like a control message."""
CLOSE_NORMAL, CLOSE_SLOW = 1000, 1013
CONTROL_TYPES = frozenset({"resize", "ping"})
"""Types of control messages of clients."""
CHECK_S = 0.25
"""Time between two looks at whether a client that does not read was dropped."""
CLOSE_TIMEOUT_S = 2.0
EVENTS_OF_THREAD = ("threadId", "sessionId")
"""Fields of the query that other clients use. An agent is its own thread here."""


def list_socket_routes(context: ApiContext) -> list[BaseRoute]:
    """Return the routes of the WebSockets."""

    async def terminal(socket: WebSocket) -> None:
        agent_id, mode = str(socket.path_params["agent_id"]), socket.query_params.get("mode", "text")
        agent = context.pool.require(agent_id) if AGENT_ID.fullmatch(agent_id) else None
        if agent is None:
            raise NotFound("there is no such agent", "list the agents with GET /agents")
        if agent.terminal is None:
            raise Conflict("the agent has no terminal", "start one with terminal: true")
        if mode not in MODES:
            raise InvalidApiRequest("mode must be text or binary", "leave it out")
        await _accept(socket)
        await TerminalSocket(socket, agent, agent.terminal, is_binary=mode == "binary").serve()

    async def events(socket: WebSocket) -> None:
        agent_id, since = _read_filter(context, socket)
        await _accept(socket)
        await _send_events(context, socket, agent_id, since)

    return [
        WebSocketRoute("/ws/agents/{agent_id}/terminal", _count_sockets(context, terminal)),
        WebSocketRoute("/ws/events", _count_sockets(context, events)),
    ]


def _count_sockets(context: ApiContext, serve: Handler) -> Handler:
    """Return a handler that takes a place for each WebSocket, and answers with an error of HTTP what is refused."""

    async def handle(socket: WebSocket) -> None:
        try:
            with OpenStream(context):
                await serve(socket)
        except HarnessError as error:
            # a client that is gone is told nothing
            with suppress(RuntimeError, OSError, WebSocketDisconnect):
                if socket.application_state.name == "CONNECTING":
                    await socket.send_denial_response(make_error_answer(error))
                else:
                    await socket.close(1011)
        except WebSocketDisconnect:
            return

    return handle


async def _accept(socket: WebSocket) -> None:
    # the chosen subprotocol has no token in it
    await socket.accept(SUBPROTOCOL if SUBPROTOCOL in socket.scope.get("subprotocols", ()) else None)


def _read_filter(context: ApiContext, socket: WebSocket) -> tuple[str, int | None]:
    query = socket.query_params
    names = [query[name] for name in ("agentId", *EVENTS_OF_THREAD) if query.get(name)]
    if any(not AGENT_ID.fullmatch(name) for name in names):
        raise NotFound("there is no such agent", "list the agents with GET /agents")
    since = query.get("since")
    if since is not None and not (since.isascii() and since.isdigit() and len(since) < 16):
        raise InvalidApiRequest("since must be a whole number", "use the seq of the last event")
    agent_id = names[0] if names else ""
    with suppress(HarnessError):
        # a name stands for the id; an agent that is not known yet has no events
        agent_id = context.pool.require(agent_id).id if agent_id else ""
    return agent_id, int(since) if since is not None else None


async def _send_events(context: ApiContext, socket: WebSocket, agent_id: str, since: int | None) -> None:
    feed = context.pool.feed
    # what happens after the first frame is sent must not be missed
    first = feed.last_seq if since is None else since
    filter = {"agentId": agent_id or None}
    connected = {"type": "connected", "event": "connected", "filter": filter, "seq": feed.last_seq}
    await socket.send_text(json.dumps(connected))
    reading = asyncio.ensure_future(_answer_pings(socket))
    following = asyncio.ensure_future(_forward_events(feed.follow(first, agent_id), socket))
    try:
        await asyncio.wait({reading, following}, return_when=asyncio.FIRST_COMPLETED)
        if following.done() and isinstance(following.exception(), SlowReader):
            await socket.close(CLOSE_SLOW, "the client does not read")
    finally:
        for task in (reading, following):
            task.cancel()
        await asyncio.gather(reading, following, return_exceptions=True)


async def _forward_events(events: AsyncIterator[AgentEvent], socket: WebSocket) -> None:
    async for event in events:
        await socket.send_text(json.dumps(event.fields))


async def _answer_pings(socket: WebSocket) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            # a binary message has no text
            if _is_ping(message.get("text") or ""):
                await socket.send_text(json.dumps({"type": "pong", "event": "pong"}))


def _is_ping(text: str) -> bool:
    if text == "ping":
        return True
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("type") == "ping"


class TerminalSocket:
    """One client of a terminal.

    Args:
        socket: The WebSocket, which was accepted.
        agent: The agent.
        terminal: Its terminal.
        is_binary: Whether the client asked for the binary mode.
    """

    def __init__(self, socket: WebSocket, agent: Agent, terminal: "Terminal", *, is_binary: bool) -> None:
        self._socket, self._agent, self._terminal, self._is_binary = socket, agent, terminal, is_binary
        self._size = terminal.viewer_sizes.join()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def serve(self) -> None:
        """Serve the client until it goes, the agent ends, or it is too slow."""
        screen, viewer = self._terminal.screen, self._terminal.attach()
        try:
            # it fails if the client is gone already
            await self._read_controls(type="connected", agentId=self._agent.id, cols=screen.columns, rows=screen.lines)
            await self._serve_viewer(viewer)
        finally:
            viewer.close()
            self._size.close()

    async def _serve_viewer(self, viewer: TerminalViewer) -> None:
        reading = asyncio.ensure_future(self._read())
        writing = asyncio.ensure_future(self._write(viewer))
        sizing = asyncio.ensure_future(self._tell_sizes())
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                await self._close(writing)
        finally:
            for task in (reading, writing, sizing):
                task.cancel()
            await asyncio.gather(reading, writing, sizing, return_exceptions=True)

    # -- what the agent prints
    async def _write(self, viewer: TerminalViewer) -> None:
        async for chunk in viewer:
            if self._is_binary:
                await self._send(self._socket.send_bytes(chunk), viewer)
            elif text := self._decoder.decode(chunk):
                await self._send(self._socket.send_text(FILLER + text if text[0] == "{" else text), viewer)

    async def _send(self, sending: Awaitable[None], viewer: TerminalViewer) -> None:
        """Send a message. Raise SlowViewer if so much output has come meanwhile that the client was dropped."""
        task = asyncio.ensure_future(sending)
        try:
            while not (await asyncio.wait({task}, timeout=CHECK_S))[0]:
                if viewer.is_dropped:
                    raise SlowViewer
            await task
        finally:
            task.cancel()

    async def _tell_sizes(self) -> None:
        while True:
            columns, rows = await self._size.wait_for_change()
            await self._read_controls(type="size", cols=columns, rows=rows)

    async def _close(self, writing: "asyncio.Task[None]") -> None:
        error = writing.exception()
        if isinstance(error, SlowViewer):
            code, reason = CLOSE_SLOW, "the client does not read"
        elif error is None:
            code, reason = CLOSE_NORMAL, "the agent has ended"
            await self._read_controls(type="exit", code=self._terminal.exit_code)
        else:
            return
        with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            await asyncio.wait_for(self._socket.close(code, reason), CLOSE_TIMEOUT_S)

    # -- what the user types
    async def _read(self) -> None:
        with suppress(WebSocketDisconnect):
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                data: bytes | None = message.get("bytes")
                if data is None:
                    text = str(message.get("text") or "")
                    control = read_control(text)
                    if control is not None:
                        await self._follow_control(control)
                        continue
                    if self._is_binary:
                        await self._read_controls(type="error", message="a text message must be a control message")
                        continue
                    data = text.encode("utf-8", "replace")
                await self._type(data)

    async def _type(self, data: bytes) -> None:
        self._size.note_typing()
        try:
            self._agent.press(data)
        except HarnessError as error:
            await self._read_controls(type="error", **describe_error(error)[1])

    async def _follow_control(self, control: Control) -> None:
        if control["type"] == "ping":
            await self._read_controls(type="pong")
            return
        size = (control.get("cols"), control.get("rows"))
        if any(type(number) is not int or not 1 <= number <= MAX_SIDE for number in size):
            await self._read_controls(type="error", message=f"cols and rows must be whole numbers from 1 to {MAX_SIDE}")
            return
        self._size.request(cast("int", size[0]), cast("int", size[1]))

    async def _read_controls(self, **fields: Any) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.send_text(json.dumps(fields))


def read_control(text: str) -> Control | None:
    """Return the control message of a text, or None if the text is typed."""
    if not text.startswith("{"):
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    control = cast("Control", value)
    kind = control.get("type")
    return control if isinstance(kind, str) and kind in CONTROL_TYPES else None
