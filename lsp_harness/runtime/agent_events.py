"""The events of agents, and the feed from which any number of clients reads them."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

EventName = Literal[
    "agent_started",
    "agent_ready",
    "agent_stopped",
    "agent_error",
    "login_required",
    "message",
    "question",
    "blocking_prompt",
    "permission_request",
    "permission_decided",
    "approval_undelivered",
    "status",
    "submitted",
    "files_changed",
    "verified",
]
KEPT_EVENTS = 10_000
"""Number of events that a feed remembers for clients that come late."""
MAX_PENDING_EVENTS = 2_000
"""Number of events that may wait for one client. A client that is slower than that is dropped."""


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One event of an agent.

    Attributes:
        seq: Its number in the feed, from 1 on without gaps.
        event: The name of the event.
        agent_id: The id of the agent.
        data: The facts, as JSON. They hold no secrets.
        timestamp: The time in UTC, ISO 8601.
    """

    seq: int
    event: EventName
    agent_id: str
    data: Mapping[str, Any]
    timestamp: str

    @property
    def fields(self) -> dict[str, Any]:
        """The envelope that clients get."""
        return {"event": self.event, "data": self.data, "timestamp": self.timestamp, "seq": self.seq}


class SlowReader(Exception):
    """A client does not read its events, so that it was dropped."""


class AgentEventFeed:
    """The events of all agents of one pool, in order. All methods must be called in one event loop."""

    def __init__(self) -> None:
        self._events: deque[AgentEvent] = deque(maxlen=KEPT_EVENTS)
        self._queues: set[asyncio.Queue[AgentEvent | None]] = set()
        self._count = 0
        self.listeners: list[Callable[[AgentEvent], None]] = []
        """Functions that are called with each event at once."""

    @property
    def last_seq(self) -> int:
        """The number of the newest event, or 0."""
        return self._count

    def publish(self, event: EventName, agent_id: str, data: Mapping[str, Any]) -> AgentEvent:
        """Append an event and give it to all readers."""
        self._count += 1
        published = AgentEvent(self._count, event, agent_id, data, datetime.now(UTC).isoformat())
        self._events.append(published)
        for queue in tuple(self._queues):
            if queue.qsize() >= MAX_PENDING_EVENTS:
                self._queues.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(published)
        for listener in self.listeners:
            listener(published)
        return published

    def read(self, since: int = 0, agent_id: str = "") -> list[AgentEvent]:
        """Return the events that are remembered after a number, of one agent or of all."""
        return [event for event in self._events if event.seq > since and agent_id in ("", event.agent_id)]

    async def follow(self, since: int | None = None, agent_id: str = "") -> AsyncGenerator[AgentEvent]:
        """Yield events as they happen.

        Args:
            since: First yield the remembered events after this number. None begins with the next event.
            agent_id: Yield the events of this agent only.

        Raises:
            SlowReader: The reader is too slow.
        """
        queue: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            for event in self.read(since, agent_id) if since is not None else ():
                yield event
            while event := await queue.get():
                if agent_id in ("", event.agent_id):
                    yield event
            raise SlowReader
        finally:
            self._queues.discard(queue)
