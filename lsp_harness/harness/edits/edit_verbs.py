"""Work on code that the user asks for: edit it by an instruction, describe it, test it, explain it.

Each is a turn of the session. A change of a text ends as a proposal with a verdict, as a fix does.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from lsp_harness.coding.module_tests import find_test_file, open_or_begin
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.harness.edits import diagnosis
from lsp_harness.harness.edits.proposals import DocumentEdit, register
from lsp_harness.harness.edits.turns import Turns, TurnWork
from lsp_harness.harness.services import Services
from lsp_harness.kernel.results import Proposal, Report
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.coding.comment_request import CommentRequest
    from lsp_harness.coding.edit_task import EditTask
    from lsp_harness.coding.turn.turn_context import TurnContext
    from lsp_harness.config.action_schema import ActionSetting
    from lsp_harness.syntax.scope import Scope
    from lsp_harness.syntax.tree import SyntaxTree

EditVerb = Literal["instruct", "docstring", "tests", "explain"]


class EditVerbs:
    """The edits that the user of one client asks for.

    All verbs raise UsageError if the workspace is not trusted, BinaryDocument for a binary file, NoAnswer if the model
    has no answer that passes its checks, StaleDocument if the document changed meanwhile, and EngineError if the engine
    failed.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
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
        function = scope.function_at(tree, span.start) if tree else None
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
            raise UsageError("the instruction is empty; describe in a few words what to change")
        await self._turns.prepare(snapshot)
        output = await diagnosis.read_output(snapshot, printed) if printed else None
        work = TurnWork("edit", instruction.strip(), snapshot, report, output)
        return await self._edit(work, lambda context: Instruct(context, span, work.text))

    async def docstring(self, snapshot: Snapshot, span: Span, report: Report) -> DocumentEdit:
        """Write the docstring of the function at a place."""
        from lsp_harness.coding.docstring import WriteDocstring

        await self._turns.prepare(snapshot)
        work = TurnWork("docstring", "a docstring", snapshot, report)
        return await self._edit(work, lambda context: WriteDocstring(context, span))

    async def tests(self, snapshot: Snapshot, span: Span, report: Report) -> DocumentEdit:
        """Write tests of the function at a place, into the test file of its module or into a new one."""
        from lsp_harness.coding.write_tests import WriteTests, find_target_function

        await self._turns.prepare(snapshot)
        tree = self._services.documents.tree(snapshot.document)
        function = find_target_function(tree, span.start, snapshot.path) if tree else None
        if function is None or snapshot.root is None or snapshot.file is None:
            raise NoAnswer(
                "there is no function here that a test could import; so far, tests are written for Python only"
            )
        index = self._services.index.query
        file = await find_test_file(index, snapshot.root, snapshot.file, function.name)
        document, is_new = open_or_begin(self._services.documents, file)
        test_snapshot = self._services.workspace.snapshot(document)
        self._turns.require_editable(test_snapshot)
        work = TurnWork("tests", f"tests for {function.name}", test_snapshot, report)
        return await self._edit(work, lambda context: WriteTests(context, function), is_new=is_new)

    async def explain(self, snapshot: Snapshot, span: Span, report: Report) -> str:
        """Return an explanation of lines, as Markdown."""
        self._turns.require_editable(snapshot)
        return await self._explain(TurnWork("explain", "what this does", snapshot, report), span, has_question=False)

    # -- edits of the project, and of comments
    def actions(self, snapshot: Snapshot) -> "list[ActionSetting]":
        """Return the edits that the settings define for a text of this language."""
        if not self._services.config.actions.custom or self._turns.refusal(snapshot):
            return []
        from lsp_harness.coding.project_actions import fits_language, read_actions

        tree, (actions, _) = self._services.documents.tree(snapshot.document), read_actions(self._services.config)
        language = tree.language.id if tree else ""
        return [action for action in actions.values() if fits_language(action, language)]

    async def run_action(self, snapshot: Snapshot, span: Span, name: str, report: Report) -> DocumentEdit:
        """Edit lines by an action of the settings. Raise UsageError if there is no such action for this text."""
        from lsp_harness.coding import project_actions
        from lsp_harness.coding.instruct import Instruct

        action = project_actions.find_action(self._services.config, name)
        await self._turns.prepare(snapshot)
        if action.name not in {offered.name for offered in self.actions(snapshot)}:
            raise UsageError(f"the action {name!r} is for {', '.join(action.languages)}, and {snapshot.path} is not")
        values = await self._describe_place(snapshot, span)
        instruction = project_actions.format_prompt(action, values)

        def create_task(context: "TurnContext") -> "EditTask":
            config = project_actions.adapt_settings(action, context.config)
            return Instruct(replace(context, config=config), span, instruction)

        work = TurnWork("edit", instruction, snapshot, report)
        return await self._edit(work, create_task, require=partial(project_actions.require_checks, action))

    def comment_request(self, snapshot: Snapshot, span: Span | None = None) -> "CommentRequest | None":
        """Return the comment that asks for something on the lines of a span, or the first edit that one asks for."""
        tree = None if self._turns.refusal(snapshot) else self._services.documents.tree(snapshot.document)
        if tree is None:
            return None
        from lsp_harness.coding.comment_request import find_comment_requests

        requests, line_of = find_comment_requests(tree), snapshot.document.line_of
        if span is None:
            return next((request for request in requests if not request.is_question), None)
        lines = range(line_of(span.start), line_of(span.end) + 1)
        return next(
            (r for r in requests if line_of(r.span.start) <= lines[-1] and line_of(r.span.end) >= lines[0]), None
        )

    async def follow_comment(self, snapshot: Snapshot, span: Span, report: Report) -> DocumentEdit:
        """Do what the comment with `ai!` at a place says, and remove the comment."""
        from lsp_harness.coding.comment_request import find_target
        from lsp_harness.coding.instruct import Instruct

        tree, request = await self._require_request(snapshot, span, is_question=False)
        target = find_target(tree, request)
        work = TurnWork("edit", request.text, snapshot, report)
        return await self._edit(work, lambda context: Instruct(context, target, request.text, request.comments))

    async def answer_comment(self, snapshot: Snapshot, span: Span, report: Report) -> str:
        """Return the answer to the comment with `ai?` at a place, as Markdown."""
        from lsp_harness.coding.comment_request import find_target

        tree, request = await self._require_request(snapshot, span, is_question=True)
        return await self._explain(TurnWork("explain", request.text, snapshot, report), find_target(tree, request))

    async def _require_request(
        self, snapshot: Snapshot, span: Span, *, is_question: bool
    ) -> "tuple[SyntaxTree, CommentRequest]":
        await self._turns.prepare(snapshot)
        tree, request = self._services.documents.tree(snapshot.document), self.comment_request(snapshot, span)
        if tree is None or request is None or request.is_question is not is_question:
            raise UsageError(f"there is no comment with {'ai?' if is_question else 'ai!'} on this line")
        return tree, request

    async def _describe_place(self, snapshot: Snapshot, span: Span) -> dict[str, str]:
        """Return the values of the placeholders in the prompt of an action."""
        from lsp_harness.coding.selection import select_code
        from lsp_harness.syntax import scope

        document, tree = snapshot.document, self._services.documents.tree(snapshot.document)
        code = select_code(document, tree, span) or span
        function = scope.enclosing_function(tree, code.start + 1) if tree else None
        examined = await diagnosis.diagnose(snapshot, tree, replace(self._services.verifier.tools, names=None))
        lines = [
            f"line {document.line_of(finding.start) - document.line_of(code.start) + 1}: {finding.message}"
            for finding in examined.findings
            if code.start <= finding.start < code.end
        ]
        return {
            "selection": decode(document.data[slice(*code)]).strip("\n"),
            "symbol": function.name if function else "",
            "diagnostics": "; ".join(lines) or "none",
            "file": snapshot.path,
            "language": tree.language.id if tree else "",
        }

    async def _explain(self, work: TurnWork, span: Span, *, has_question: bool = True) -> str:
        from lsp_harness.coding.explain import Explain

        try:
            question = work.text if has_question else ""
            return await self._turns.run(work, lambda context: Explain(context, span, question).run())
        finally:
            self._services.index.embed()

    async def _edit(
        self,
        work: TurnWork,
        create_task: "Callable[[TurnContext], EditTask]",
        *,
        is_new: bool = False,
        require: Callable[[Proposal], None] = lambda proposal: None,
    ) -> DocumentEdit:
        """Run a task as a turn.

        Args:
            work: The request and the text.
            create_task: Creates the task.
            is_new: Whether the document has no file yet.
            require: Raises NoAnswer if the checks of the proposal are not enough.
        """
        from lsp_harness.coding.turn_driver import run_edit_task

        async def steps(context: "TurnContext") -> Proposal:
            proposal = await run_edit_task(create_task(context))
            require(proposal)
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
