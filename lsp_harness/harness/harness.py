"""The façade of the product in terms of an editor. The language server and the command line work with nothing else."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from lsp_harness.config.schema import Config
from lsp_harness.harness.clock import Clock
from lsp_harness.harness.completion_verbs import CompletionVerbs
from lsp_harness.harness.edits.edit_verbs import EditVerbs
from lsp_harness.harness.edits.fix_verbs import FixVerbs
from lsp_harness.harness.edits.proposals import DocumentProposals
from lsp_harness.harness.edits.turns import Turns
from lsp_harness.harness.events import EventStream
from lsp_harness.harness.followed_files import FollowedFiles
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.harness.open_findings import OpenFindings
from lsp_harness.harness.services import Services
from lsp_harness.harness.symbol_verbs import SymbolVerbs
from lsp_harness.harness.verdicts.verification_verbs import VerificationVerbs
from lsp_harness.harness.visited_files import VisitedFiles
from lsp_harness.process.typing_activity import record_typing
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.open_documents import OpenDocuments
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.workspace import Workspace

if TYPE_CHECKING:
    from lsp_harness.harness.prompt_preview import PromptPreviews
    from lsp_harness.harness.task_locator import TaskLocator
    from lsp_harness.harness.verification.verifier import Verifier
    from lsp_harness.inference.client import Engine


def read_state(services: Services, completions: CompletionVerbs) -> dict[str, Any]:
    """Return the state as far as it is known without asking any process."""
    indexes, engine, config = services.index.folder_indexes_if_any, services.engines.state(), services.config
    # the settings do not say which model a remote server has loaded
    remote_model = engine["model"] if config.engine.url else None
    return {
        **engine,
        "model": config.engine.model or remote_model or config.model.path,
        "trusted": services.workspace.is_trusted,
        "index": indexes.state() if indexes else "off",
        "unparsed": services.documents.list_without_tree(),
        **completions.state(),
    }


async def _describe_background(services: Services) -> dict[str, Any]:
    """Return when work that no user waits for runs, why it waits now, and how many pieces of it wait."""
    why = await services.background.find_refusal(is_after_checks=True)
    return {"when": services.config.background.when, "why": why or None, "waiting": services.background.waiting_count}


async def read_status(services: Services, completions: CompletionVerbs) -> dict[str, Any]:
    """Return the state of the engine, the last completion, the log, and the documents without a syntax tree."""
    log = services.session_log_if_any
    return {
        "engine": await services.engines.describe(),
        "completion": completions.last_figures,
        "background": await _describe_background(services),
        "log": str(log.path) if log else None,
        "unparsed": services.documents.list_without_tree(),
    }


UserAction = Literal["accepted", "dismissed", "applied"]
"""The action of a user on a result: `accepted` or `dismissed` a suggestion, `applied` a proposal."""


class Harness:
    """One harness serves one client. It follows the texts of the client, and offers work on frozen snapshots of them.

    The verbs of each kind of work are attributes: `completions`, `fixes`, `edits`, `verification`, `symbols` and so on.

    Args:
        config: The settings.
        create_engine: Creates the engine of the settings, with the first request that needs a model.
        workspace: The folders, and whether the user trusts them.
        works_ahead: Whether to prefetch completions and to keep indexes: only for a client that stays.
        index: An index that is ready, for a command.
        verifier: The linter and the checks of edits. None means those that the workspace's trust allows.
        clock: The time. None means the real time.
    """

    def __init__(
        self,
        config: Config,
        create_engine: "Callable[[Config], Engine]",
        workspace: Workspace | None = None,
        *,
        works_ahead: bool = False,
        index: ReadyIndex | None = None,
        verifier: "Verifier | None" = None,
        clock: Clock | None = None,
    ) -> None:
        self.services: Final = Services(
            config,
            create_engine,
            workspace or Workspace(),
            works_ahead=works_ahead,
            index=index,
            verifier=verifier,
            clock=clock,
        )
        """The parts that all verbs share."""
        self.turns: Final = Turns(self.services)
        """The turns of the session, and their verdicts."""
        self._visited_files = VisitedFiles(self.services)
        self.completions: Final = CompletionVerbs(self.services, self._visited_files)
        """Ghost text."""
        self.fixes: Final = FixVerbs(self.services, self.turns)
        """Repairs of findings."""
        self.edits: Final = EditVerbs(self.services, self.turns)
        """Edits and explanations that the user asks for."""
        self.symbols: Final = SymbolVerbs(self.services)
        """Symbols of the workspace."""
        self.verification: Final = VerificationVerbs(self.services)
        """Verdicts about edits that the user accepted or saved."""
        self.open_findings: Final = OpenFindings(self.services, self.fixes.diagnose)
        """The findings of linters and type checkers about open documents."""
        self.files: Final = FollowedFiles(self.services, self.verification, self.fixes.prepared, self.open_findings)
        """The files on the disk that the client reports as changed."""

    # -- parts
    @property
    def config(self) -> Config:
        """The present settings."""
        return self.services.config

    @property
    def workspace(self) -> Workspace:
        """The workspace folders."""
        return self.services.workspace

    @property
    def documents(self) -> OpenDocuments:
        """The open documents, with their syntax trees."""
        return self.services.documents

    @property
    def events(self) -> EventStream:
        """The events that the harness reports."""
        return self.services.events

    @cached_property
    def tasks(self) -> "TaskLocator":
        """The code that a task is about. The parser is imported at the first use."""
        from lsp_harness.harness.task_locator import TaskLocator

        return TaskLocator(self.services, self.turns)

    # -- texts
    def open(self, text: Document) -> None:
        """Open a document. If it is open already, its text is replaced."""
        if text.uri in self.documents:
            self.close(text.uri)
        self._visited_files.record_open(opened := self.documents.open(text))
        self.open_findings.follow(opened)
        if indexes := self.services.index.folder_indexes_if_any:
            # the user will soon need what this file imports
            snapshot = self.workspace.snapshot(text)
            indexes.prioritize(snapshot.root, snapshot.path)

    def change(self, uri: str, edit: Edit, version: int) -> None:
        """Apply one edit. Call it for each edit, in order.

        Raises:
            DocumentNotOpen: The document is not open.
        """
        opened = self.documents.get(uri)
        before = opened.edit(edit, version)
        record_typing()
        # some clients run no command after they inserted a suggestion or applied a proposal, but the text shows it
        if base := self.completions.follow(opened, before, edit):
            self.verification.start(opened, base)
        self.verification.follow(opened)
        self.open_findings.follow(opened)
        if proposals := opened.find_part(DocumentProposals):
            for proposal_id in proposals.find_applied(opened.text):
                self.record(uri, proposal_id, "applied")
        self.fixes.prepared.record_edit(opened)

    def close(self, uri: str) -> None:
        """Close a document. Raises DocumentNotOpen."""
        opened = self.documents.close(uri)
        if opened:
            self._visited_files.record_close(opened)
            self.completions.record_close(opened.text)

    def lose(self, uri: str, reason: str) -> bool:
        """Forget a text that differs from the client's until it sends all of it. Return whether it was known."""
        return self.documents.lose(uri, reason)

    def snapshot(self, uri: str) -> Snapshot:
        """Return an open document as it is now, with its place in the workspace.

        Raises:
            DocumentNotOpen: The document is not open.
        """
        return self.workspace.snapshot(self.documents.get(uri).text)

    # -- what the user did
    def record(self, uri: str, result_id: str, action: UserAction) -> None:
        """Record what the user did with a suggestion or a proposal. An accepted edit is verified from now on.

        Args:
            uri: The URI of the document.
            result_id: The id of the suggestion or the proposal.
            action: What the user did. To record it twice has no effect.
        """
        opened = self.documents.find(uri)
        if opened is None:
            return
        match action:
            case "accepted":
                if base := self.completions.accept(opened, result_id):
                    self.verification.start(opened, base)
            case "dismissed":
                self.completions.dismiss(opened, result_id)
            case "applied":
                proposals = opened.find_part(DocumentProposals)
                if sent := proposals.take(result_id) if proposals else None:
                    self.fixes.learn(sent.proposal)
                    self.verification.start(opened, sent.base)
                    self.fixes.prepared.record_applied(opened, result_id)

    def record_save(self, uri: str) -> None:
        """Record that a file on disk may have changed."""
        self.files.record([(uri, "changed")])

    # -- what there is to read
    async def preview(self) -> "PromptPreviews":
        """Return the prompts that the model would see. This starts the engine, to count their tokens."""
        from lsp_harness.harness.prompt_preview import PromptPreviews

        engine = await self.services.engines.create_estimating_engine()
        return PromptPreviews(self.services, self.turns, self.completions, engine)

    # -- settings and state
    def configure(self, config: Config) -> None:
        """Use other settings from the next request on."""
        is_other_engine = self.services.configure(config)
        self.fixes.prepared.drop_all()
        self.completions.configure(config, is_other_engine=is_other_engine)
        if self.services.index.folder_indexes_if_any:
            self.keep_indexes()
        else:
            self.services.report_state()

    def keep_indexes(self) -> None:
        """Keep the indexes of the workspace folders from now on. Nothing is read of a workspace that is not trusted."""
        if self.services.works_ahead and self.workspace.is_trusted:
            self.services.folders.look_soon()
        self.services.index.keep(self.workspace, works_ahead=self.services.works_ahead)
        self.services.report_state()

    def state(self) -> dict[str, Any]:
        """Return the state as far as it is known without asking any process."""
        return read_state(self.services, self.completions)

    async def status(self) -> dict[str, Any]:
        """Return the state of the engine, the last completion, the log, and the documents without a syntax tree."""
        return await read_status(self.services, self.completions)

    async def restart_engine(self) -> dict[str, Any]:
        """End the engine and start it again. Return the `model` and the `pid` of the new one.

        Raises:
            ConfigError: The settings name a remote server.
            EngineUnavailable: The engine does not end.
        """
        return await self.services.engines.restart()

    async def aclose(self) -> None:
        """Stop all background work and close the engine.

        Raises:
            EngineError: The engine did not end as it should.
        """
        self._visited_files.save()
        await self.documents.aclose()
        await self.completions.aclose()
        await self.services.aclose()
