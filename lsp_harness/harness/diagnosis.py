"""What there is to fix in a text, and who offers to: the linter with a safe fix of its own, or the model."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsp_harness.errors import BinaryDocument, StaleDocument, UsageError
from lsp_harness.session.results import FixOffer
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.knowledge.installed_packages import InstalledPackages
    from lsp_harness.syntax.tree import SyntaxTree
    from lsp_harness.verify.current_findings import Examination
    from lsp_harness.verify.digest.digest_result import Digest
    from lsp_harness.verify.digest.problem import Problem
    from lsp_harness.verify.finding_subject import Subject
    from lsp_harness.verify.ruff_linter import Report, Ruff


async def diagnose(snapshot: Snapshot, tree: "SyntaxTree | None", ruff: "Ruff") -> "Examination":
    """Ask our own checks about a text as it is, for callers that bring no diagnostics. Raises BinaryDocument."""
    from lsp_harness.verify.current_findings import examine_text

    if snapshot.document.is_binary:
        raise BinaryDocument(f"{snapshot.path} is a binary file, not a text file")
    return await examine_text(snapshot.document, tree, ruff, snapshot.tool_path, snapshot.root)


async def printed(snapshot: Snapshot, text: str) -> "Digest":
    """What a tool has printed, as far as it is about a text. Raises UsageError where nothing in it is."""
    from lsp_harness.verify.digest.digest import digest_output
    from lsp_harness.verify.digest.file_problems import select_file_problems

    root = snapshot.root or snapshot.tool_path.parent
    # nobody says how much it is
    whole = await asyncio.to_thread(digest_output, text, "", str(root))
    output = select_file_problems(whole, snapshot.tool_path, [root])
    if not output.problems:
        raise UsageError(f"{whole.summary}; it reports nothing in {snapshot.path}")
    return output


def of_output(snapshot: Snapshot, tree: "SyntaxTree | None", output: "Digest", line: int | None) -> Finding | None:
    """What a tool's output says of a line of a text, counted from 1, or first of any; of a line that is named and of which it says
    nothing, what a test of its function fails by, else the first test: its `code` is the test's name then."""
    document, wanted = snapshot.document, str(snapshot.tool_path.resolve())
    here = [one for one in output.problems if one.path == wanted and 0 < one.line <= len(document.line_starts)]
    if one := next((one for one in here if line in (None, one.line)), None):
        return Finding(*_text(document, one.line), _said(one), output.tool, one.code)
    failed = [one for one in output.problems if one.test]
    if not failed or not line:
        return None
    place = _text(document, line)
    one = max(failed, key=_about(document, tree, place[0], here))
    return Finding(*place, _said(one), output.tool, one.title)


def _about(
    document: Document, tree: "SyntaxTree | None", at: int, here: "Sequence[Problem]"
) -> "Callable[[Problem], tuple[bool, int]]":
    """How sure it is that what a test fails by is about the function around an offset: it was raised in there, or has its name."""
    from lsp_harness.index.identifier_words import split_words
    from lsp_harness.syntax.scope import enclosing_function

    function = enclosing_function(tree, at) if tree else None
    if function is None:
        return lambda one: (False, 0)
    lines = range(document.line_of(function.start) + 1, document.line_of(function.end) + 2)
    wanted = set(split_words(function.name).lower().split())
    return lambda one: (one in here and one.line in lines, len(wanted & set(split_words(one.title).lower().split())))


def _said(one: "Problem") -> str:
    return f"TEST FAIL: {one.title} — {one.message}" if one.test else one.message


def _text(document: Document, line: int) -> tuple[int, int]:
    """A line without its indentation."""
    start, end = document.line_span(line - 1)
    text = document.data[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


@dataclass(frozen=True, slots=True)
class Previews:
    """Says what a repair without a model would do to one text."""

    snapshot: Snapshot
    tree: "SyntaxTree"
    known: "IndexQuery | None" = None
    installed: "InstalledPackages | None" = None

    async def of(self, finding: Finding, subject: "Subject") -> str:
        """The repair in a few words; empty where none is evident."""
        from lsp_harness.coding.repair.repair_request import RepairRequest
        from lsp_harness.coding.repair_preview import preview_repair
        from lsp_harness.verify.change import Change

        snapshot = self.snapshot
        request = RepairRequest(
            *(finding, subject, self.tree, snapshot.path, self.known, self.installed),
            *(snapshot.root, snapshot.file),
        )

        def change_of(edits: tuple[Edit, ...]) -> Change:
            return Change.from_edits(snapshot.document, edits, snapshot.tool_path, snapshot.root, "repair")

        return await preview_repair(request, change_of)


async def offers(
    snapshot: Snapshot, findings: Sequence[Finding], ruff: "Ruff", previews: "Previews | None", *, model: bool
) -> list[FixOffer]:
    """What could be done about these findings; a linter's own safe fix comes first, the `model` may be left out.

    A finding about a name that is no longer where the finding says is left out: the text has changed since.
    """
    from lsp_harness.verify.finding_subject import find_subject

    found: list[FixOffer] = []
    for finding in findings:
        subject = find_subject(finding, snapshot.document, previews.tree if previews else None)
        if subject.is_absent:
            continue
        if (own := await _own_fix(snapshot, finding, ruff)) and own.is_safe:
            found.append(FixOffer(f"Fix with ruff (safe fix): {own.fix_title}", "linter", finding))
        if previews and (repair := await previews.of(finding, subject)):
            found.append(FixOffer(f"Fix with lsp-harness: {repair}", "repair", finding))
        elif model:
            found.append(FixOffer(f"Fix with lsp-harness: {finding.message}", "model", finding))
    return found


async def given(snapshot: Snapshot, offer: FixOffer, ruff: "Ruff") -> tuple[Edit, ...]:
    """The edits of a linter's offer; none of the model's, which are to be made. Raises StaleDocument."""
    if offer.source != "linter":
        return ()
    own = await _own_fix(snapshot, offer.finding, ruff)
    if own is None or not own.is_safe:
        raise StaleDocument("the linter no longer offers this fix")
    return own.fix


async def _own_fix(snapshot: Snapshot, finding: Finding, ruff: "Ruff") -> "Report | None":
    """ruff's fix for this very finding, if it has one."""
    from lsp_harness.coding.repair.linter_fixes import find_fix

    return await find_fix(finding, snapshot.document, ruff, snapshot.tool_path, snapshot.root)
