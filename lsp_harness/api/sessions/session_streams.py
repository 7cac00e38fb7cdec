"""The events of a session: a part of them as JSON, or all of them as server-sent events while they happen."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any

from sse_starlette.event import ServerSentEvent
from starlette.responses import Response

from lsp_harness.api.agents.agent_streams import event_stream, read_last_id
from lsp_harness.api.api_context import ApiContext
from lsp_harness.api.api_route import ApiCall
from lsp_harness.errors import FileMissing
from lsp_harness.harness.events import ConversationReported, HarnessEvent
from lsp_harness.kernel.log.log_reader import follow_log, read_history
from lsp_harness.wire.event import Event, encode

MAX_EVENTS = 10_000
MAX_PENDING = 2_000
"""Pieces of text that may wait for one client. Later ones are left out, as the log has the whole text."""


def read_events(call: ApiCall, session_id: str) -> dict[str, Any]:
    """Return the events of a session after a number, and the number to go on from."""
    since, limit = call.query["since"], call.query["limit"]
    later = [event for event in _history(call.context, session_id) if event.seq is not None and event.seq > since]
    shown = later[:limit]
    last = shown[-1].seq if shown else since
    events: list[Any] = [json.loads(encode(event)) for event in shown]
    return {"session_id": session_id, "events": events, "next": last, "is_complete": len(shown) == len(later)}


def stream_events(call: ApiCall, session_id: str) -> Response:
    """Return the stream of the events of a session."""
    last = read_last_id(call)
    return event_stream(call.context, _follow(call.context, session_id, call.query["since"] if last is None else last))


async def _follow(context: ApiContext, session_id: str, after: int) -> AsyncGenerator[ServerSentEvent]:
    """Yield the events of the session after a number, then new ones, and the pieces of text between them."""
    queue: asyncio.Queue[Event | None] = asyncio.Queue()

    def receive(event: HarnessEvent) -> None:
        if not isinstance(event, ConversationReported) or event.event.session_id != session_id:
            return
        if event.event.seq is None and queue.qsize() < MAX_PENDING:
            queue.put_nowait(event.event)

    for event in _history(context, session_id):
        if event.seq is not None and event.seq > after:
            after = event.seq
            yield _encode(event)
    following = follow_log(context.store.path(session_id), after)
    context.harness.events.subscribe(receive)
    reading = asyncio.ensure_future(_pump(following, queue))
    try:
        while (event := await queue.get()) is not None:
            yield _encode(event)
    finally:
        context.harness.events.unsubscribe(receive)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _pump(events: AsyncIterator[Event], queue: "asyncio.Queue[Event | None]") -> None:
    try:
        async for event in events:
            await queue.put(event)
    finally:
        # a log that cannot be read any more ends the stream
        queue.put_nowait(None)


def _history(context: ApiContext, session_id: str) -> list[Event]:
    with suppress(FileMissing):
        return list(read_history(context.store.folder, session_id))
    return []


def _encode(event: Event) -> ServerSentEvent:
    return ServerSentEvent(encode(event), event=event.type, id=None if event.seq is None else str(event.seq))
