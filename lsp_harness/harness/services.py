"""The services of one harness, each created when it is first needed: importing them all would delay `initialize`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.config.schema import Config
from lsp_harness.harness.acceptance_stats import AcceptanceStats
from lsp_harness.harness.engines import Engines
from lsp_harness.harness.events import EventStream, FindingsChanged, IndexReported, StateChanged, TroubleReported
from lsp_harness.harness.suggestion_pause import Pause
from lsp_harness.text.document import Document
from lsp_harness.workspace.document_syntax import SyntaxService
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.open_documents import OpenDocuments
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.workspace import Workspace

if TYPE_CHECKING:
    from lsp_harness.completion.completer import Completer
    from lsp_harness.context.context_inputs import VectorSearch
    from lsp_harness.context.recent_edits import RecentEdits
    from lsp_harness.harness.accepted_edits import AcceptedEdits
    from lsp_harness.harness.engine_health import Observed
    from lsp_harness.harness.indexes.folder_index import Said
    from lsp_harness.harness.indexes.folder_indexes import Indexes
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.inference.client import Engine
    from lsp_harness.knowledge.installed_packages import InstalledPackages
    from lsp_harness.session.log import SessionLog
    from lsp_harness.verify.ruff_linter import Ruff


@dataclass(frozen=True, slots=True)
class ReadyIndex:
    """An index that a command has brought up to date itself, in place of the indexes that a language server keeps.

    Attributes:
        query: Reads it. None if the folder has no index.
        find_similar: Returns the digests of the texts that are most like a task, by their vectors.
    """

    query: "IndexQuery | None" = None
    find_similar: "VectorSearch | None" = None


class Services:
    """What the verbs of a harness work with.

    Args:
        config: The settings.
        workspace: The folders, and whether they are trusted.
        make_engine: Creates the engine of the settings, with the first request that needs a model.
        works_ahead: Whether to prefetch completions and keep indexes: only for a client that stays.
        index: An index that is ready, for a command.
        ruff: The linter. None creates the one that the workspace's trust allows.
    """

    def __init__(
        self,
        config: Config,
        workspace: Workspace,
        make_engine: "Callable[[Config], Engine]",
        *,
        works_ahead: bool = False,
        index: ReadyIndex | None = None,
        ruff: "Ruff | None" = None,
    ) -> None:
        self.config = config
        self.workspace = workspace
        self.works_ahead = works_ahead
        self.events = EventStream()
        self.documents = OpenDocuments(SyntaxService(self.report_state))
        self.pause = Pause(self.report_state)
        self.engines = Engines(make_engine, self.report_state, self._report_trouble)
        self.statistics = AcceptanceStats(self._find_text)
        self.ready_index = index or ReadyIndex()
        self._ruff = ruff
        self.completer: Completer | None = None
        """The completer, once a completion was requested."""
        self.recent: RecentEdits | None = None
        """The places where the user worked last, once a completion was requested."""
        self._installed: InstalledPackages | None = None

    # -- events
    def report_state(self) -> None:
        self.events.publish(StateChanged())

    def _report_trouble(self, message: str) -> None:
        self.events.publish(TroubleReported(message))

    def _report_index(self, root: Path, message: "Said") -> None:
        # a client that has requested nothing yet has no log
        is_ready, log = message["state"] == "ready", self.session_log_if_any
        if log and is_ready and (paths := message["parsed"] + message["dropped"]):
            from lsp_harness.session.turn_events import IndexUpdated

            ms = round(1000 * message["seconds"])
            log.append(IndexUpdated(root.name, paths, message["files"], ms))
        self.events.publish(IndexReported(root, message))
        self.report_state()
        if is_ready:
            self.embed()

    # -- settings
    def configure(self, config: Config) -> None:
        """Use other settings. Another model or engine takes effect with the next request."""
        engine_changed = self.engines.loads(config) != self.engines.loads(self.config)
        if config.knowledge != self.config.knowledge:
            self._installed = None
        self.config = config
        if engine_changed:
            self.engines.leave()
            self.stop_background()
            self.completer = None
        if self.completer:
            self.completer.configure(config.completion, config.quiet)
        if edits := self.__dict__.get("accepted_edits"):
            edits.settings = config.verification

    def stop_background(self) -> None:
        """Cancel the completions that no request waits for."""
        from lsp_harness.completion.document_completions import DocumentCompletions

        for opened in self.documents:
            if state := opened.find_part(DocumentCompletions):
                state.stop_background()

    # -- the model
    @property
    def engine(self) -> "Observed":
        """The engine of the settings."""
        return self.engines.of(self.config)

    def ready_completer(self) -> "Completer":
        """Return the completer, and create it at the first call."""
        if self.completer is None:
            from lsp_harness.completion.completer import Completer
            from lsp_harness.completion.policy.trigger_policy import TriggerPolicy
            from lsp_harness.context.recent_edits import RecentEdits
            from lsp_harness.context.repository_context import RepositoryContext

            private = self.workspace.private_files
            policy = TriggerPolicy(self.config.quiet, private.reason)
            self.recent = RecentEdits(self._find_text, private.reason)
            repository = RepositoryContext(self.index_query, self.engine.count, self.recent)
            works_ahead = self.works_ahead and self.workspace.is_trusted
            self.completer = Completer(
                self.engine, self.config.completion, policy, works_ahead=works_ahead, repository=repository
            )
        return self.completer

    def embed(self) -> None:
        """Embed what is new in the indexes, if an engine of ours is in use. A remote server gets no whole workspace."""
        indexes = self.indexes_if_any
        if indexes and self.engines.own(self.config) and self.engines.state()["engine"] in ("ready", "busy"):
            indexes.embed()

    # -- the workspace
    @property
    def index_query(self) -> "IndexQuery":
        """The index that questions go to."""
        return self.ready_index.query or self.indexes

    async def find_similar(self, uri: str, task: str) -> Sequence[bytes]:
        """Return the digests of the indexed texts that are most like a task."""
        if self.ready_index.find_similar:
            return await self.ready_index.find_similar(uri, task)
        return await self.indexes.near(uri, task) if self.engines.own(self.config) else ()

    @cached_property
    def indexes(self) -> "Indexes":
        from lsp_harness.harness.indexes.folder_indexes import Indexes
        from lsp_harness.workspace.edited_texts import EditedTexts

        edited = EditedTexts(self.edited)
        return Indexes(self._report_index, lambda: self.engine, lambda: self.config.index, edited.in_folder)

    @property
    def indexes_if_any(self) -> "Indexes | None":
        return self.__dict__.get("indexes")

    def edited(self) -> "Iterable[tuple[OpenDocument, Snapshot]]":
        """Return the open documents that were edited, but for those that no model may see."""
        for opened in self.documents:
            snapshot = self.workspace.snapshot(opened.text)
            if opened.is_edited and not self.workspace.private_reason(snapshot):
                yield opened, snapshot

    def _find_text(self, uri: str) -> Document | None:
        opened = self.documents.find(uri)
        return opened.text if opened else None

    @property
    def installed(self) -> "InstalledPackages | None":
        """The installed packages, or None if the settings switch them off."""
        if not self.config.knowledge.enabled:
            return None
        if self._installed is None:
            from lsp_harness.knowledge.installed_packages import InstalledPackages

            self._installed = InstalledPackages(python=self.config.knowledge.python)
        return self._installed

    # -- checks and records
    @cached_property
    def ruff(self) -> "Ruff":
        """The linter."""
        from lsp_harness.harness.untrusted_linter import ruff

        return self._ruff or ruff(trusted=self.workspace.is_trusted)

    @cached_property
    def accepted_edits(self) -> "AcceptedEdits":
        from lsp_harness.harness.accepted_edits import AcceptedEdits

        return AcceptedEdits(
            self.ruff,
            self.config.verification,
            lambda uri, findings: self.events.publish(FindingsChanged(uri, findings)),
            lambda: self.session_log,
            self.workspace.private_files.reason,
        )

    @property
    def accepted_edits_if_any(self) -> "AcceptedEdits | None":
        return self.__dict__.get("accepted_edits")

    @cached_property
    def session_log(self) -> "SessionLog":
        from lsp_harness.session.log import SessionLog

        return SessionLog(is_saved=self.workspace.is_trusted)

    @property
    def session_log_if_any(self) -> "SessionLog | None":
        return self.__dict__.get("session_log")

    async def aclose(self) -> None:
        """Stop all background work and close the engine.

        Raises:
            EngineError: The engine did not end as it should.
        """
        await self.documents.aclose()
        if self.indexes_if_any:
            await self.indexes.aclose()
        if self.accepted_edits_if_any:
            await self.accepted_edits.aclose()
        if self.completer:
            await self.completer.aclose()
        if self.session_log_if_any:
            self.session_log.close()
        self.statistics.flush()
        await self.engines.aclose()
