"""Ghost text: what a client can ask about completions, what it reports about suggestions, and their pause.

"Everywhere" is a file, so that all servers of the user see it, also those that are started later.
"""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import describe_system_error, is_regular_file
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import FileError, HarnessError, NoAnswer
from lsp_harness.harness.acceptance_stats import AcceptanceStats
from lsp_harness.harness.services import Services
from lsp_harness.harness.visited_files import HotFiles, VisitedFiles
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.completion.completer import Completer
    from lsp_harness.context.recent_edits import RecentEdits
    from lsp_harness.context.repository_context import RepositoryContext
    from lsp_harness.syntax.tree import SyntaxTree

Scope = Literal["here", "everywhere"]


class Pause:
    """The pause as one client sees it.

    Args:
        on_change: Called when a look at the file finds another state: another client may have paused or resumed.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._is_paused_here = False
        self._known_scope: Scope | None = None
        self._has_looked = False

    @property
    def known_scope(self) -> Scope | None:
        """Where suggestions were paused at the last look at the file, or None."""
        if not self._has_looked:
            self._known_scope, self._has_looked = self._read_scope(), True
        return self._known_scope

    def look(self) -> Scope | None:
        """Return where suggestions are paused now, or None. This reads the disk, so call it once for a request."""
        before = self._known_scope
        self._known_scope, self._has_looked = self._read_scope(), True
        if self._known_scope != before:
            self._on_change()
        return self._known_scope

    def set(self, scope: Scope, *, on: bool) -> None:
        """Pause or resume the suggestions of a scope.

        To resume in one scope ends the other pause too, because the user wants suggestions here.

        Raises:
            FileError: The file of the pause cannot be written or removed.
        """
        if scope == "here" or not on:
            self._is_paused_here = on
        if scope == "everywhere" and on:
            try:
                remove_irregular_file(_pause_file()).touch(mode=0o600)
            except OSError as error:
                raise FileError(
                    f"{_pause_file()} cannot be written ({describe_system_error(error)}); {paths.STATE.advice}"
                ) from error
        elif not on:
            try:
                _pause_file().unlink(missing_ok=True)
            except OSError as error:
                raise FileError(
                    f"{_pause_file()} cannot be removed ({describe_system_error(error)}); remove it yourself"
                ) from error

    def _read_scope(self) -> Scope | None:
        if is_regular_file(_pause_file()):
            return "everywhere"
        return "here" if self._is_paused_here else None


def _pause_file() -> Path:
    return paths.state_folder() / "paused"


def call_after_import(module: str, call: Callable[[], None]) -> None:
    """Call a function that needs a module, after the present message was handled."""
    loop = asyncio.get_running_loop()
    if module in sys.modules:
        loop.call_soon(call)
    else:
        # in a thread, because the import may take 0.2 s
        imported = loop.run_in_executor(None, import_module, module)
        imported.add_done_callback(lambda _: call())


COMPLETER_MODULE = "lsp_harness.completion.completer"


class CompletionVerbs:
    """The completions of one client. The completer is created with the first request.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        visited_files: The files that the user visits.

    Attributes:
        hot_files: The work on the files that the user opens most.
    """

    def __init__(self, services: Services, visited_files: VisitedFiles) -> None:
        self._services = services
        self._visited_files = visited_files
        self.hot_files = HotFiles(services, visited_files, self._prepare)
        self._documents = services.documents
        self._pause = Pause(services.report_state)
        self._statistics = services.statistics
        self._completer: Completer | None = None
        self._recent_edits: RecentEdits | None = None

    # -- requests
    async def complete(
        self, snapshot: Snapshot, offset: int, *, automatic: bool = True, single: bool = False
    ) -> list[Suggestion]:
        """Return suggestions for a place.

        A user who asks gets the most likely one. If it is displayed and the user asks again, there are several.

        Args:
            snapshot: The document.
            offset: The place, as a byte offset.
            automatic: Whether the editor asks without a command of the user.
            single: Whether a user who asks wants one suggestion only, instead of a choice.

        Raises:
            RequestSuperseded: A newer request for this document came.
            NoAnswer: The user asked, and there is no suggestion for a reason that the user should know.
        """
        services, text = self._services, snapshot.document
        self.hot_files.postpone()
        self._documents.focused_uri = text.uri
        if automatic and not self._is_enabled():
            return []
        opened = self._documents.find(text.uri) or self._documents.create_detached(text)
        opened.cursor = offset
        try:
            cursor = self._make_cursor(snapshot, await self._documents.tree_when_ready(text), offset)
            completer = self._ready_completer()
            # who asks again where a suggestion is displayed wants another one; the first answer need not wait for them
            wants_choice = not (automatic or single) and completer.displays_at(opened, cursor)
            suggestion = None if wants_choice else await completer.complete(opened, cursor, automatic=automatic)
            suggestions = [suggestion] if suggestion else []
            if not (suggestions or automatic or single):
                suggestions = await completer.choices(opened, cursor)
        except NoAnswer:
            # the same sentence at every key press would help nobody
            if automatic:
                return []
            raise
        services.report_state()
        services.index.embed()
        return suggestions

    def warm(self, uri: str, offset: int | None = None) -> None:
        """Prepare a completion for the place where the user is.

        Args:
            uri: The URI of the document.
            offset: The byte offset of the cursor. None means the last place where the user was seen.
        """
        opened, services = self._documents.find(uri), self._services
        if opened is None:
            return
        self.hot_files.postpone()
        self._documents.focused_uri = uri
        if offset is not None:
            opened.cursor = offset
            self._visited_files.plan_save()
            if self._recent_edits:
                path = services.workspace.snapshot(opened.text).path
                self._recent_edits.record_view(uri, path, opened.text.line_of(offset))
        if services.config.completion.warm and self._may_work_ahead() and not services.background.is_off:
            call_after_import(COMPLETER_MODULE, lambda: self._warm(uri))

    def start_engine(self) -> None:
        """Start the engine for a client that stays, unless the settings say no or suggestions are paused."""
        if self._services.config.engine.start_early and self._may_work_ahead():
            call_after_import(COMPLETER_MODULE, self._start_engine)

    def pause(self, scope: Scope, *, on: bool) -> Scope | Literal[False]:
        """Switch automatic suggestions off or on again.

        Args:
            scope: Where they are switched: for this client, or for every server of the user.
            on: Whether to pause, or else to go on.

        Returns:
            Where suggestions are paused now, or False if they are not.
        """
        self._pause.set(scope, on=on)
        if on:
            self._stop_background()
        return self._pause.look() or False

    def statistics(self) -> dict[str, Any]:
        """Return how many suggestions of all sessions were displayed, and what became of them."""
        return self._statistics.totals()

    # -- reports of the client
    def follow(self, opened: OpenDocument, before: Document, edit: Edit) -> Document | None:
        """Record an edit by the user or their editor.

        Args:
            opened: The document after the edit.
            before: The text before it.
            edit: The edit.

        Returns:
            The text without the suggestion that this edit completed, or None if it completed none.
        """
        self.hot_files.postpone()
        self._documents.focused_uri = opened.uri
        if self._recent_edits:
            added_lines = len(opened.text.line_starts) - len(before.line_starts)
            path = self._services.workspace.snapshot(opened.text).path
            self._recent_edits.record_edit(opened.uri, path, before.line_of(edit.start), added_lines)
        return self._completer.follow(opened, edit) if self._completer else None

    def record_close(self, text: Document) -> None:
        """Record that the user closed a document with this text."""
        if self._recent_edits:
            self._recent_edits.record_close(text)
        if checkers := self._services.checkers_if_any:
            checkers.forget_document(text.uri)

    def accept(self, opened: OpenDocument, suggestion_id: str) -> Document | None:
        """Record that the user accepted a suggestion. Return the text without it, or None if it is not known."""
        displayed = self._completer.state(opened).displayed.accept(suggestion_id) if self._completer else None
        self._services.report_state()
        if displayed:
            start, new = displayed.suggestion.start, encode(displayed.suggestion.text)
            if opened.text.data[start:].startswith(new):
                self.warm(opened.uri, start + len(new))
        return displayed.document if displayed else None

    def dismiss(self, opened: OpenDocument, suggestion_id: str) -> None:
        """Record that the user removed a suggestion."""
        if self._completer:
            self._completer.dismiss(opened, suggestion_id)
        self._services.report_state()

    # -- settings and state
    def configure(self, config: Config, *, is_other_engine: bool) -> None:
        """Use other settings for completions, from the next request on."""
        if is_other_engine:
            self._stop_background()
            self._completer = None
        if self._completer:
            self._completer.configure(config.completion, config.quiet)

    def state(self) -> dict[str, Any]:
        """Return where completion is paused, the tokens and times of the last request, and the counts of this run."""
        checkers = self._services.checkers_if_any
        return {
            "paused": self._pause.known_scope or False,
            "last": self.last_figures or None,
            "statistics": asdict(self._statistics.counts),
            "types": checkers.state() if checkers else [],
        }

    @property
    def last_figures(self) -> dict[str, Any] | None:
        """The tokens and times of the last request, or None if there was none."""
        return self._completer.last_figures if self._completer else None

    @property
    def last_reason(self) -> str:
        """Why the last request has no suggestion, in words. Empty if it has one, or if there was no request."""
        return self._completer.last_reason if self._completer else ""

    def repository(self) -> "RepositoryContext | None":
        """Return the code of other files that completions see."""
        return self._ready_completer().repository

    async def aclose(self) -> None:
        """Stop all background work and save the statistics."""
        await self.hot_files.aclose()
        if self._completer:
            await self._completer.aclose()
        self._statistics.flush()

    # -- parts
    def _ready_completer(self) -> "Completer":
        """Return the completer, and create it at the first call."""
        if self._completer is None:
            self._completer, self._recent_edits = _create_completer(self._services, self._statistics)
        return self._completer

    def _is_enabled(self) -> bool:
        """Return whether automatic suggestions are enabled and not paused."""
        return self._services.config.completion.enabled and not self._pause.look()

    def _may_work_ahead(self) -> bool:
        """Return whether the client stays, the user trusts the workspace, and suggestions are not switched off."""
        return self._services.works_ahead and self._services.workspace.is_trusted and self._is_enabled()

    def _start_engine(self) -> None:
        # the user's own request will report what is wrong with the settings
        with suppress(HarnessError):
            self._ready_completer().start_engine()

    def _warm(self, uri: str) -> None:
        if opened := self._documents.find(uri):
            text = opened.text
            snapshot = self._services.workspace.snapshot(text)
            place, knowledge = opened.cursor, "visited"
            if place is None:
                place = self._visited_files.recall(text)
                knowledge = "unknown" if place is None else "remembered"
            # the user's own request will report what is wrong with the settings
            with suppress(HarnessError):
                cursor = self._make_cursor(snapshot, self._documents.tree(text), min(place or 0, len(text.data)))
                self._ready_completer().warm(opened, cursor, knowledge)

    async def _prepare(self, snapshot: Snapshot, offset: int) -> None:
        if self._may_work_ahead():
            tree = await self._documents.tree_when_ready(snapshot.document)
            await self._ready_completer().prepare(self._make_cursor(snapshot, tree, offset))

    def _make_cursor(self, snapshot: Snapshot, tree: "SyntaxTree | None", offset: int) -> Cursor:
        may_persist = self._services.workspace.may_persist(snapshot)
        return Cursor(snapshot.document, tree, offset, snapshot.path, may_persist)

    def _stop_background(self) -> None:
        """Cancel the completions that no request waits for."""
        from lsp_harness.completion.document_completions import DocumentCompletions

        self.hot_files.stop()
        for opened in self._documents:
            if completions := opened.find_part(DocumentCompletions):
                completions.stop_background()


def _create_completer(services: Services, statistics: AcceptanceStats) -> "tuple[Completer, RecentEdits]":
    """Return the completer of a client, and the places of its user that it reads."""
    from lsp_harness.completion.completer import Completer
    from lsp_harness.completion.trigger_policy import TriggerPolicy
    from lsp_harness.completion.type_filter import TypeFilter
    from lsp_harness.context.recent_edits import RecentEdits
    from lsp_harness.context.repository_context import RepositoryContext

    config, workspace, engine = services.config, services.workspace, services.engines.current
    private_reason = workspace.private_files.reason
    recent_edits = RecentEdits(services.find_text, private_reason)
    completer = Completer(
        engine,
        config.completion,
        TriggerPolicy(config.quiet, private_reason),
        background=services.background if services.works_ahead and workspace.is_trusted else None,
        repository=RepositoryContext(services.index.query, engine.count, recent_edits),
        call_later=services.clock.call_later,
        types=TypeFilter(services.type_gate, statistics.record_types),
    )
    completer.fates = statistics
    return completer, recent_edits
