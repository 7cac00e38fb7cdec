"""The answer that the model is writing for a document. It outlives its request while the user types its text.

A user who types eight keys a second replaces a request with every key, mostly before its answer arrives. Often the
typed text is the start of that answer. Then the newer request continues with it, and the model is not asked again.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from lsp_harness.completion.answer_cache import ModelText
from lsp_harness.inference.request import Usage
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.typed_text import find_typed_text


class BackgroundTasks:
    """The tasks of one client that no request waits for. The client can wait for their end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def add(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Cancel all tasks, and wait until the engine knows."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


GRACE_S = 0.4
"""Time that an answer continues if no request waits for it. Editors cancel a request with the next key, some before
they send that key, and send a new request later."""

Answer = tuple[ModelText, Usage]
Generate = Callable[[Callable[[str], bool]], Coroutine[Any, Any, Answer]]
"""The function that asks the model for an answer. It calls its argument with all of the text so far, and ends when that
call returns False.
"""
CallLater = Callable[[float, Callable[[], None]], None]


def call_later(delay_s: float, call: Callable[[], None]) -> None:
    """Call a function after a delay, on the running event loop."""
    asyncio.get_running_loop().call_later(delay_s, call)


class InflightAnswer:
    """The answer that the model is writing for one place, and the text that the user typed there meanwhile."""

    def __init__(self, cursor: Cursor, generate: Generate) -> None:
        self._cursor = cursor
        self._text = self._typed_text = ""
        self._is_abandoned = False
        self._waiting: list[str] = []
        """For each waiting request, the text that was typed before it."""
        self.task: asyncio.Task[Answer] = asyncio.ensure_future(generate(self._should_continue))
        # retrieve the error, in case no request waits any more
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    @property
    def has_waiters(self) -> bool:
        return bool(self._waiting)

    def follow(self, document: Document, offset: int) -> bool:
        """Record that the user is at `offset` now. Return whether the answer may still fit the typed text."""
        typed_text = find_typed_text(self._cursor.document, self._cursor.offset, document, offset)
        if typed_text is None or not _do_agree(self._text, typed_text.text):
            return False
        self._typed_text = typed_text.text
        return True

    async def wait_for_rest(self, cursor: Cursor) -> Answer | None:
        """Wait for the answer and return its rest at `cursor`, or None if the user typed something else."""
        typed_text = find_typed_text(self._cursor.document, self._cursor.offset, cursor.document, cursor.offset)
        typed_start = typed_text.text if typed_text else ""
        self._waiting.append(typed_start)
        try:
            answer, usage = await asyncio.shield(self.task)
        finally:
            self._waiting.remove(typed_start)
        size = len(typed_start)
        if self._is_abandoned or (size and not (answer.text.startswith(typed_start) and answer.text[size:].strip())):
            return None
        return answer.without_start(size), usage

    def _should_continue(self, text: str) -> bool:
        self._text = text
        self._is_abandoned = not any(_do_agree(text, typed_text) for typed_text in self._waiting or [self._typed_text])
        return not self._is_abandoned


class InflightSlot:
    """The answer that the model is writing for one document; a newer one takes its place.

    Attributes:
        has_missed: Whether the user typed something else than the last answer in flight says.
    """

    def __init__(self, tasks: BackgroundTasks, call_later: CallLater) -> None:
        self._tasks = tasks
        self._call_later = call_later
        self._answer: InflightAnswer | None = None
        self.has_missed = False

    @property
    def is_running(self) -> bool:
        return self._answer is not None

    def follow(self, document: Document, offset: int, *, is_request: bool = False) -> None:
        """Record that the user typed, or that a request came for another place.

        An answer that disagrees is cancelled. If a request still waits for it, only a newer request cancels it.
        """
        answer = self._answer
        if answer and not answer.follow(document, offset):
            self.has_missed = True
            if is_request or not answer.has_waiters:
                self.cancel()

    async def start(self, cursor: Cursor, generate: Generate) -> Answer | None:
        """Ask the model in place of the last answer, and return what `rest` returns."""
        self.cancel()
        self._answer = InflightAnswer(cursor, generate)
        self._tasks.add(self._answer.task)
        return await self.wait_for_rest(cursor)

    async def wait_for_rest(self, cursor: Cursor) -> Answer | None:
        """Wait for the answer in flight and return its rest at `cursor`.

        Returns:
            None if there is no answer in flight, or it says something else.
        """
        answer = self._answer
        if answer is None or not answer.follow(cursor.document, cursor.offset):
            return None
        try:
            rest = await answer.wait_for_rest(cursor)
        except asyncio.CancelledError:
            self._call_later(GRACE_S, lambda: self._cancel_unless_waited_for(answer))
            raise
        except BaseException:
            self._cancel_unless_waited_for(answer)
            raise
        self._cancel_unless_waited_for(answer)
        self.has_missed = rest is None
        return rest

    def cancel(self) -> None:
        """Cancel the answer in flight."""
        answer, self._answer = self._answer, None
        if answer:
            answer.task.cancel()

    def cancel_unless_waited_for(self) -> None:
        """Cancel the answer in flight if no request waits for it."""
        if self._answer:
            self._cancel_unless_waited_for(self._answer)

    def _cancel_unless_waited_for(self, answer: InflightAnswer) -> None:
        if self._answer is answer and not answer.has_waiters:
            self.cancel()


def _do_agree(text: str, typed_text: str) -> bool:
    return text.startswith(typed_text) or typed_text.startswith(text)
