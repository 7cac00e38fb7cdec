"""Answers on their way, which outlive the request that asked for them while the user types what they say.

Who types eight keys a second ends a request with every key, mostly before its answer is there. Much of what is typed is
how that answer begins: then the newer request goes on with it, and nothing is asked twice.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from lsp_harness.completion.request.answer_cache import Written
from lsp_harness.inference.request import Usage
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.typed_text import since

GRACE = 0.4
"""Seconds for which an answer goes on with nobody waiting. Editors take a request back with the key, some before they
tell of it, and ask again a while later."""

Answer = tuple[Written, Usage]
Write = Callable[[Callable[[str], bool]], Coroutine[Any, Any, Answer]]
"""Ask the model. It calls what it is given with all of the text so far, and ends when that says False."""
Later = Callable[[float, Callable[[], None]], None]


def _later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


class Draft:
    """The model's answer for one place, and what the user typed there since."""

    def __init__(self, cursor: Cursor, write: Write) -> None:
        self._site = cursor
        self._text = self._typed = ""
        self._left_off = False
        self._waiting: list[str] = []
        """What was typed before each request that waits."""
        self.task: asyncio.Task[Answer] = asyncio.ensure_future(write(self._goes_on))
        # whatever it ends with, perhaps nobody waits for it any more
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    @property
    def waited_for(self) -> bool:
        return bool(self._waiting)

    def moved(self, document: Document, offset: int) -> bool:
        """The user is at `offset` now; whether the text there may still become what this says."""
        way = since(self._site.document, self._site.offset, document, offset)
        if way is None or not _agree(self._text, way.typed):
            return False
        self._typed = way.typed
        return True

    async def rest(self, cursor: Cursor) -> Answer | None:
        """What is left of it at `cursor`, once it is there; None where it went another way than the user."""
        way = since(self._site.document, self._site.offset, cursor.document, cursor.offset)
        typed = way.typed if way else ""
        self._waiting.append(typed)
        try:
            written, usage = await asyncio.shield(self.task)
        finally:
            self._waiting.remove(typed)
        size = len(typed)
        if self._left_off or (size and not (written.text.startswith(typed) and written.text[size:].strip())):
            return None
        return written.past(size), usage

    def _goes_on(self, text: str) -> bool:
        self._text = text
        self._left_off = not any(_agree(text, typed) for typed in self._waiting or [self._typed])
        return not self._left_off


class Drafts:
    """The latest of each document."""

    def __init__(self, later: Later = _later) -> None:
        self._later = later
        self._drafts: dict[str, Draft] = {}
        self._missed: set[str] = set()

    def missed(self, uri: str) -> bool:
        """Whether the user went another way than the last answer on its way did."""
        return uri in self._missed

    def running(self, uri: str) -> bool:
        """Whether there is one for a document."""
        return uri in self._drafts

    def moved(self, document: Document, offset: int, *, asked: bool = False) -> None:
        """The user typed, or `asked` at another place. What disagrees ends, but where a request still waits for it:
        whoever replaces or takes back that one decides."""
        draft = self._drafts.get(document.uri)
        if draft and not draft.moved(document, offset):
            self._missed.add(document.uri)
            if asked or not draft.waited_for:
                self.end(document.uri)

    async def start(self, cursor: Cursor, write: Write) -> Answer | None:
        """A new one in place of the last, as `rest` gives it."""
        self.end(cursor.document.uri)
        self._drafts[cursor.document.uri] = Draft(cursor, write)
        return await self.rest(cursor)

    async def rest(self, cursor: Cursor) -> Answer | None:
        """What the answer on its way says at `cursor`; None where there is none, or it says something else."""
        uri = cursor.document.uri
        draft = self._drafts.get(uri)
        if draft is None or not draft.moved(cursor.document, cursor.offset):
            return None
        try:
            found = await draft.rest(cursor)
        except asyncio.CancelledError:
            self._later(GRACE, lambda: self._left(uri, draft))
            raise
        except BaseException:
            self._left(uri, draft)
            raise
        self._left(uri, draft)
        (self._missed.discard if found else self._missed.add)(uri)
        return found

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self.end(uri)
        self._missed.discard(uri)

    def end(self, uri: str) -> None:
        if draft := self._drafts.pop(uri, None):
            draft.task.cancel()

    def close(self) -> None:
        """End those that nobody waits for."""
        for uri, draft in list(self._drafts.items()):
            self._left(uri, draft)

    async def aclose(self) -> None:
        """End all, and wait until the engine has been told."""
        tasks = [draft.task for draft in self._drafts.values()]
        for uri in list(self._drafts):
            self.end(uri)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _left(self, uri: str, draft: Draft) -> None:
        """Nobody came for it."""
        if self._drafts.get(uri) is draft and not draft.waited_for:
            self.end(uri)


def _agree(text: str, typed: str) -> bool:
    return text.startswith(typed) or typed.startswith(text)
