"""The state of completion for one open document, and the suggestion that the editor displays in it."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.completion.answer_cache import ModelText
from lsp_harness.completion.inflight import BackgroundTasks, CallLater, InflightSlot
from lsp_harness.completion.prefetch import PrefetchSlot
from lsp_harness.completion.rules.ghost_text import find_ghost
from lsp_harness.completion.text_generation import make_presentable
from lsp_harness.config.schema import Completion
from lsp_harness.context.repository_context import RepositoryChoice
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.typed_text import find_typed_text


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


MAX_RECENT_SUGGESTIONS = 16
"""Number of suggestions of a document that are remembered."""


class DocumentCompletions:
    """The state of completion for one open document (see `OpenDocument.part`).

    Attributes:
        inflight: The answer that the model is writing.
        prefetch: The background work for the next completion.
        displayed_suggestions: The suggestions that the editor displays.
        repository: The code of other files that was chosen for the prompts of this document.
    """

    def __init__(self, tasks: BackgroundTasks, call_later: CallLater) -> None:
        self.inflight = InflightSlot(tasks, call_later)
        self.repository = RepositoryChoice()
        self.prefetch = PrefetchSlot(tasks, self.repository)
        self.displayed_suggestions: tuple[DisplayedSuggestion, ...] = ()
        self._recent: deque[DisplayedSuggestion] = deque(maxlen=MAX_RECENT_SUGGESTIONS)
        """A suggestion may be accepted while the next one is on its way to the screen."""
        self._request: asyncio.Task[list[Suggestion]] | None = None

    # -- the running request
    @property
    def is_busy(self) -> bool:
        return self._request is not None or self.inflight.is_running

    def begin(self, request: "asyncio.Task[list[Suggestion]]") -> None:
        """Make this the only request of the document."""
        self._request = request

    def end(self, request: "asyncio.Task[list[Suggestion]]") -> None:
        """Record that a request ended."""
        if self._request is request:
            self._request = None

    def is_latest(self, request: "asyncio.Task[list[Suggestion]]") -> bool:
        return self._request is request

    def supersede(self) -> None:
        """Cancel the running request."""
        if self._request:
            self._request.cancel()
            self._request = None

    # -- suggestions
    def display(self, document: Document, suggestions: Sequence[Suggestion]) -> None:
        """Record what the editor displays now."""
        self.displayed_suggestions = tuple(DisplayedSuggestion(document, suggestion) for suggestion in suggestions)
        self._recent.extendleft(self.displayed_suggestions)

    def find(self, suggestion_id: str) -> DisplayedSuggestion | None:
        """Return one of the last suggestions. The rest of a suggestion that is typed along with has the same id."""
        return next((recent for recent in self._recent if recent.suggestion.id == suggestion_id), None)

    def is_displayed(self, suggestion_id: str) -> bool:
        """Return whether the editor displays this suggestion."""
        return any(displayed.suggestion.id == suggestion_id for displayed in self.displayed_suggestions)

    def displayed_document(self) -> Document | None:
        """Return the text that the displayed suggestion was made for, or None if nothing is displayed."""
        return self.displayed_suggestions[0].document if self.displayed_suggestions else None

    # -- the end
    def stop_background(self) -> None:
        """Cancel everything that no request waits for."""
        self.prefetch.cancel()
        self.prefetch.prepared_places = []
        self.inflight.cancel_unless_waited_for()

    def close(self) -> None:
        """Cancel all work. The document is closed."""
        self.prefetch.cancel()
        self.inflight.cancel()
        self.supersede()
