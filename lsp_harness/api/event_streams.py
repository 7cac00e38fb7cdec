"""Streams of the output of an agent and of the events of a session.

They are server-sent events that can be resumed. The output of an agent can also be had as plain bytes, and a part of
the events of a session as JSON.
"""

import asyncio
import codecs
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from lsp_harness.api.api_context import ApiContext
from lsp_harness.api.api_errors import Conflict, TooManyStreams
from lsp_harness.api.api_route import ApiCall
from lsp_harness.errors import FileMissing
from lsp_harness.harness.events import ConversationReported, HarnessEvent
from lsp_harness.kernel.log.log_reader import follow_log, read_history
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.terminal.terminal_viewer import SlowViewer
from lsp_harness.wire.event import Event, encode

if TYPE_CHECKING:
    from lsp_harness.runtime.terminal.terminal import Terminal

PING_S = 15.0
SEND_TIMEOUT_S = 30.0
"""Time in which a client must read what was sent. After it the stream is closed."""
MAX_EVENTS = 10_000
MAX_PENDING = 2_000
"""Pieces of text that may wait for one client. Later ones are left out, as the log has the whole text."""


class OpenStream:
    """One of the streams that a server may have open at once, counted from its start to its end."""

    def __init__(self, context: ApiContext) -> None:
        self._context, self._is_open = context, False

    def __enter__(self) -> Self:
        """Count the stream as open. Raise TooManyStreams if too many are open."""
        if self._context.open_streams >= self._context.max_streams:
            raise TooManyStreams("too many streams are open", "close one and try again")
        self._context.open_streams += 1
        self._is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        """Count the stream as closed."""
        if self._is_open:
            self._is_open = False
            self._context.open_streams -= 1


class StreamAnswer(Response):
    """An answer that holds a place of the open streams until it ends, even if its first part is never sent.

    Args:
        context: The server, whose places are counted. TooManyStreams is raised if none is left.
        parts: The parts of the answer. They are closed at the end.
        answer: The answer that sends the parts.
    """

    def __init__(self, context: ApiContext, parts: AsyncGenerator[Any], answer: Response) -> None:
        self._place, self._parts, self._answer = OpenStream(context).__enter__(), parts, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        try:
            await self._answer(scope, receive, send)
        finally:
            self._place.__exit__()
            await self._parts.aclose()


def open_event_stream(context: ApiContext, events: AsyncGenerator[ServerSentEvent]) -> Response:
    """Return the answer that sends events until they end or the client goes. Raise TooManyStreams."""
    answer = EventSourceResponse(events, ping=PING_S, send_timeout=SEND_TIMEOUT_S, sep="\n")
    return StreamAnswer(context, events, answer)


def read_last_id(call: ApiCall) -> int | None:
    """Return the number in the header `Last-Event-ID`, or in the query field of this name, or None."""
    text = call.request.headers.get("last-event-id", "") or str(call.query.get("lastEventId") or "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


async def stream_output(call: ApiCall, agent: Agent) -> Response:
    """Return the stream of an agent's output."""
    terminal = agent.terminal
    if terminal is None:
        raise Conflict("the agent has no terminal", "its events say what it does; see /ws/events")
    if call.accepts("text/plain") and not call.accepts("text/event-stream"):
        output = _plain_output(terminal)
        return StreamAnswer(call.context, output, StreamingResponse(output, media_type="text/plain; charset=utf-8"))
    return open_event_stream(call.context, _output_events(terminal, read_last_id(call)))


async def _plain_output(terminal: "Terminal") -> AsyncGenerator[bytes]:
    viewer = terminal.attach()
    try:
        async for chunk in viewer:
            yield chunk
    except SlowViewer:
        return
    finally:
        viewer.close()


async def _output_events(terminal: "Terminal", since: int | None) -> AsyncGenerator[ServerSentEvent]:
    """Yield the output of a terminal. The id of an event is the place in the output after it."""
    viewer, ring = terminal.attach(), terminal.ring
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        name = "snapshot"
        if since is not None and ring.start <= since <= ring.end:
            await anext(viewer, b"")
            name = "output"
            if rest := ring.read(since)[1]:
                yield ServerSentEvent(_encode(decoder, rest), event=name, id=str(ring.end))
        async for chunk in viewer:
            yield ServerSentEvent(_encode(decoder, chunk), event=name, id=str(ring.end))
            name = "output"
        yield ServerSentEvent("{}", event="end", id=str(ring.end))
    except SlowViewer:
        yield ServerSentEvent("{}", event="dropped")
    finally:
        viewer.close()


def _encode(decoder: codecs.IncrementalDecoder, data: bytes) -> str:
    # as JSON, because a server-sent event cannot hold a carriage return
    return json.dumps({"text": decoder.decode(data)}, ensure_ascii=False)


def read_events(call: ApiCall, session_id: str) -> dict[str, Any]:
    """Return the events of a session after a number, and the number to go on from."""
    since, limit = call.query["since"], call.query["limit"]
    later = [event for event in _read_history(call.context, session_id) if event.seq is not None and event.seq > since]
    shown = later[:limit]
    last = shown[-1].seq if shown else since
    events: list[Any] = [json.loads(encode(event)) for event in shown]
    return {"session_id": session_id, "events": events, "next": last, "is_complete": len(shown) == len(later)}


def stream_events(call: ApiCall, session_id: str) -> Response:
    """Return the stream of the events of a session."""
    last = read_last_id(call)
    return open_event_stream(
        call.context, _follow(call.context, session_id, call.query["since"] if last is None else last)
    )


async def _follow(context: ApiContext, session_id: str, after: int) -> AsyncGenerator[ServerSentEvent]:
    """Yield the events of the session after a number, then new ones, and the pieces of text between them."""
    queue: asyncio.Queue[Event | None] = asyncio.Queue()

    def receive(event: HarnessEvent) -> None:
        if not isinstance(event, ConversationReported) or event.event.session_id != session_id:
            return
        if event.event.seq is None and queue.qsize() < MAX_PENDING:
            queue.put_nowait(event.event)

    for event in _read_history(context, session_id):
        if event.seq is not None and event.seq > after:
            after = event.seq
            yield _encode_event(event)
    following = follow_log(context.store.path(session_id), after)
    context.harness.events.subscribe(receive)
    reading = asyncio.ensure_future(_queue_events(following, queue))
    try:
        while (event := await queue.get()) is not None:
            yield _encode_event(event)
    finally:
        context.harness.events.unsubscribe(receive)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _queue_events(events: AsyncIterator[Event], queue: "asyncio.Queue[Event | None]") -> None:
    try:
        async for event in events:
            await queue.put(event)
    finally:
        # a log that cannot be read any more ends the stream
        queue.put_nowait(None)


def _read_history(context: ApiContext, session_id: str) -> list[Event]:
    with suppress(FileMissing):
        return list(read_history(context.store.folder, session_id))
    return []


def _encode_event(event: Event) -> ServerSentEvent:
    return ServerSentEvent(encode(event), event=event.type, id=None if event.seq is None else str(event.seq))
