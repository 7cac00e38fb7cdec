"""The findings of our own checks about a text as it is, the ones that break the program first."""

from dataclasses import dataclass
from pathlib import Path

from lsp_harness.process.offload import offload
from lsp_harness.syntax.syntax_errors import Fault, faults, python_fault
from lsp_harness.syntax.tree import SyntaxTree, no_tree_reason
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.lint_check import is_python
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

BREAKING = ("invalid-syntax", "E9", "F50", "F63", "F70", "F821", "F822", "F823")
"""Beginnings of ruff's rules about what fails when it runs; the other rules are about tidiness."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What was looked at, and what was found. `checks`: "syntax", "ruff". `missing`: why a check that fits the text did not look."""

    findings: tuple[Finding, ...]
    checks: tuple[str, ...]
    missing: tuple[str, ...] = ()


async def examine_text(
    document: Document, tree: SyntaxTree | None, ruff: Ruff, file: Path, root: Path | None
) -> Examination:
    """Ask the parser and, for Python, ruff about a text. Of several findings those that break the program come first."""
    if tree is None:
        return Examination((), (), (await offload(len(document.data), lambda: no_tree_reason(document, file.name)),))
    wrong = await offload(len(document.data), lambda: find_syntax_errors(tree))
    broken = tuple(Finding(f.start, f.end, f.message, "lsp-harness", "syntax") for f in wrong)
    if broken:
        return Examination(broken, ("syntax",))
    if not is_python(document, file):
        return Examination((), ("syntax",), (f"no linter is known for {tree.language.id}",))
    try:
        reports = await ruff.check(document, file, root)
    except RuffFailed as error:
        return Examination((), ("syntax",), (error.message,))
    findings = sorted((report.finding for report in reports), key=lambda f: (not f.code.startswith(BREAKING), f.start))
    return Examination(tuple(findings), ("syntax", "ruff"))


def find_syntax_errors(tree: SyntaxTree) -> list[Fault]:
    """The syntax errors of a text. For Python the compiler decides whether there is one, and the parser where it is."""
    if tree.language.id != "python":
        return faults(tree)
    fault = python_fault(tree.data)
    return (faults(tree) or [fault]) if fault else []
