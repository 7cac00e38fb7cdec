"""Problems of a text and their fixes: a safe fix of the linter, a repair without a model, or an edit by the model."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lsp_harness.errors import BinaryDocument, StaleDocument, UsageError
from lsp_harness.kernel.results import FixOffer
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.knowledge.installed_packages import InstalledPackages
    from lsp_harness.knowledge.learned.learned_fixes import LearnedFixes
    from lsp_harness.syntax.tree import SyntaxTree
    from lsp_harness.verify.check import CheckTools
    from lsp_harness.verify.current_findings import Examination
    from lsp_harness.verify.digest.digest_result import Digest
    from lsp_harness.verify.digest.problem import ToolProblem
    from lsp_harness.verify.finding_subject import Subject
    from lsp_harness.verify.project_tools.type_comparison import TypeComparison
    from lsp_harness.verify.ruff_linter import Ruff, RuffReport


# -- findings


async def diagnose(snapshot: Snapshot, tree: "SyntaxTree | None", tools: "CheckTools") -> "Examination":
    """Return what our own checks find in a text, for callers that bring no diagnostics.

    Args:
        snapshot: The text.
        tree: Its syntax tree.
        tools: The programs that look at it.

    Raises:
        BinaryDocument: The file is binary.
    """
    from lsp_harness.verify.current_findings import examine_text

    if snapshot.document.is_binary:
        raise BinaryDocument(f"{snapshot.path} is a binary file, not a text file")
    return await examine_text(snapshot.document, tree, tools.ruff, snapshot.tool_path, snapshot.root, tools.names)


async def examine_by_compiler(
    snapshot: Snapshot, types: "TypeComparison | None", examined: "Examination"
) -> "Examination":
    """Return an examination with the errors that the compiler or type checker of the project finds in a text.

    Args:
        snapshot: The text.
        types: The compilers and type checkers. None if none may run, because the folder is not trusted.
        examined: What our own checks found, which is no error.
    """
    from lsp_harness.verify.change import Change, ChangeSet
    from lsp_harness.verify.project_tools.new_findings import NothingComparedError
    from lsp_harness.verify.project_tools.type_comparison import choose_checker

    if types is None:
        reason = "this folder is not trusted, so no compiler runs"
        return _refuse_compiler(examined, f"{reason}{_advise_pipe(snapshot)}")
    document = snapshot.document
    # everything counts as new in comparison with an empty text
    empty = Document.from_text(document.uri, b"", language=document.language)
    change = Change.from_documents(empty, document, snapshot.tool_path, snapshot.root)
    choice = choose_checker(snapshot.root, snapshot.tool_path, document.language) if snapshot.root else None
    try:
        comparison = await types.compare(ChangeSet.of(change))
    except NothingComparedError as error:
        return _refuse_compiler(examined, f"{error}{_advise_pipe(snapshot)}")
    name = choice.name if choice else "types"
    found = [new.finding for new in comparison.new if new.change is change and not new.is_elsewhere]
    named = (replace(one, source=one.source or name) for one in found if one.severity == "error")
    errors = sorted(named, key=lambda one: one.start)
    return replace(examined, findings=tuple(errors), checks=(*examined.checks, name), skip_reasons=comparison.refusals)


def _refuse_compiler(examined: "Examination", reason: str) -> "Examination":
    # our own check of names asked the same checker
    other_reasons = (other for other in examined.skip_reasons if other.removeprefix("types: ") not in reason)
    return replace(examined, skip_reasons=(*other_reasons, reason))


def _advise_pipe(snapshot: Snapshot) -> str:
    from lsp_harness.syntax.grammars import language_for

    language = language_for(snapshot.document.language, snapshot.document.uri)
    if language is None or not language.compiler_command:
        return ""
    return f". Pipe its output: {language.compiler_command} | lsp-harness fix {snapshot.path} --failing -"


async def read_output(snapshot: Snapshot, printed: str) -> "Digest":
    """Return the part of a tool's output that is about a text.

    Raises:
        UsageError: Nothing in the output is about this text.
    """
    from lsp_harness.verify.digest.digest import digest_output
    from lsp_harness.verify.digest.digest_result import select_file_problems

    root = snapshot.root or snapshot.tool_path.parent
    # in a thread, because the output may be of any size
    digest = await asyncio.to_thread(digest_output, printed, "", str(root))
    output = select_file_problems(digest, snapshot.tool_path, [root])
    if not output.problems:
        raise UsageError(f"{digest.summary}; the output reports nothing in {snapshot.path}")
    return output


def find_reported(snapshot: Snapshot, tree: "SyntaxTree | None", output: "Digest", line: int | None) -> Finding | None:
    """Return the finding that a tool's output reports about a line.

    Args:
        snapshot: The text.
        tree: Its syntax tree.
        output: The output of the tool.
        line: The line, counted from 1. None means the first line that the output reports anything about.

    Returns:
        What the output reports about the line. If it reports nothing there, but tests fail, the failure that fits the
        function around the line best; its `code` is the name of the test.
    """
    document, tool_path = snapshot.document, str(snapshot.tool_path.resolve())
    local_problems = [
        problem
        for problem in output.problems
        if problem.path == tool_path and 0 < problem.line <= len(document.line_starts)
    ]
    for problem in local_problems:
        if line in (None, problem.line):
            return Finding(*_line_span(document, problem.line), problem.feedback, output.tool, problem.code)
    failures = [problem for problem in output.problems if problem.failed_id]
    if not failures or not line:
        return None
    span = _line_span(document, line)
    best = max(failures, key=_function_fit(document, tree, span.start, local_problems))
    return Finding(*span, best.feedback, output.tool, best.title)


def _function_fit(
    document: Document, tree: "SyntaxTree | None", offset: int, local_problems: "Sequence[ToolProblem]"
) -> "Callable[[ToolProblem], tuple[bool, int]]":
    """Return a function that rates how well a failed test fits the function around a byte offset.

    A test fits if its error was raised in the function, or else by the words that their names share.
    """
    from lsp_harness.index.identifier_words import split_words
    from lsp_harness.syntax.scope import enclosing_function

    function = enclosing_function(tree, offset) if tree else None
    if function is None:
        return lambda problem: (False, 0)
    lines = range(document.line_of(function.start) + 1, document.line_of(function.end) + 2)
    function_words = set(split_words(function.name).lower().split())

    def rate(problem: "ToolProblem") -> tuple[bool, int]:
        test_words = split_words(problem.title).lower().split()
        return problem in local_problems and problem.line in lines, len(function_words.intersection(test_words))

    return rate


def _line_span(document: Document, line: int) -> Span:
    """Return the bytes of a line, counted from 1, without its indentation."""
    start, end = document.line_span(line - 1)
    text = document.data[start:end]
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


# -- offers
@dataclass(frozen=True, slots=True)
class RepairPreviews:
    """Previews of the repairs without a model for one text.

    Attributes:
        snapshot: The text.
        tree: Its syntax tree.
        index: The code of other files.
        installed: The installed packages.
        learned: The fixes that were accepted in the project.
    """

    snapshot: Snapshot
    tree: "SyntaxTree"
    index: "IndexQuery | None" = None
    installed: "InstalledPackages | None" = None
    learned: "LearnedFixes | None" = None

    async def describe(self, finding: Finding, subject: "Subject") -> str:
        """Return the repair of a finding in a few words. Empty if no repair is evident."""
        from lsp_harness.coding.repair.repair import RepairRequest
        from lsp_harness.coding.repair_preview import preview_repair
        from lsp_harness.verify.change import Change

        snapshot = self.snapshot
        request = RepairRequest(
            *(finding, subject, self.tree, snapshot.path, self.index, self.installed),
            *(snapshot.root, snapshot.file, self.learned),
        )

        def create_change(edits: tuple[Edit, ...]) -> Change:
            return Change.from_edits(snapshot.document, edits, snapshot.tool_path, snapshot.root, "repair")

        return await preview_repair(request, create_change)


async def create_offers(
    snapshot: Snapshot,
    findings: Sequence[Finding],
    linter: "Ruff",
    previews: RepairPreviews | None,
    *,
    allows_model: bool,
) -> list[FixOffer]:
    """Return the fixes that could be computed for findings. A safe fix of the linter comes first.

    A finding about a name that is no longer at its place has no offer, because the text has changed since.

    Args:
        snapshot: The text.
        findings: The findings to fix.
        linter: The linter.
        previews: Previews of repairs without a model. None offers no such repairs.
        allows_model: Whether a fix by the model may be offered.
    """
    from lsp_harness.verify.finding_subject import find_subject

    offers: list[FixOffer] = []
    for finding in findings:
        subject = find_subject(finding, snapshot.document, previews.tree if previews else None)
        if subject.is_absent:
            continue
        if (linter_fix := await _linter_fix(snapshot, finding, linter)) and linter_fix.is_safe:
            offers.append(FixOffer(f"Fix with ruff (safe fix): {linter_fix.fix_title}", "linter", finding))
        if previews and (repair := await previews.describe(finding, subject)):
            offers.append(FixOffer(f"Fix with lsp-harness: {repair}", "repair", finding))
        elif allows_model:
            # the message may have more paragraphs, and a title has one line
            message = finding.message.partition("\n")[0]
            offers.append(FixOffer(f"Fix with lsp-harness: {message}", "model", finding))
    return offers


async def list_linter_edits(snapshot: Snapshot, offer: FixOffer, linter: "Ruff") -> tuple[Edit, ...]:
    """Return the edits of an offer of the linter. For other offers there are none yet.

    Raises:
        StaleDocument: The linter no longer offers this fix.
    """
    if offer.source != "linter":
        return ()
    fix = await _linter_fix(snapshot, offer.finding, linter)
    if fix is None or not fix.is_safe:
        raise StaleDocument("the linter no longer offers this fix")
    return fix.fix


async def _linter_fix(snapshot: Snapshot, finding: Finding, linter: "Ruff") -> "RuffReport | None":
    """Return the linter's fix for exactly this finding, or None."""
    from lsp_harness.coding.repair.linter_fixes import find_fix

    return await find_fix(finding, snapshot.document, linter, snapshot.tool_path, snapshot.root)
