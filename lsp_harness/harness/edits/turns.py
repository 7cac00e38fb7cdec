"""The turns of the session: whether a text may be edited, what the work on it may use, and what came of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from lsp_harness.errors import BinaryDocument, HarnessError, NoAnswer, UsageError
from lsp_harness.harness.services import Services
from lsp_harness.kernel.results import Proposal, Report
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.coding.turn.turn_context import TurnContext
    from lsp_harness.kernel.log.turn import Turn
    from lsp_harness.kernel.projections.summary import Summary
    from lsp_harness.verify.digest.digest_result import Digest

T = TypeVar("T")
UNTRUSTED = "this workspace is not trusted, so there are only completions; trust it in the editor"


@dataclass(frozen=True, slots=True)
class TurnWork:
    """Work on code that a turn does.

    Attributes:
        kind: The kind of the turn: "fix", "edit", "docstring", "tests" or "explain".
        text: The request in words.
        snapshot: A text that may be edited.
        report: Receives the progress.
        output: The output of a tool that the turn is about.
        source: The tool that reported the finding, for a fix.
        place: The code that was found for the request, in words.
    """

    kind: str
    text: str
    snapshot: Snapshot
    report: Report
    output: "Digest | None" = None
    source: str | None = None
    place: str = ""


class Turns:
    """The turns of one session.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def refusal(self, snapshot: Snapshot, *, needs_model: bool = True) -> HarnessError | None:
        """Return the error that says why a text is not edited, or None.

        Args:
            snapshot: The text.
            needs_model: Whether the edit needs a model. A private file can still get an edit that needs none.
        """
        workspace = self._services.workspace
        if not workspace.is_trusted:
            return UsageError(UNTRUSTED)
        if snapshot.document.is_binary:
            return BinaryDocument(f"{snapshot.path} is a binary file, not a text file")
        if reason := self._services.documents.syntax_of(snapshot.document).missing_reason:
            return NoAnswer(f"{snapshot.path} has no syntax tree to check an edit with: {reason}")
        reason = workspace.private_reason(snapshot) if needs_model else ""
        return NoAnswer(f"{snapshot.path} is {reason}") if reason else None

    def require_editable(self, snapshot: Snapshot, *, needs_model: bool = True) -> None:
        """Raise the error that `refusal` returns.

        Raises:
            UsageError: The workspace is not trusted.
            BinaryDocument: The file is binary.
            NoAnswer: The text has no syntax tree, or no model may see it.
        """
        if error := self.refusal(snapshot, needs_model=needs_model):
            raise error

    async def prepare(self, snapshot: Snapshot, *, needs_model: bool = True) -> None:
        """Wait for the syntax tree of a text, then check that the text may be edited.

        Raises:
            RequestSuperseded: The text changed meanwhile.
            UsageError: The workspace is not trusted.
            BinaryDocument: The file is binary.
            NoAnswer: The text has no syntax tree, or no model may see it.
        """
        await self._services.documents.tree_when_ready(snapshot.document)
        if snapshot.root and self._services.workspace.is_trusted:
            # the checks compare with the other files as they are now, whether or not anybody watches them
            await self._services.folders.refresh(snapshot.root)
        self.require_editable(snapshot, needs_model=needs_model)

    async def run(
        self,
        work: "TurnWork",
        steps: "Callable[[TurnContext], Awaitable[T]]",
        describe: "Callable[[T], str]" = lambda result: "",
    ) -> "T":
        """Run work on code as one turn of the session.

        Args:
            work: The request and the text.
            steps: Does the work, and returns its result.
            describe: Returns one line about the result.

        Raises:
            HarnessError: The work failed.
        """
        from lsp_harness.coding.turn.code_driver import CodeDriver
        from lsp_harness.kernel.ingress import Ingress

        snapshot = work.snapshot
        is_saved = not self._services.workspace.private_reason(snapshot)
        ingress = Ingress(work.kind, work.text, snapshot.path, work.source, is_saved=is_saved)
        # the request itself is not a part of the history that its prompt shows
        summary = self._services.session.state.summary
        driver = CodeDriver(lambda turn: steps(self.create_context(work, turn, summary)), describe)
        await self._services.session.submit(ingress, driver)
        return driver.result

    def create_context(self, work: "TurnWork", turn: "Turn", summary: "Summary | None" = None) -> "TurnContext":
        """Return the document and the tools of a turn.

        Args:
            work: The request and the text.
            turn: The turn.
            summary: The history of the session before the turn. The default is that until now.
        """
        from lsp_harness.coding.turn.turn_context import TurnContext
        from lsp_harness.context.context_inputs import WorkspaceScope

        snapshot, output = work.snapshot, work.output
        services, workspace = self._services, self._services.workspace
        summary, verifier = summary or services.session.state.summary, services.verifier
        failing_tests = output.failing_tests if output else frozenset[str]()
        return TurnContext(
            engine=services.engines.current,
            config=services.config,
            tools=verifier.tools,
            turn=turn,
            document=snapshot.document,
            file=snapshot.tool_path,
            root=snapshot.root,
            path=snapshot.path,
            report=work.report,
            workspace=WorkspaceScope(services.index.query, failing_tests, services.index.find_similar),
            may_persist=workspace.may_persist(snapshot),
            installed=services.installed,
            output=output,
            session_lines=tuple(summary.lines_for(snapshot.path, workspace.private_files.is_private)),
            make_checks=verifier.create_checks,
            place=work.place,
            task=work.text,
            learned=services.learned_fixes(snapshot.root),
        )

    async def require_permission(self, proposal: Proposal) -> None:
        """Ask the permission gate whether a proposal may reach its files.

        Raises:
            UsageError: The settings do not allow it.
        """
        await self._services.permission.require(proposal)

    def verdict_name(self, proposal: Proposal) -> str:
        """Return the name of the document that lists the checks of a proposal."""
        from lsp_harness.harness.verification.verdict_document import make_document_name

        return make_document_name(self._services.session.log, proposal.turn)

    def verdict(self, name: str) -> str:
        """Return the document of a turn that lists what was tried and checked, in Markdown.

        Raises:
            UsageError: There is no such document.
        """
        from lsp_harness.harness.verification.verdict_document import render_document

        return render_document(name, self._services.session_log_if_any)
