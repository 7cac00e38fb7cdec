"""The parts that the verbs of one harness share: settings, documents, engine, index, packages and checks.

A part that takes long to import is created at its first use, because `initialize` must be answered at once.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lsp_harness.config.load import is_in_trusted_folder
from lsp_harness.config.schema import Config
from lsp_harness.harness.clock import Clock
from lsp_harness.harness.engines import Engines, select_engine_settings
from lsp_harness.harness.events import (
    AgentFindingsChanged,
    EventStream,
    IndexReported,
    StateChanged,
    TroubleReported,
    TurnReported,
)
from lsp_harness.harness.index_service import IndexService, ReadyIndex
from lsp_harness.process.background_permit import BackgroundPermit
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.published_findings import AgentFindings
from lsp_harness.wire.version import VERSION
from lsp_harness.workspace.document_syntax import SyntaxService
from lsp_harness.workspace.folder_state import FolderState, list_environments
from lsp_harness.workspace.open_document import OpenDocument
from lsp_harness.workspace.open_documents import OpenDocuments
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.typed_text import TypingRhythm
from lsp_harness.workspace.workspace import Workspace

if TYPE_CHECKING:
    from lsp_harness.config.schema import Knowledge
    from lsp_harness.events.event_type import SessionEvent
    from lsp_harness.harness.acceptance_stats import AcceptanceStats
    from lsp_harness.harness.indexes.folder_index import IndexMessage
    from lsp_harness.harness.verification.edit_permission import EditPermission
    from lsp_harness.harness.verification.verifier import Verifier
    from lsp_harness.index.query.related_tests import AffectedTest
    from lsp_harness.index.unsaved_text import UnsavedText
    from lsp_harness.inference.client import Engine
    from lsp_harness.kernel.log.session_log import SessionLog
    from lsp_harness.kernel.session import Session
    from lsp_harness.knowledge.installed_packages import InstalledPackages
    from lsp_harness.knowledge.learned.learned_fixes import LearnedFixes
    from lsp_harness.permission.person import AskPerson
    from lsp_harness.verify.types.checker_pool import CheckerPool
    from lsp_harness.verify.types.type_gate import TypeGate
    from lsp_harness.workspace.edited_texts import EditedTexts


ApplyEdit = Callable[[Document, Sequence[Edit]], Awaitable[str]]


class Services:
    """The shared parts of one harness. The arguments are those of `Harness`."""

    def __init__(
        self,
        config: Config,
        create_engine: "Callable[[Config], Engine]",
        workspace: Workspace,
        *,
        works_ahead: bool = False,
        index: ReadyIndex | None = None,
        verifier: "Verifier | None" = None,
        clock: Clock | None = None,
    ) -> None:
        self._config = config
        self._verifier = verifier
        self._installed: tuple[Knowledge, InstalledPackages] | None = None
        self._learned: dict[Path, LearnedFixes] = {}
        self.workspace: Final = workspace
        self.works_ahead: Final = works_ahead
        self.clock: Final = clock or Clock()
        self.closers: Final[list[Callable[[], Awaitable[None]]]] = []
        """Functions that close what the parts of the harness opened. The engine is closed after them."""
        self.person: AskPerson | None = None
        """The person who is asked before a program of a folder runs that is not trusted. None if nobody is there."""
        self.apply_edit: ApplyEdit | None = None
        """Lets the editor change an open text, and returns why it did not. None if it cannot."""
        self.events: Final = EventStream()
        self.agent_findings: Final = AgentFindings(lambda file: self.events.publish(AgentFindingsChanged(file)))
        syntax = SyntaxService(self.report_state, clock=self.clock.now_s)
        self.documents: Final = OpenDocuments(syntax, TypingRhythm(self.clock.now_s))
        self.folders: Final = FolderState(
            lambda: self.workspace.roots, lambda root: list_environments(root, self._config.knowledge.python)
        )
        self.engines: Final = Engines(create_engine, lambda: self._config, self.report_state, self._report_trouble)
        self.background: Final = BackgroundPermit(self._background_setting)
        self.index: Final = IndexService(
            *(index or ReadyIndex(), lambda: self._config, self.engines, self._find_unsaved_texts, self._report_index),
            self.background,
        )

    # -- settings
    @property
    def config(self) -> Config:
        """The present settings."""
        return self._config

    def configure(self, config: Config) -> bool:
        """Use other settings from the next request on. Return whether they need another engine."""
        is_other_engine = select_engine_settings(config) != select_engine_settings(self._config)
        self._config = config
        if is_other_engine:
            self.engines.replace()
        return is_other_engine

    def _background_setting(self) -> str:
        """Return `background.when`. Work of a remote server costs this machine nothing, so it need not give way."""
        when = self._config.background.when
        return when if when == "never" or self.engines.is_own else "always"

    # -- events
    def report_state(self) -> None:
        """Publish that `Harness.state` may return something else."""
        self.events.publish(StateChanged())

    def _report_trouble(self, message: str) -> None:
        self.events.publish(TroubleReported(message))

    def _report_index(self, root: Path, message: "IndexMessage") -> None:
        # a client that has requested nothing yet has no log
        is_ready, log = message["state"] == "ready", self.session_log_if_any
        if log and is_ready and (paths := message["parsed"] + message["dropped"]):
            from lsp_harness.events.session_events import IndexUpdated

            ms = round(1000 * message["seconds"])
            log.append(IndexUpdated(root.name, paths, message["files"], ms))
        self.events.publish(IndexReported(root, message))
        self.report_state()
        if is_ready:
            self.index.embed()

    # -- texts
    def find_text(self, uri: str) -> Document | None:
        """Return the present text of an open document, or None if it is not open."""
        opened = self.documents.find(uri)
        return opened.text if opened else None

    def open_files(self) -> list[Snapshot]:
        """Return the open texts that are files of a workspace folder."""
        snapshots = [self.workspace.snapshot(opened.text) for opened in self.documents]
        return [snapshot for snapshot in snapshots if snapshot.root and not snapshot.document.is_binary]

    def edited_documents(self) -> Iterator[tuple[OpenDocument, Snapshot]]:
        """Yield the open documents that were edited, without those that no model may see."""
        for opened in self.documents:
            snapshot = self.workspace.snapshot(opened.text)
            if opened.is_edited and not self.workspace.private_reason(snapshot):
                yield opened, snapshot

    @cached_property
    def _edited_texts(self) -> "EditedTexts":
        from lsp_harness.workspace.edited_texts import EditedTexts

        return EditedTexts(self.edited_documents)

    def _find_unsaved_texts(self, root: Path) -> "Mapping[str, UnsavedText]":
        return self._edited_texts.in_folder(root)

    # -- checks and records
    @cached_property
    def verifier(self) -> "Verifier":
        """The linter and the checks of edits."""
        from lsp_harness.harness.verification.edit_permission import CheckPermission
        from lsp_harness.harness.verification.verifier import CheckSupply, create_verifier
        from lsp_harness.verify.reviewer import Reviewer

        if self._verifier:
            return self._verifier
        supply = CheckSupply(
            CheckPermission(lambda: self.permission.check_gate),
            self._find_affected_tests,
            self.checkers,
            self._trusts_folder,
            Reviewer(lambda: self.engines.current, self.workspace.private_files.reason),
            self.works_ahead,
            lambda root, path: self.index.query.users(root.as_uri(), path),
        )
        return create_verifier(supply, is_trusted=self.workspace.is_trusted)

    async def _find_affected_tests(self, root: Path, path: str) -> "Sequence[AffectedTest]":
        await self.index.require_complete(root)
        return await self.index.query.affected_tests(root.as_uri(), path)

    @cached_property
    def permission(self) -> "EditPermission":
        """The permission gate of the client's edits. It records its decisions in the session."""
        from lsp_harness.harness.verification.edit_permission import EditPermission

        def record(event: "SessionEvent", turn: int | None) -> object:
            log = self.session.log
            return log.append_to_running(event) if turn is None else log.append(event, turn=turn)

        return EditPermission(lambda: self._config, self.workspace, record, lambda: self.person)

    @property
    def installed(self) -> "InstalledPackages | None":
        """The installed packages, or None if the settings switch them off."""
        settings = self._config.knowledge
        if not settings.enabled:
            return None
        if self._installed is None or self._installed[0] != settings:
            from lsp_harness.knowledge.installed_packages import InstalledPackages

            self._installed = settings, InstalledPackages(python=settings.python)
        return self._installed[1]

    def learned_fixes(self, root: Path | None) -> "LearnedFixes | None":
        """Return the error cache of a project, or None if there is none, or if the settings switch it off."""
        if root is None or not self._config.knowledge.error_cache or not self.workspace.is_trusted:
            return None
        if root not in self._learned:
            from lsp_harness.knowledge.learned.learned_fixes import LearnedFixes

            self._learned[root] = LearnedFixes(root)
        return self._learned[root]

    @cached_property
    def statistics(self) -> "AcceptanceStats":
        """The counts of suggestions and fixes, and what became of them."""
        from lsp_harness.harness.acceptance_stats import AcceptanceStats

        return AcceptanceStats(self.find_text, self.clock.call_later)

    @cached_property
    def session(self) -> "Session":
        """The session of the client's edits. Nothing of a workspace that is not trusted is written to disk."""
        from lsp_harness.events.session_events import SessionStarted
        from lsp_harness.kernel.log.session_store import SessionStore
        from lsp_harness.kernel.session import Session

        log = SessionStore().create(is_saved=self.workspace.is_trusted)
        log.hold_prelude()
        log.listeners.append(lambda event: self.events.publish(TurnReported(event)))
        root = next(iter(self.workspace.roots), None)
        config = self._config
        model = config.engine.model or config.engine.url or config.model.path
        return Session(log, SessionStarted(str(root or ""), "code", model, "ask", VERSION, source="lsp"))

    @cached_property
    def type_gate(self) -> "TypeGate | None":
        """The type gate of a client that stays. For others a type checker would start too late."""
        if not self.works_ahead:
            return None
        from lsp_harness.verify.types.type_gate import TypeGate

        return TypeGate(self.workspace, lambda: self._config, self.checkers)

    @cached_property
    def checkers(self) -> "CheckerPool":
        """The type checkers, which suggestions and edits share."""
        from lsp_harness.verify.types.checker_pool import CheckerPool

        read_python, list_texts = lambda: self._config.knowledge.python, lambda: [o.text for o in self.documents]
        return CheckerPool(read_python, list_texts, may_run_code=self._trusts_folder)

    def _trusts_folder(self, root: Path) -> bool:
        # where no editor says whether the user trusts a folder, the settings do
        return self.workspace.is_trusted and (self.works_ahead or is_in_trusted_folder(root, self._config))

    def forget_packages(self) -> None:
        """Read the installed packages again at the next use."""
        self._installed = None

    @property
    def verifier_if_any(self) -> "Verifier | None":
        """The checks of edits, or None if nothing was checked yet."""
        return self.__dict__.get("verifier")

    @property
    def checkers_if_any(self) -> "CheckerPool | None":
        """The type checkers, or None if nothing was checked yet."""
        return self.__dict__.get("checkers")

    @property
    def type_gate_if_any(self) -> "TypeGate | None":
        """The type gate, or None if no completion was requested yet."""
        return self.__dict__.get("type_gate")

    @property
    def session_log_if_any(self) -> "SessionLog | None":
        """The log of the session, or None if there was no turn yet."""
        session: Session | None = self.__dict__.get("session")
        return session.log if session else None

    async def aclose(self) -> None:
        """Close everything but the documents, which must be closed before.

        Raises:
            EngineError: The engine did not end as it should.
        """
        for close in self.closers:
            await close()
        await self.folders.aclose()
        if indexes := self.index.folder_indexes_if_any:
            await indexes.aclose()
        if gate := self.type_gate_if_any:
            await gate.aclose()
        if verifier := self.verifier_if_any:
            await verifier.aclose()
        if checkers := self.checkers_if_any:
            await checkers.aclose()
        if log := self.session_log_if_any:
            log.close()
        await self.engines.aclose()
