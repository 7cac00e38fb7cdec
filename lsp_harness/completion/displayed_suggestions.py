"""The suggestions that the editor displays in one open document, and what becomes of them.

This is the only place that follows a suggestion. The completer asks here what is displayed, the history of the document
hears from here which place was rejected, and the statistics hear how each suggestion ended. A client reports a
suggestion that was accepted in full, and perhaps one that was dismissed. Everything else follows from the edits: a user
who types the first letters of a suggestion, accepts a word of it, or types all of it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lsp_harness.completion.answer_cache import ModelText
from lsp_harness.completion.rules.ghost_text import find_ghost
from lsp_harness.completion.text_generation import make_presentable
from lsp_harness.config.schema import Completion
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.edit_history import RejectedPlace
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.typed_text import PAIRS, count_bytes_before_cursor, find_typed_text

Fate = Literal["shown", "accepted", "accepted_partly", "typed_through", "dismissed"]
"""The events in the life of a suggestion that the statistics count (see `harness.acceptance_stats.Counts`)."""
MAX_RECENT_SUGGESTIONS = 16
"""Number of suggestions of a document that are remembered."""


class FateRecorder(Protocol):
    """The statistics, as the displayed suggestions see them."""

    def record_fate(self, fate: Fate) -> None:
        """Count one suggestion."""
        ...

    def watch(self, uri: str, accepted_text: bytes) -> None:
        """Look later whether an accepted text is still in a document."""
        ...


@dataclass(frozen=True, slots=True)
class DisplayedSuggestion:
    """A suggestion that the editor displays, and the text that it was made for."""

    document: Document
    suggestion: Suggestion

    def is_at(self, cursor: Cursor) -> bool:
        """Return whether the suggestion was made for exactly this text and place."""
        return self.suggestion.start == cursor.offset and self.document.hash == cursor.document.hash

    def find_rest(self, cursor: Cursor, settings: Completion) -> str | None:
        """Return the rest of the suggestion, or None if the user typed something else than its start."""
        typed_text = find_typed_text(self.document, self.suggestion.start, cursor.document, cursor.offset)
        if typed_text is None or not self.suggestion.text.startswith(typed_text.text):
            return None
        rest = self.suggestion.text[len(typed_text.text) :]
        # the editor inserted brackets that the suggestion may bring, too
        return (
            make_presentable(cursor, find_ghost(cursor), ModelText(rest, None), settings)
            if typed_text.closers
            else rest
        )


@dataclass(slots=True)
class _Choice:
    """The suggestions at one place, one of which the user may type or accept.

    Attributes:
        ids: Their ids.
        texts: Their texts that agree with what the user typed.
        offset: The byte offset of the place.
        used_bytes: How many bytes of them the user typed or accepted.
        is_accepted: Whether more than one key's worth was inserted at once.
    """

    ids: set[str]
    texts: list[bytes]
    offset: int
    used_bytes: int = 0
    is_accepted: bool = False

    def find_fitting(self, new: bytes) -> tuple[bytes, list[bytes]]:
        """Return the part of an insertion before the cursor, and the suggestions that continue with it."""
        for part in dict.fromkeys((new, new[: count_bytes_before_cursor(new)])):
            if texts := [text for text in self.texts if text[self.used_bytes :].startswith(part)]:
                return part, texts
        return new, []


class DisplayedSuggestions:
    """The suggestions that the editor displays in one open document, and what becomes of them.

    Args:
        opened: The document.
        fates: Hears what becomes of each suggestion. None if nobody counts.

    Attributes:
        current: The suggestions that the editor displays.
    """

    def __init__(self, opened: OpenDocument, fates: FateRecorder | None = None) -> None:
        self.current: tuple[DisplayedSuggestion, ...] = ()
        self._opened = opened
        self._fates = fates
        self._place: RejectedPlace | None = None
        """Where they are displayed, in the present text."""
        self._choice: _Choice | None = None
        self._left_ids: set[str] = set()
        """Ids of the last suggestions that the user did not accept."""
        self._recent: deque[DisplayedSuggestion] = deque(maxlen=MAX_RECENT_SUGGESTIONS)
        """A suggestion may be accepted while the next one is on its way to the screen."""

    @property
    def document(self) -> Document | None:
        """The text that the displayed suggestions were made for, or None if nothing is displayed."""
        return self.current[0].document if self.current else None

    def find(self, suggestion_id: str) -> DisplayedSuggestion | None:
        """Return one of the last suggestions. The rest of a suggestion that is typed along with has the same id."""
        return next((recent for recent in self._recent if recent.suggestion.id == suggestion_id), None)

    # -- what happens to them
    def display(self, document: Document, suggestions: Sequence[Suggestion]) -> None:
        """Record what the editor displays now, at one place. The rest of a suggestion is no new suggestion."""
        self.current = tuple(DisplayedSuggestion(document, suggestion) for suggestion in suggestions)
        self._recent.extendleft(self.current)
        # a suggestion for an earlier version has no place in this text, and no editor shows it
        is_present = bool(suggestions) and self._opened.text.version == document.version
        self._place = RejectedPlace.at(document, suggestions[0].start) if is_present else None
        new = [suggestion for suggestion in suggestions if not suggestion.stats.get("typed_along")]
        choice = self._choice
        if new and choice and not choice.used_bytes and choice.offset == new[0].start:
            # the user asked for other suggestions at the same place
            choice.ids |= {suggestion.id for suggestion in new}
            choice.texts += [encode(suggestion.text) for suggestion in new]
        elif new:
            self._leave()
            self._record("shown")
            texts = [encode(suggestion.text) for suggestion in new]
            self._choice = _Choice({suggestion.id for suggestion in new}, texts, new[0].start)
        elif suggestions and choice:
            choice.ids |= {suggestion.id for suggestion in suggestions}

    def follow(self, edit: Edit) -> Document | None:
        """Record the latest edit by the user or their editor, which the document has already.

        Returns:
            The text without the suggestion that this edit accepted to its end, or None if it accepted none so.
        """
        if self._place and (trimmed_edit := self._opened.history.last_edit):
            self._place = self._place.shift(trimmed_edit)
        choice = self._choice
        if choice is None:
            return None
        offset = choice.offset + choice.used_bytes
        new, fitting = choice.find_fitting(edit.new)
        if (edit.start, edit.end) != (offset, offset) or not new or not fitting:
            self._leave()
            return None
        choice.texts, choice.used_bytes = fitting, choice.used_bytes + len(new)
        choice.is_accepted = choice.is_accepted or not _is_one_key(new)
        if not any(len(text) == choice.used_bytes for text in fitting):
            return None
        self._end(choice)
        return self.document if choice.is_accepted else None

    def accept(self, suggestion_id: str) -> DisplayedSuggestion | None:
        """Record that the client accepted a suggestion. If an edit showed that already, nothing is counted.

        Returns:
            The suggestion, or None if it is not known.
        """
        choice = self._choice
        if choice and suggestion_id in choice.ids:
            choice.is_accepted, choice.used_bytes = True, max(map(len, choice.texts))
            self._end(choice)
        elif suggestion_id in self._left_ids:
            # the editor inserted it by an edit of its own kind
            self._record("accepted")
            self._left_ids = set()
        return self.find(suggestion_id)

    def dismiss(self, suggestion_id: str) -> bool:
        """Record that the user removed a suggestion, so that no automatic one appears there for a while.

        Returns:
            Whether the suggestion was still displayed.
        """
        if self._choice and suggestion_id in self._choice.ids:
            self._record("dismissed")
            self._choice = None
        if all(displayed.suggestion.id != suggestion_id for displayed in self.current):
            return False
        self.current = ()
        if self._place:
            self._opened.history.reject(self._place)
            self._place = None
        return True

    def close(self) -> None:
        """Record that the document is closed."""
        self._leave()

    # -- how they end
    def _leave(self) -> None:
        """Record that the user typed something else, or that another suggestion is displayed."""
        choice, self._choice = self._choice, None
        if choice is None:
            return
        if choice.is_accepted:
            self._record("accepted_partly")
            self._watch(choice)
        else:
            self._left_ids = choice.ids

    def _end(self, choice: _Choice) -> None:
        """Record that the text of a suggestion is complete in the document."""
        self._choice = None
        if choice.is_accepted:
            self._record("accepted")
            self._watch(choice)
        else:
            self._record("typed_through")

    def _record(self, fate: Fate) -> None:
        if self._fates:
            self._fates.record_fate(fate)

    def _watch(self, choice: _Choice) -> None:
        if self._fates:
            self._fates.watch(self._opened.uri, choice.texts[0][: choice.used_bytes].strip())


def _is_one_key(new: bytes) -> bool:
    """Return whether one key inserts `new`: a character, a line break with its indentation, or a pair of brackets."""
    return len(new.decode("utf-8", "replace")) == 1 or not new.strip() or new in PAIRS
