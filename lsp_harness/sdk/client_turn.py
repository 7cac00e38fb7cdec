"""A turn as an async iterator of events.

The events are collected while nobody reads, so a turn that is read late, or not at all, cannot stall the next one. The
iterator and the collected events are two objects: if the program drops the iterator, its turn is interrupted.
"""

import asyncio
import weakref
from collections.abc import Callable
from contextlib import suppress

from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.wire.client_events import ClientEvent, TurnStart, TurnStop


class TurnEvents:
    """The events of a turn that were received and not read yet."""

    def __init__(self, prompt_id: str) -> None:
        self.prompt_id = prompt_id
        self.number: int | None = None
        self.stop: TurnStop | None = None
        self.error: HarnessError | None = None
        self._events: asyncio.Queue[ClientEvent | None] = asyncio.Queue()
        self.ended = asyncio.Event()
        self._is_closed = False

    def add(self, event: ClientEvent) -> None:
        """Add an event. One of type `TurnStop` is the last."""
        if self.ended.is_set():
            return
        if not self._is_closed:
            self._events.put_nowait(event)
        if event.prompt_id != self.prompt_id:
            return
        if isinstance(event, TurnStart):
            self.number = event.turn_number
        elif isinstance(event, TurnStop):
            self.stop = event
            self._end()

    def fail(self, error: HarnessError) -> None:
        """End the turn with an error, after the events that were received."""
        if not self.ended.is_set():
            self.error = error
            self._end()

    def _end(self) -> None:
        self._events.put_nowait(None)
        self.ended.set()

    async def next(self) -> ClientEvent:
        """Return the next event. Raise StopAsyncIteration after the last one, or the error that ended the turn."""
        event = await self._events.get()
        if event is not None:
            return event
        # further calls get the same answer
        self._events.put_nowait(None)
        if self.error:
            raise self.error
        raise StopAsyncIteration

    def close(self) -> None:
        """Drop the events that were not read, and those that are still to come."""
        self._is_closed = True
        while not self._events.empty():
            self._events.get_nowait()
        self._events.put_nowait(None)


class Turn:
    """The events of one prompt: an async iterator that ends after `TurnStop`.

    A turn that is not read to its end is interrupted when it is closed, when a task that reads it is cancelled, or when
    nothing refers to it any more.

    Args:
        events: The events of the turn.
        interrupt: Called to interrupt the turn.
    """

    def __init__(self, events: TurnEvents, interrupt: Callable[[TurnEvents], None]) -> None:
        self._events = events
        self._interrupt = interrupt
        loop = asyncio.get_running_loop()
        # the finaliser must not refer to the turn
        self._finaliser = weakref.finalize(self, _interrupt_dropped, loop, interrupt, events)
        self._finaliser.atexit = False

    @property
    def prompt_id(self) -> str:
        """Return the id of the prompt, which all its events have."""
        return self._events.prompt_id

    @property
    def stop(self) -> TurnStop | None:
        """Return the last event, or None if the turn still runs."""
        return self._events.stop

    def __aiter__(self) -> "Turn":
        return self

    async def __anext__(self) -> ClientEvent:
        try:
            return await self._events.next()
        except asyncio.CancelledError:
            # the traceback of a cancelled task may refer to this object for long
            self._close()
            raise

    async def result(self) -> TurnStop:
        """Read the rest of the turn and return its last event. Raise HarnessError."""
        async for _ in self:
            pass
        if not self._events.stop:
            raise HarnessError("the turn was closed before its end", code="closed")
        return self._events.stop

    async def aclose(self) -> None:
        """Interrupt the turn if it still runs. Its further events are dropped."""
        self._close()

    def _close(self) -> None:
        self._finaliser.detach()
        if not self._events.ended.is_set():
            self._interrupt(self._events)
        self._events.close()


def _interrupt_dropped(
    loop: asyncio.AbstractEventLoop, interrupt: Callable[[TurnEvents], None], events: TurnEvents
) -> None:
    """Interrupt the turn whose iterator was dropped. The garbage collector may call this in any thread."""
    # the loop may have ended
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_drop, interrupt, events)


def _drop(interrupt: Callable[[TurnEvents], None], events: TurnEvents) -> None:
    events.close()
    if not events.ended.is_set():
        interrupt(events)
