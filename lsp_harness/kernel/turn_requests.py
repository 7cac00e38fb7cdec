"""The turns that run, and the ids that clients gave their requests: the one place that knows which prompt runs."""

import asyncio
from typing import Any


class TurnRequests:
    """The running turns of a session, by number, and the requests that they answer."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._interrupted: set[int] = set()
        self._expected: set[str] = set()
        self._withdrawn: set[str] = set()

    @property
    def tasks(self) -> list[asyncio.Task[Any]]:
        """The turns that run."""
        return list(self._tasks.values())

    def expect(self, request_id: str) -> None:
        """Accept the id of a request whose turn will begin, so that it can be interrupted before that."""
        self._expected.add(request_id)

    def forget(self, request_id: str) -> None:
        """Drop the id of a request whose turn has ended, or never began."""
        self._expected.discard(request_id)
        self._withdrawn.discard(request_id)

    def is_withdrawn(self, request_id: str | None) -> bool:
        """Return whether a request was interrupted before its turn began."""
        return request_id is not None and request_id in self._withdrawn

    def assign(self, number: int, request_id: str | None) -> None:
        """Note that a turn answers a request. `request_of` knows this also after the turn."""
        if request_id is not None:
            self._ids[number] = request_id

    def request_of(self, number: int | None) -> str | None:
        """Return the id of the request that a turn answers, or None if it has none."""
        return None if number is None else self._ids.get(number)

    def start(self, number: int, task: asyncio.Task[Any]) -> None:
        """Note that the task of a turn has started."""
        self._tasks[number] = task

    def end(self, number: int) -> None:
        """Note that a turn runs no more."""
        self._tasks.pop(number, None)
        self._interrupted.discard(number)
        if (request_id := self._ids.get(number)) is not None:
            self._expected.discard(request_id)

    def was_interrupted(self, number: int) -> bool:
        """Return whether a running turn was stopped by `interrupt`."""
        return number in self._interrupted

    def interrupt(self, request_id: str | None = None) -> bool:
        """Stop the running turns. Return whether there was one.

        Args:
            request_id: Stop only the turn of this request. If it has not begun, it ends when it begins.
        """
        running = {number: task for number, task in self._tasks.items() if not task.done()}
        if request_id is not None:
            running = {number: task for number, task in running.items() if self._ids.get(number) == request_id}
        self._interrupted.update(running)
        for task in running.values():
            task.cancel()
        if running:
            return True
        # a client may interrupt a prompt in the moment in which it sent it
        waiting = self._expected if request_id is None else self._expected & {request_id}
        self._withdrawn |= waiting
        return bool(waiting)
