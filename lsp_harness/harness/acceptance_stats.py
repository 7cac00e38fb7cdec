"""What became of suggestions: counted here, kept in a file of the user's, sent nowhere.

A client tells of a suggestion that was taken in full, and perhaps of one that was taken away. The rest is read off the
text: who types the first letters of it, takes a word of it, or goes on to type all of it.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import remove_irregular_file, write_own_file
from lsp_harness.errors import FileMissing, FileProblem
from lsp_harness.session.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.workspace.typed_text import PAIRS, before_cursor

LOCK_SECONDS = 1.0
"""How long another server may hold the file of the figures; it takes milliseconds."""
SURVIVES_AFTER = 30.0
"""Seconds after which a text that was taken and still stands there has survived."""


@dataclass(slots=True)
class Counts:
    """How many suggestions were shown, and what became of them. A place where several were cycled through is one."""

    shown: int = 0
    accepted: int = 0
    """Taken to the end, at least a word of it at once."""
    accepted_partly: int = 0
    """A word or a line of it was taken, then something else typed."""
    typed_through: int = 0
    """Typed to the end by the user, key by key."""
    dismissed: int = 0
    survived: int = 0
    """Of those taken, in full or partly: the text stood there half a minute later."""

    def plus(self, other: "Counts", sign: int = 1) -> "Counts":
        return Counts(*(getattr(self, f.name) + sign * getattr(other, f.name) for f in fields(Counts)))


@dataclass(slots=True)
class _Place:
    """Suggestions on the screen at byte `at`, of which the user typed or took the first `used` bytes."""

    ids: set[str]
    texts: list[bytes]
    at: int
    used: int = 0
    taken: bool = False
    """More than a key's worth of it came at once."""

    def fitting(self, new: bytes) -> tuple[bytes, list[bytes]]:
        """What of an insertion is before the cursor, and the suggestions that go on with it."""
        for part in dict.fromkeys((new, new[: before_cursor(new)])):
            if texts := [text for text in self.texts if text[self.used :].startswith(part)]:
                return part, texts
        return new, []


def _later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


class Uptake:
    """`live` gives the text of an open document, or None."""

    def __init__(
        self,
        live: Callable[[str], Document | None],
        later: Callable[[float, Callable[[], None]], None] = _later,
    ) -> None:
        self.counts = Counts()
        self._live = live
        self._later = later
        self._places: dict[str, _Place] = {}
        self._left: dict[str, set[str]] = {}
        """Ids of the last place of a document that was left without having been taken."""
        self._flushed = Counts()

    def shown(self, uri: str, suggestions: Sequence[Suggestion]) -> None:
        """These are on the screen now. The rest of what was shown before is the same suggestion, not another."""
        new = [each for each in suggestions if not each.stats.get("typed_along")]
        place = self._places.get(uri)
        if new and place and not place.used and place.at == new[0].start:
            # others were asked for at the same place
            place.ids |= {each.id for each in new}
            place.texts += [encode(each.text) for each in new]
        elif new:
            self._leave(uri)
            self.counts.shown += 1
            self._places[uri] = _Place({each.id for each in new}, [encode(each.text) for each in new], new[0].start)
        elif suggestions and place:
            place.ids |= {each.id for each in suggestions}

    def changed(self, uri: str, edit: Edit) -> bool:
        """One edit by the user or their editor; whether with it a suggestion was taken to the end."""
        place = self._places.get(uri)
        if place is None:
            return False
        where = place.at + place.used
        new, fitting = place.fitting(edit.new)
        if (edit.start, edit.end) != (where, where) or not new or not fitting:
            self._leave(uri)
            return False
        place.texts, place.used = fitting, place.used + len(new)
        place.taken = place.taken or not _one_key(new)
        whole = any(len(text) == place.used for text in fitting)
        if whole:
            self._end(uri, place)
        return whole and place.taken

    def accepted(self, uri: str, id: str) -> None:
        """The client says so. Where the text said it already this is nothing new."""
        place = self._places.get(uri)
        if place and id in place.ids:
            place.taken, place.used = True, max(map(len, place.texts))
            self._end(uri, place)
        elif id in self._left.pop(uri, ()):
            # the editor put it in by an edit of its own kind
            self.counts.accepted += 1

    def dismissed(self, uri: str, id: str) -> None:
        place = self._places.get(uri)
        if place and id in place.ids:
            self.counts.dismissed += 1
            del self._places[uri]

    def closed(self, uri: str) -> None:
        self._leave(uri)
        self._left.pop(uri, None)

    # -- keeping
    def kept(self) -> dict[str, Any]:
        """The figures of all runs, this one included, and since when."""
        self.flush()
        # where they could not be written, those of this run count nevertheless
        new = self.counts.plus(self._flushed, -1)
        kept = _read()
        return kept | {f.name: kept[f.name] + getattr(new, f.name) for f in fields(Counts)}

    def flush(self) -> None:
        """Add what is new to the user's file, where it can be written."""
        new = self.counts.plus(self._flushed, -1)
        if new == Counts():
            return
        from filelock import FileLock, Timeout

        file = _file()
        try:
            with FileLock(remove_irregular_file(file.with_suffix(".lock")), mode=0o600, timeout=LOCK_SECONDS):
                kept = _read()
                total = Counts(**{f.name: kept[f.name] for f in fields(Counts)}).plus(new)
                write_own_file(file, json.dumps({"since": kept["since"], **asdict(total)}).encode())
        except (OSError, Timeout) as error:
            paths.unkept("what became of suggestions", paths.STATE, file, error)
        else:
            self._flushed = self.counts.plus(Counts())

    # -- counting
    def _leave(self, uri: str) -> None:
        """Something else was typed, or is shown."""
        place = self._places.pop(uri, None)
        if place is None:
            return
        if place.taken:
            self.counts.accepted_partly += 1
            self._look_later(uri, place)
        else:
            self._left[uri] = place.ids

    def _end(self, uri: str, place: _Place) -> None:
        """All of it is in the text."""
        del self._places[uri]
        if place.taken:
            self.counts.accepted += 1
            self._look_later(uri, place)
        else:
            self.counts.typed_through += 1

    def _look_later(self, uri: str, place: _Place) -> None:
        taken = place.texts[0][: place.used].strip()

        def look() -> None:
            document = self._live(uri)
            if document and taken in document.data:
                self.counts.survived += 1

        self._later(SURVIVES_AFTER, look)


def _one_key(new: bytes) -> bool:
    """Whether one key puts this in: a character, a line break with its indentation, a pair of brackets."""
    return len(new.decode("utf-8", "replace")) == 1 or not new.strip() or new in PAIRS


def _file() -> Path:
    return paths.state() / "statistics.json"


def _read() -> dict[str, Any]:
    """What is kept; from the beginning where there is nothing, or nothing that can be read."""
    kept: dict[str, Any] = {"since": datetime.now(UTC).date().isoformat(), **asdict(Counts())}
    try:
        found = json.loads(read_text(_file()))
        return kept | {name: type(value)(found[name]) for name, value in kept.items()}
    except FileMissing:
        return kept
    except FileProblem as error:
        warn_once(f"{error.message}; the statistics begin again")
        return kept
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return kept
