"""The state of completion for one open document."""

import asyncio
from collections import deque
from collections.abc import Sequence

from lsp_harness.completion.prefetch.background_tasks import BackgroundTasks
from lsp_harness.completion.prefetch.inflight import CallLater, InflightSlot
from lsp_harness.completion.prefetch.prefetch_slot import PrefetchSlot
from lsp_harness.completion.request.displayed_suggestion import DisplayedSuggestion
from lsp_harness.context.repository_context import RepositoryChoice
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.document import Document

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
