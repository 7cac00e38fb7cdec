"""The WebSockets: the terminal of an agent, and the events of all agents."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from lsp_harness.api.access.request_guard import SUBPROTOCOL
from lsp_harness.api.agents.agent_routes import AGENT_ID
from lsp_harness.api.agents.agent_streams import OpenStream
from lsp_harness.api.agents.terminal_socket import TerminalSocket
from lsp_harness.api.api_context import ApiContext
from lsp_harness.api.api_errors import Conflict, InvalidRequest, NotFound, error_answer
from lsp_harness.errors import HarnessError
from lsp_harness.runtime.agent_events import AgentEvent, SlowReader

Handler = Callable[[WebSocket], Awaitable[None]]
MODES = ("text", "binary")
CLOSE_SLOW = 1013
EVENTS_OF_THREAD = ("threadId", "sessionId")
"""Fields of the query that other clients use. An agent is its own thread here."""


def socket_routes(context: ApiContext) -> list[BaseRoute]:
    """Return the routes of the WebSockets."""

    async def terminal(socket: WebSocket) -> None:
        agent_id, mode = str(socket.path_params["agent_id"]), socket.query_params.get("mode", "text")
        agent = context.pool.require(agent_id) if AGENT_ID.fullmatch(agent_id) else None
        if agent is None:
            raise NotFound("there is no such agent", "list the agents with GET /agents")
        if agent.terminal is None:
            raise Conflict("the agent has no terminal", "start one with terminal: true")
        if mode not in MODES:
            raise InvalidRequest("mode must be text or binary", "leave it out")
        await _accept(socket)
        await TerminalSocket(socket, agent, agent.terminal, is_binary=mode == "binary").serve()

    async def events(socket: WebSocket) -> None:
        agent_id, since = _read_filter(context, socket)
        await _accept(socket)
        await _send_events(context, socket, agent_id, since)

    return [
        WebSocketRoute("/ws/agents/{agent_id}/terminal", _counted(context, terminal)),
        WebSocketRoute("/ws/events", _counted(context, events)),
    ]


def _counted(context: ApiContext, serve: Handler) -> Handler:
    """Return a handler that takes a place for each WebSocket, and answers with an error of HTTP what is refused."""

    async def handle(socket: WebSocket) -> None:
        try:
            with OpenStream(context):
                await serve(socket)
        except HarnessError as error:
            # a client that is gone is told nothing
            with suppress(RuntimeError, OSError, WebSocketDisconnect):
                if socket.application_state.name == "CONNECTING":
                    await socket.send_denial_response(error_answer(error))
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
        raise InvalidRequest("since must be a whole number", "use the seq of the last event")
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
    following = asyncio.ensure_future(_forward(feed.follow(first, agent_id), socket))
    try:
        await asyncio.wait({reading, following}, return_when=asyncio.FIRST_COMPLETED)
        if following.done() and isinstance(following.exception(), SlowReader):
            await socket.close(CLOSE_SLOW, "the client does not read")
    finally:
        for task in (reading, following):
            task.cancel()
        await asyncio.gather(reading, following, return_exceptions=True)


async def _forward(events: AsyncIterator[AgentEvent], socket: WebSocket) -> None:
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
