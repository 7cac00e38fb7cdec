"""Statistics of suggestions: how many were displayed, and what became of them. They stay in a file of the user.

A client reports a suggestion that was accepted in full, and perhaps one that was dismissed. Everything else follows
from the edits: a user who types the first letters of a suggestion, accepts a word of it, or types all of it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import remove_irregular_file, write_own_file
from lsp_harness.errors import FileError, FileMissing
from lsp_harness.harness.clock import call_later
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.typed_text import PAIRS, count_bytes_before_cursor

if TYPE_CHECKING:
    from lsp_harness.completion.type_filter import TypeResult

LOCK_TIMEOUT_S = 1.0
"""How long another server may hold the file of the figures. It takes milliseconds."""
SURVIVAL_S = 30.0
"""An accepted text that still stands in the document after this time has survived."""


@dataclass(slots=True)
class Counts:
    """How many suggestions were displayed, and what became of them. Several suggestions at one place count as one.

    Attributes:
        shown: Suggestions that were displayed.
        accepted: Accepted to the end, at least one word of it at once.
        accepted_partly: A word or a line was accepted, then the user typed something else.
        typed_through: The user typed all of it, key by key.
        dismissed: The user removed it.
        survived: Accepted, in full or partly, and still in the document `SURVIVAL_S` later.
        types_passed: Suggestions that the type gate let pass.
        types_replaced: Suggestions in whose place another one was shown, because it objected.
        types_cut: Suggestions of which it left the first lines.
        types_hidden: Suggestions that it hid.
        types_skipped: Suggestions that it could not check.
        fixes_prepared: Fixes that were computed and verified before the user asked for them.
        fixes_used: Those that were applied.
        fixes_dropped: Those that an edit made void before.
        fixes_offered: Diagnostics for which the user saw fixes where fixes may be prepared.
        fixes_ready: Those of which a prepared fix was ready by then.
        fix_tokens: Tokens that the engine evaluated and generated for prepared fixes.
    """

    shown: int = 0
    accepted: int = 0
    accepted_partly: int = 0
    typed_through: int = 0
    dismissed: int = 0
    survived: int = 0
    types_passed: int = 0
    types_replaced: int = 0
    types_cut: int = 0
    types_hidden: int = 0
    types_skipped: int = 0
    fixes_prepared: int = 0
    fixes_used: int = 0
    fixes_dropped: int = 0
    fixes_offered: int = 0
    fixes_ready: int = 0
    fix_tokens: int = 0

    def plus(self, other: "Counts", sign: int = 1) -> "Counts":
        return Counts(*(getattr(self, f.name) + sign * getattr(other, f.name) for f in fields(Counts)))


@dataclass(slots=True)
class _Place:
    """Suggestions that are displayed at one place.

    Attributes:
        ids: The ids of the suggestions.
        texts: Their texts that agree with what the user typed.
        offset: The byte offset of the place.
        used: How many bytes of them the user typed or accepted.
        is_accepted: Whether more than one key's worth was inserted at once.
    """

    ids: set[str]
    texts: list[bytes]
    offset: int
    used: int = 0
    is_accepted: bool = False

    def fitting(self, new: bytes) -> tuple[bytes, list[bytes]]:
        """Return the part of an insertion before the cursor, and the suggestions that continue with it."""
        for part in dict.fromkeys((new, new[: count_bytes_before_cursor(new)])):
            if texts := [text for text in self.texts if text[self.used :].startswith(part)]:
                return part, texts
        return new, []


@dataclass(slots=True)
class _DocumentStats:
    """The part of an open document that counts what becomes of its suggestions (see `OpenDocument.part`).

    Attributes:
        owner: The statistics of the client.
        uri: The URI of the document.
        place: The suggestions that are displayed.
        left_ids: Ids of the last suggestions that the user did not accept.
    """

    owner: "AcceptanceStats"
    uri: str
    place: _Place | None = None
    left_ids: set[str] = field(default_factory=set[str])

    def close(self) -> None:
        self.owner.leave(self)


class AcceptanceStats:
    """The statistics of one client.

    Args:
        find: Returns the present text of an open document, or None.
        call_later: Calls a function after a delay in seconds.
    """

    def __init__(
        self,
        find: Callable[[str], Document | None],
        call_later: Callable[[float, Callable[[], None]], None] = call_later,
    ) -> None:
        self.counts = Counts()
        self._find = find
        self._call_later = call_later
        self._flushed = Counts()

    def display(self, opened: OpenDocument, suggestions: Sequence[Suggestion]) -> None:
        """Record what the editor displays now. The rest of a displayed suggestion is no new suggestion."""
        part = self._find_part(opened)
        new = [suggestion for suggestion in suggestions if not suggestion.stats.get("typed_along")]
        place = part.place
        if new and place and not place.used and place.offset == new[0].start:
            # the user asked for other suggestions at the same place
            place.ids |= {suggestion.id for suggestion in new}
            place.texts += [encode(suggestion.text) for suggestion in new]
        elif new:
            self.leave(part)
            self.counts.shown += 1
            texts = [encode(suggestion.text) for suggestion in new]
            part.place = _Place({suggestion.id for suggestion in new}, texts, new[0].start)
        elif suggestions and place:
            place.ids |= {suggestion.id for suggestion in suggestions}

    def follow(self, opened: OpenDocument, edit: Edit) -> bool:
        """Record one edit by the user or their editor.

        Returns:
            Whether the edit accepted a suggestion to its end.
        """
        part = opened.find_part(_DocumentStats)
        place = part.place if part else None
        if part is None or place is None:
            return False
        offset = place.offset + place.used
        new, fitting = place.fitting(edit.new)
        if (edit.start, edit.end) != (offset, offset) or not new or not fitting:
            self.leave(part)
            return False
        place.texts, place.used = fitting, place.used + len(new)
        place.is_accepted = place.is_accepted or not _is_one_key(new)
        is_complete = any(len(text) == place.used for text in fitting)
        if is_complete:
            self._end(part, place)
        return is_complete and place.is_accepted

    def accept(self, opened: OpenDocument, id: str) -> None:
        """Record that the client accepted a suggestion. If an edit showed that already, nothing is counted."""
        part = self._find_part(opened)
        place = part.place
        if place and id in place.ids:
            place.is_accepted, place.used = True, max(map(len, place.texts))
            self._end(part, place)
        elif id in part.left_ids:
            # the editor inserted it by an edit of its own kind
            self.counts.accepted += 1
            part.left_ids = set()

    def dismiss(self, opened: OpenDocument, id: str) -> None:
        """Record that the user removed a suggestion."""
        part = self._find_part(opened)
        if part.place and id in part.place.ids:
            self.counts.dismissed += 1
            part.place = None

    def record_types(self, result: "TypeResult") -> None:
        """Record what the type gate did with a suggestion."""
        self.add(f"types_{result}")

    def add(self, name: str, count: int = 1) -> None:
        """Add to one of the counts."""
        setattr(self.counts, name, getattr(self.counts, name) + count)

    # -- keeping
    def totals(self) -> dict[str, Any]:
        """Return the counts of suggestions in all runs, this one included, and the date of the first run."""
        self.flush()
        # The figures of this run count even if they could not be written.
        new = self.counts.plus(self._flushed, -1)
        saved_figures = _read()
        return saved_figures | {f.name: saved_figures[f.name] + getattr(new, f.name) for f in fields(Counts)}

    def flush(self) -> None:
        """Add the counts since the last call to the file, if the file can be written."""
        new = self.counts.plus(self._flushed, -1)
        if new == Counts():
            return
        from filelock import FileLock, Timeout

        file = _stats_file()
        try:
            with FileLock(remove_irregular_file(file.with_suffix(".lock")), mode=0o600, timeout=LOCK_TIMEOUT_S):
                saved_figures = _read()
                total = Counts(**{f.name: saved_figures[f.name] for f in fields(Counts)}).plus(new)
                write_own_file(file, json.dumps({"since": saved_figures["since"], **asdict(total)}).encode())
        except (OSError, Timeout) as error:
            paths.warn_not_saved("what became of suggestions", paths.STATE, file, error)
        else:
            self._flushed = self.counts.plus(Counts())

    # -- counting
    def _find_part(self, opened: OpenDocument) -> _DocumentStats:
        return opened.part(_DocumentStats, partial(_DocumentStats, self, opened.uri))

    def leave(self, part: _DocumentStats) -> None:
        """Record that the user typed something else, or that another suggestion is displayed."""
        place, part.place = part.place, None
        if place is None:
            return
        if place.is_accepted:
            self.counts.accepted_partly += 1
            self._look_later(part.uri, place)
        else:
            part.left_ids = place.ids

    def _end(self, part: _DocumentStats, place: _Place) -> None:
        """Record that the text of a suggestion is complete in the document."""
        part.place = None
        if place.is_accepted:
            self.counts.accepted += 1
            self._look_later(part.uri, place)
        else:
            self.counts.typed_through += 1

    def _look_later(self, uri: str, place: _Place) -> None:
        accepted = place.texts[0][: place.used].strip()

        def look() -> None:
            text = self._find(uri)
            if text and accepted in text.data:
                self.counts.survived += 1

        self._call_later(SURVIVAL_S, look)


def _is_one_key(new: bytes) -> bool:
    """Return whether one key inserts `new`: a character, a line break with its indentation, or a pair of brackets."""
    return len(new.decode("utf-8", "replace")) == 1 or not new.strip() or new in PAIRS


def _stats_file() -> Path:
    return paths.state_folder() / "statistics.json"


def _read() -> dict[str, Any]:
    """Return the counts of suggestions in the file. All are 0 if there is no file, or if the file cannot be read."""
    figures: dict[str, Any] = {"since": datetime.now(UTC).date().isoformat(), **asdict(Counts())}
    try:
        saved_figures = json.loads(read_text(_stats_file()))
        # an older version did not count everything; without the date it is another file
        known = {"since": saved_figures["since"], **saved_figures}
        return figures | {name: type(value)(known.get(name, value)) for name, value in figures.items()}
    except FileMissing:
        return figures
    except FileError as error:
        warn_once(f"{error.message}; the statistics begin again")
        return figures
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return figures
