"""The state of completion for one open document."""

import asyncio

from lsp_harness.completion.displayed_suggestions import DisplayedSuggestions
from lsp_harness.completion.inflight import BackgroundTasks, CallLater, InflightSlot
from lsp_harness.completion.prefetch import PrefetchSlot
from lsp_harness.context.repository_context import RepositoryChoice
from lsp_harness.kernel.results import Suggestion


class DocumentCompletions:
    """The state of completion for one open document (see `OpenDocument.part`).

    Attributes:
        inflight: The answer that the model is writing.
        prefetch: The background work for the next completion.
        displayed: The suggestions that the editor displays, and what becomes of them.
        repository: The code of other files that was chosen for the prompts of this document.
    """

    def __init__(self, displayed: DisplayedSuggestions, tasks: BackgroundTasks, call_later: CallLater) -> None:
        self.displayed = displayed
        self.inflight = InflightSlot(tasks, call_later)
        self.repository = RepositoryChoice()
        self.prefetch = PrefetchSlot(tasks, self.repository)
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

    # -- the end
    def stop_background(self) -> None:
        """Cancel everything that no request waits for."""
        self.prefetch.cancel()
        self.prefetch.prepared_places = []
        self.inflight.cancel_unless_waited_for()

    def close(self) -> None:
        """Cancel all work. The document is closed."""
        self.displayed.close()
        self.prefetch.cancel()
        self.inflight.cancel()
        self.supersede()
