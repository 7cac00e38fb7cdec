"""The façade in editor terms: what a surface can ask of the harness. It hands frozen snapshots to the drivers.

The verbs of single pages (`edit_verbs`, `location`, `navigation`, `symbol_queries`, `prompt_preview`) are functions that
take a harness.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from lsp_harness.config.schema import Config
from lsp_harness.errors import BinaryDocument, HarnessError, NoAnswer, UsageError
from lsp_harness.harness import diagnosis
from lsp_harness.harness.proposals import DocumentProposals, send
from lsp_harness.harness.published_findings import PublishedFindings
from lsp_harness.harness.services import ReadyIndex, Services
from lsp_harness.harness.suggestion_pause import Scope
from lsp_harness.process.typing_activity import record_typing
from lsp_harness.session.results import FixOffer, Proposal, Report, Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.workspace import Workspace

if TYPE_CHECKING:
    from lsp_harness.coding.turn_context import TurnContext
    from lsp_harness.inference.client import Engine
    from lsp_harness.syntax.symbols.declarations import Declaration
    from lsp_harness.syntax.tree import SyntaxTree
    from lsp_harness.verify.digest.digest_result import Digest
    from lsp_harness.verify.ruff_linter import Ruff

Outcome = Literal["accepted", "dismissed", "applied"]
"""What a user did with a result: `accepted` or `dismissed` a suggestion, `applied` a proposal."""


class Harness:
    """One harness serves one client. The arguments are those of `Services`."""

    def __init__(
        self,
        config: Config,
        make_engine: "Callable[[Config], Engine]",
        workspace: Workspace | None = None,
        *,
        works_ahead: bool = False,
        index: ReadyIndex | None = None,
        ruff: "Ruff | None" = None,
    ) -> None:
        self.workspace = workspace or Workspace()
        self.services = Services(config, self.workspace, make_engine, works_ahead=works_ahead, index=index, ruff=ruff)
        self.documents = self.services.documents
        self.events = self.services.events

    @property
    def config(self) -> Config:
        return self.services.config

    # -- text
    def open(self, text: Document) -> None:
        """Open a document, also one that is open already."""
        if text.uri in self.documents:
            self.close(text.uri)
        self.documents.open(text)
        if indexes := self.services.indexes_if_any:
            # the user will soon need what this file imports
            snapshot = self.workspace.snapshot(text)
            indexes.first(snapshot.root, snapshot.path)

    def change(self, uri: str, edit: Edit, version: int) -> None:
        """Apply one edit. Call it for each edit, in order.

        Raises:
            NotOpen: The document is not open.
        """
        services, opened = self.services, self.documents.get(uri)
        before = opened.edit(edit, version)
        record_typing()
        if services.recent:
            added_lines = len(opened.text.line_starts) - len(before.line_starts)
            path = self.workspace.snapshot(opened.text).path
            services.recent.record_edit(uri, path, before.line_of(edit.start), added_lines)
        if services.completer:
            services.completer.follow(opened)
            state = services.completer.state(opened)
            if services.statistics.follow(opened, edit) and (base := state.displayed_document()):
                # some clients run no command for a suggestion that they inserted
                services.accepted_edits.start(opened, self.workspace.snapshot(base))
        if services.accepted_edits_if_any:
            services.accepted_edits.follow(opened)
        # some clients run no command after they applied a proposal, but the text shows it
        if proposals := opened.find_part(DocumentProposals):
            for id in proposals.find_applied(opened.text):
                self.record(uri, id, "applied")

    def close(self, uri: str) -> None:
        """Close a document.

        Raises:
            NotOpen: The document is not open.
        """
        opened = self.documents.close(uri)
        if self.services.recent and opened:
            self.services.recent.record_close(opened.text)

    def lose(self, uri: str, reason: str) -> bool:
        """Forget a text that differs from the client's, until the client sends all of it.

        Returns:
            Whether the text was known until now.
        """
        return self.documents.lose(uri, reason)

    def snapshot(self, uri: str) -> Snapshot:
        """Return an open document as it is now, with its place in the workspace.

        Raises:
            NotOpen: The document is not open.
        """
        return self.workspace.snapshot(self.documents.get(uri).text)

    def tree(self, snapshot: Snapshot) -> "SyntaxTree | None":
        """Return the syntax tree of a snapshot if there is one at once."""
        text = snapshot.document
        return self.documents.syntax_of(text).tree(text, is_current=self.documents.is_current(text))

    async def parsed(self, snapshot: Snapshot) -> "SyntaxTree | None":
        """Return the syntax tree of a snapshot, and wait a while if it is being made.

        Raises:
            Superseded: The text changed meanwhile.
        """
        text = snapshot.document
        is_current = self.documents.is_current(text)
        return await self.documents.syntax_of(text).tree_when_ready(text, is_current=is_current)

    def declarations(self, snapshot: Snapshot) -> "Sequence[Declaration]":
        """Return the declarations of a snapshot in their order, outer ones first."""
        text = snapshot.document
        return self.documents.syntax_of(text).declarations(text, is_current=self.documents.is_current(text))

    # -- completion
    async def complete(
        self, snapshot: Snapshot, offset: int, *, automatic: bool = True, one: bool = False
    ) -> list[Suggestion]:
        """Return suggestions for a place.

        Args:
            snapshot: The document.
            offset: The place, in bytes.
            automatic: Whether the editor asks without a command of the user.
            one: Whether a user who asks wants one suggestion only, instead of a choice.

        Raises:
            Superseded: A newer request for this document came.
            NoAnswer: The user asked, and the reason why there is nothing is worth reading.
        """
        services = self.services
        if automatic and (not self.config.completion.enabled or services.pause.look()):
            return []
        opened = self.documents.find(snapshot.document.uri) or self.documents.create_detached(snapshot.document)
        opened.cursor = offset
        try:
            cursor = self._cursor(snapshot, await self.parsed(snapshot), offset)
            completer = services.ready_completer()
            if automatic or one:
                suggestion = await completer.complete(opened, cursor, automatic=automatic)
                suggestions = [suggestion] if suggestion else []
            else:
                suggestions = await completer.choices(opened, cursor)
        except NoAnswer:
            # the same sentence at every key would help nobody
            if automatic:
                return []
            raise
        services.statistics.display(opened, suggestions)
        services.report_state()
        services.embed()
        return suggestions

    def warm(self, uri: str, offset: int | None = None) -> None:
        """Prepare a completion at the place where the user is: at `offset`, or where they were last."""
        opened, services = self.documents.find(uri), self.services
        if opened is None:
            return
        if offset is not None:
            opened.cursor = offset
            if services.recent:
                snapshot = self.snapshot(uri)
                services.recent.record_view(uri, snapshot.path, snapshot.document.line_of(offset))
        is_wanted = self.config.completion.enabled and self.config.completion.warm and not services.pause.look()
        if services.works_ahead and self.workspace.is_trusted and is_wanted:
            # not now: the present message comes first, and there may be much to import
            asyncio.get_running_loop().call_soon(self._warm, uri)

    def _warm(self, uri: str) -> None:
        if opened := self.documents.find(uri):
            snapshot = self.snapshot(uri)
            offset = min(opened.cursor or 0, len(opened.text.data))
            # the user's own request will report what is wrong with the settings
            with suppress(HarnessError):
                cursor = self._cursor(snapshot, self.tree(snapshot), offset)
                self.services.ready_completer().warm(opened, cursor, is_visited=opened.cursor is not None)

    def _cursor(self, snapshot: Snapshot, tree: "SyntaxTree | None", offset: int) -> Cursor:
        return Cursor(snapshot.document, tree, offset, snapshot.path, self.workspace.may_persist(snapshot))

    def record(self, uri: str, id: str, outcome: Outcome) -> None:
        """Record what the user did with a suggestion or a proposal. An accepted edit is verified from now on.

        Args:
            uri: The document.
            id: The id of the suggestion or the proposal.
            outcome: What the user did. To record it twice has no effect.
        """
        opened = self.documents.find(uri)
        if opened is None:
            return
        if outcome == "applied":
            proposals = opened.find_part(DocumentProposals)
            if sent := proposals.take(id) if proposals else None:
                self.services.accepted_edits.start(opened, self.workspace.snapshot(sent.base))
            return
        services = self.services
        displayed = services.completer.state(opened).find(id) if services.completer else None
        if outcome == "dismissed":
            if services.completer:
                services.completer.reject(opened, id)
            services.statistics.dismiss(opened, id)
            services.report_state()
            return
        services.statistics.accept(opened, id)
        services.report_state()
        if displayed:
            services.accepted_edits.start(opened, self.workspace.snapshot(displayed.document))
            start, new = displayed.suggestion.start, encode(displayed.suggestion.text)
            if opened.text.data[start:].startswith(new):
                self.warm(uri, start + len(new))

    def pause(self, scope: Scope, *, on: bool) -> Scope | Literal[False]:
        """Switch automatic suggestions off or on again, and return what holds now."""
        self.services.pause.set(scope, on=on)
        if on:
            self.services.stop_background()
        return self.services.pause.look() or False

    # -- edits
    def refusal(self, snapshot: Snapshot, *, model: bool = True) -> HarnessError | None:
        """Return the error that says why this text is not edited, or None.

        Args:
            snapshot: The text.
            model: Whether a model is needed. A private file can still get an edit that needs none.
        """
        if not self.workspace.is_trusted:
            return UsageError("this workspace is not trusted, so there are only completions; trust it in the editor")
        if snapshot.document.is_binary:
            return BinaryDocument(f"{snapshot.path} is a binary file, not a text file")
        if reason := self.documents.syntax_of(snapshot.document).missing_reason:
            return NoAnswer(f"{snapshot.path} has no syntax tree to check an edit with: {reason}")
        reason = self.workspace.private_reason(snapshot) if model else ""
        return NoAnswer(f"{snapshot.path} is {reason}") if reason else None

    def check(self, snapshot: Snapshot, *, model: bool = True) -> None:
        """Check that a text may be edited.

        Raises:
            UsageError: The workspace is not trusted.
            NotText: The file is binary.
            NoAnswer: The text has no tree, or no model may see it.
        """
        if error := self.refusal(snapshot, model=model):
            raise error

    def job(self, snapshot: Snapshot, report: Report, output: "Digest | None" = None) -> "TurnContext":
        """Begin the next turn of the session.

        Args:
            snapshot: A text that was checked.
            report: Receives the progress.
            output: The output of a tool that the turn is about.
        """
        from lsp_harness.coding.turn_context import TurnContext
        from lsp_harness.context.context_inputs import WorkspaceScope

        services, workspace = self.services, self.workspace
        turn = services.session_log.turn(is_saved=not workspace.private_reason(snapshot))
        failing = output.failing_tests if output else frozenset[str]()
        searchable = WorkspaceScope(services.index_query, failing, services.find_similar)
        summary = services.session_log.summary
        return TurnContext(
            *(services.engine, self.config, services.ruff, turn, snapshot.document, snapshot.tool_path),
            *(snapshot.root, snapshot.path, report, searchable, workspace.may_persist(snapshot)),
            installed=services.installed,
            output=output,
            session_lines=tuple(summary.lines_for(snapshot.path, workspace.private_files.is_private)),
        )

    async def offers(self, snapshot: Snapshot, findings: Sequence[Finding]) -> list[FixOffer]:
        """Return at once what could be done about these findings."""
        if self.refusal(snapshot, model=False):
            return []
        services = self.services
        tree = self.tree(snapshot) if self.config.generation.repairs else None
        previews = diagnosis.Previews(snapshot, tree, services.index_query, services.installed) if tree else None
        return await diagnosis.offers(snapshot, findings, services.ruff, previews, model=not self.refusal(snapshot))

    async def fix(
        self, snapshot: Snapshot, offer: FixOffer, report: Report, output: "Digest | None" = None
    ) -> Proposal:
        """Compute and verify a fix.

        Raises:
            NoAnswer: No candidate passed its checks.
            Stale: The document changed meanwhile.
            EngineError: The engine failed.
            NotText: The file is binary.
            UsageError: The workspace is not trusted.
        """
        from lsp_harness.coding.fix import Fix

        await self.parsed(snapshot)
        self.check(snapshot, model=offer.source == "model")
        given = await diagnosis.given(snapshot, offer, self.services.ruff)
        job = self.job(snapshot, report, output)
        try:
            proposal = await Fix(job, offer.finding, not self.refusal(snapshot)).run(given)
            return send(self.documents.find(snapshot.document.uri), job, proposal)
        finally:
            self.services.embed()

    # -- settings, files and state
    def configure(self, config: Config) -> None:
        """Use other settings from the next request on."""
        self.services.configure(config)
        if self.services.indexes_if_any:
            self.index()
        self.services.report_state()

    def index(self) -> None:
        """Index the workspace folders from now on. Nothing is read of a workspace that is not trusted."""
        is_wanted = self.services.works_ahead and self.workspace.is_trusted and self.config.index.enabled
        self.services.indexes.keep(self.workspace.roots if is_wanted else (), follow=self.config.index.update_on_save)

    def saved(self, uri: str) -> None:
        """Record that a file on disk may have changed."""
        if (indexes := self.services.indexes_if_any) and (file := local_path(uri)):
            indexes.changed(file)

    def findings(self, text: Document) -> PublishedFindings:
        """Return the findings about accepted edits in this version of a document."""
        edits = self.services.accepted_edits_if_any
        return edits.findings(self.documents.find(text.uri), text) if edits else PublishedFindings(text.version)

    def verdict_name(self, proposal: Proposal) -> str:
        """Return the name of the document that lists the checks of a proposal."""
        from lsp_harness.harness import verdict_document

        return verdict_document.document_name(self.services.session_log, proposal.turn)

    def verdict(self, name: str) -> str:
        """Return the document that lists what was tried and checked, in Markdown.

        Raises:
            UsageError: There is no such document.
        """
        from lsp_harness.harness import verdict_document

        return verdict_document.render_document(name, self.services.session_log_if_any)

    def state(self) -> dict[str, Any]:
        """Return the state as far as it is known without asking any process."""
        services = self.services
        engine = services.engines.state()
        # the settings do not say which model a remote server has loaded
        remote_model = engine["model"] if self.config.engine.url else None
        return {
            **engine,
            "model": self.config.engine.model or remote_model or self.config.model.path,
            "paused": services.pause.seen or False,
            "trusted": self.workspace.is_trusted,
            "index": services.indexes.state() if services.indexes_if_any else "off",
            "last": (services.completer.last_figures if services.completer else None) or None,
            "unparsed": self.documents.list_without_tree(),
            "statistics": asdict(services.statistics.counts),
        }

    async def status(self) -> dict[str, Any]:
        """Return the state of the engine, the last completion, the log, and the documents without a syntax tree."""
        services = self.services
        log = services.session_log_if_any
        return {
            "engine": await services.engines.described(),
            "completion": services.completer.last_figures if services.completer else None,
            "log": str(log.path) if log else None,
            "unparsed": self.documents.list_without_tree(),
        }

    async def aclose(self) -> None:
        """Stop all background work and close the engine.

        Raises:
            EngineError: The engine did not end as it should.
        """
        await self.services.aclose()
