"""Work on code that the user asks for: edit it by an instruction, describe it, test it, explain it.

Each is a turn of the session. A change of a text ends as a proposal with a verdict, as a fix does.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal

from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.harness.edits import diagnosis
from lsp_harness.harness.edits.module_tests import find_test_file, open_test_file
from lsp_harness.harness.edits.proposals import DocumentEdit, register
from lsp_harness.harness.edits.turns import Turns, TurnWork
from lsp_harness.harness.services import Services
from lsp_harness.session.results import Proposal, Report
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.coding.turn.turn_context import TurnContext
    from lsp_harness.syntax.scope import Scope

EditVerb = Literal["instruct", "docstring", "tests", "explain"]


class EditVerbs:
    """The edits that the user of one client asks for.

    All verbs raise UsageError if the workspace is not trusted, BinaryDocument for a binary file, NoAnswer if the model
    has no answer that passes its checks, StaleDocument if the document changed meanwhile, and EngineError if the engine
    failed.

    Args:
        services: The shared parts.
        turns: Begins a turn for each edit.
    """

    def __init__(self, services: Services, turns: Turns) -> None:
        self._services = services
        self._turns = turns

    def available(self, snapshot: Snapshot, span: Span) -> list[EditVerb]:
        """Return at once the verbs that make sense for a selection.

        Without a selection, all but the first are available on the header of a function.

        Args:
            snapshot: The text.
            span: The selection, or the cursor as an empty span.
        """
        from lsp_harness.coding.docstring import find_docstring_place
        from lsp_harness.coding.write_tests import find_target_function
        from lsp_harness.syntax import scope

        document = snapshot.document
        if self._turns.refusal(snapshot):
            return []
        has_selection = bool(document.data[slice(*span)].strip())
        verbs: list[EditVerb] = ["instruct"] if has_selection else []
        tree = self._services.documents.tree(document)
        function = scope.enclosing_function(tree, span.start) if tree else None
        is_on_header = bool(function and document.line_of(span.start) in _header_lines(document, function))
        if tree and is_on_header:
            if find_docstring_place(tree, span.start):
                verbs.append("docstring")
            if snapshot.root and find_target_function(tree, span.start, snapshot.path):
                verbs.append("tests")
        return [*verbs, "explain"] if has_selection or is_on_header else verbs

    async def instruct(
        self, snapshot: Snapshot, span: Span, instruction: str, report: Report, printed: str = ""
    ) -> DocumentEdit:
        """Edit lines by an instruction.

        Args:
            snapshot: The text.
            span: The lines, in bytes.
            instruction: The instruction in words.
            report: Receives the progress.
            printed: The output of a tool about this text. It may be empty.
        """
        from lsp_harness.coding.instruct import Instruct

        if not instruction.strip():
            raise UsageError("describe in a few words what to change")
        await self._turns.prepare(snapshot)
        output = await diagnosis.read_output(snapshot, printed) if printed else None
        work = TurnWork("edit", instruction.strip(), snapshot, report, output)
        return await self._edit(work, lambda context: Instruct(context, span, work.text).run())

    async def docstring(self, snapshot: Snapshot, span: Span, report: Report) -> DocumentEdit:
        """Write the docstring of the function at a place."""
        from lsp_harness.coding.docstring import WriteDocstring

        await self._turns.prepare(snapshot)
        work = TurnWork("docstring", "a docstring", snapshot, report)
        return await self._edit(work, lambda context: WriteDocstring(context, span).run())

    async def tests(self, snapshot: Snapshot, span: Span, report: Report) -> DocumentEdit:
        """Write tests of the function at a place, into the test file of its module or into a new one."""
        from lsp_harness.coding.write_tests import WriteTests, find_target_function

        await self._turns.prepare(snapshot)
        tree = self._services.documents.tree(snapshot.document)
        function = find_target_function(tree, span.start, snapshot.path) if tree else None
        if function is None or snapshot.root is None or snapshot.file is None:
            raise NoAnswer(
                "There is no function here that a test could import; so far, tests are written for Python only"
            )
        file = find_test_file(snapshot.root, snapshot.file)
        document, is_new = open_test_file(self._services.documents, file)
        test_snapshot = self._services.workspace.snapshot(document)
        self._turns.require_editable(test_snapshot)
        work = TurnWork("tests", f"tests for {function.name}", test_snapshot, report)
        return await self._edit(work, lambda context: WriteTests(context, function).run(), is_new=is_new)

    async def explain(self, snapshot: Snapshot, span: Span, report: Report) -> str:
        """Return an explanation of lines, as Markdown."""
        from lsp_harness.coding.explain import Explain

        self._turns.require_editable(snapshot)
        try:
            work = TurnWork("explain", "what this does", snapshot, report)
            return await self._turns.run(work, lambda context: Explain(context, span).run())
        finally:
            self._services.index.embed()

    async def _edit(
        self, work: TurnWork, run: "Callable[[TurnContext], Awaitable[Proposal]]", *, is_new: bool = False
    ) -> DocumentEdit:
        async def steps(context: "TurnContext") -> Proposal:
            proposal = await run(context)
            return register(self._services.documents.find(context.document.uri), context, proposal)

        try:
            proposal = await self._turns.run(work, steps, lambda proposal: proposal.summary)
            return DocumentEdit(proposal, work.snapshot.document, is_new)
        finally:
            # the engine runs now, even if its answers were not good enough
            self._services.index.embed()


def _header_lines(document: Document, function: "Scope") -> range:
    """Return the lines of a function before its body, together with the line of an opening brace."""
    first, body = document.line_of(function.start), document.line_of(function.body_start)
    has_brace = document.data[function.body_start : function.body_start + 1] == b"{"
    return range(first, max(first, body if has_brace else body - 1) + 1)
