"""What the user did last in each document: the latest change, the dismissed places, and how fast they type.

It is told of every change, from the moment a document is open, and knows nothing of models.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, common_prefix_length
from lsp_harness.workspace.rejected_places import Dismissed
from lsp_harness.workspace.typing_rhythm import Rhythm

KEPT = 32
"""Dismissed places that are remembered in a document."""


@dataclass(frozen=True, slots=True)
class Change:
    """All that came with one version of a document: bytes `removed` (but for a line's indentation) and `inserted`, the last
    of them at `start`."""

    version: int
    start: int
    removed: int
    inserted: int
    at: float = 0.0
    """Seconds on the clock."""

    @property
    def deletion(self) -> bool:
        return self.removed > 0 and not self.inserted


class Typed:
    """The documents of one front end."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.rhythm = Rhythm()
        self._last: dict[str, Change] = {}
        self._offered: dict[str, Dismissed | None] = {}
        """Where the last suggestion of a document was shown."""
        self._dismissed: dict[str, tuple[Dismissed, ...]] = {}

    def changed(self, before: Document, edit: Edit, after: Document) -> None:
        """`edit` made `after` of `before`."""
        uri, now, edit = before.uri, self.clock(), trimmed(before.data, edit)
        removed, inserted = edit.end - edit.start, len(edit.new)
        if not removed and not inserted:
            return
        if _dedents(before.data, edit):
            removed = 0
        last = self._last.get(uri)
        if last and last.version == after.version:
            # editors take out blanks, or put brackets in, with the same key
            self._last[uri] = replace(
                last, start=edit.start, removed=last.removed + removed, inserted=last.inserted + inserted
            )
        else:
            self._last[uri] = Change(after.version, edit.start, removed, inserted, now)
            self.rhythm.key(now, edit)
        if place := self._offered.get(uri):
            self._offered[uri] = place.after(edit)
        if places := self._dismissed.get(uri):
            self._dismissed[uri] = tuple(place for old in places if (place := old.after(edit)))

    def last(self, uri: str) -> Change | None:
        """The latest change of a document; None where there was none since it was opened."""
        return self._last.get(uri)

    def offer(self, document: Document, offset: int) -> None:
        """A suggestion is shown at `offset`."""
        last = self._last.get(document.uri)
        # one for an earlier version has no place in this text, and no editor shows it
        current = last is None or last.version == document.version
        self._offered[document.uri] = Dismissed.at(document, offset) if current else None

    def dismiss(self, uri: str) -> None:
        """The user does not want what was suggested last in a document."""
        if place := self._offered.pop(uri, None):
            others = (one for one in self._dismissed.get(uri, ()) if one != place)
            self._dismissed[uri] = (*others, place)[-KEPT:]

    def dismissed(self, uri: str) -> tuple[Dismissed, ...]:
        return self._dismissed.get(uri, ())

    def forget(self, uri: str) -> None:
        """The document is closed, or is another text now."""
        self._last.pop(uri, None)
        self._offered.pop(uri, None)
        self._dismissed.pop(uri, None)


def _dedents(data: bytes, edit: Edit) -> bool:
    """Whether this only takes out blanks that a line begins with: who is about to go on further out."""
    line = data.rfind(b"\n", 0, edit.start) + 1
    gone = data[line : edit.end]
    return not edit.new and not gone.strip(b" \t")


def trimmed(data: bytes, edit: Edit) -> Edit:
    """An edit without what it leaves as it was: some clients send the line or all of the text for one key."""
    start, end, new = edit
    if start == end or not new:
        return edit
    old = data[start:end]
    head = common_prefix_length(old, new)
    tail = common_prefix_length(old[head:][::-1], new[head:][::-1])
    return Edit(start + head, end - tail, new[head : len(new) - tail])
