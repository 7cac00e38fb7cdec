"""The findings that our own checks have about a text as it is."""

from dataclasses import dataclass
from pathlib import Path

from lsp_harness.process.offload import offload
from lsp_harness.syntax.syntax_errors import Fault, find_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree, no_tree_reason
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.lint_check import is_python
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

BREAKING_RULES = ("invalid-syntax", "E9", "F50", "F63", "F70", "F821", "F822", "F823")
"""Prefixes of ruff's rules about code that fails when it runs. The other rules are about style."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings about a text, and which checks looked for them.

    Attributes:
        findings: The findings, those that break the program first.
        checks: The names of the checks that ran: "syntax", "ruff".
        skip_reasons: Why checks that fit the text did not run.
    """

    findings: tuple[Finding, ...]
    checks: tuple[str, ...]
    skip_reasons: tuple[str, ...] = ()


async def examine_text(
    document: Document, tree: SyntaxTree | None, ruff: Ruff, file: Path, root: Path | None
) -> Examination:
    """Ask the parser and, for Python, ruff about a text. Ruff is not asked if the text has syntax errors.

    Args:
        document: The text.
        tree: The syntax tree of the text, or None if it has none.
        ruff: The linter.
        file: The path of the text, by which ruff chooses its settings.
        root: The workspace folder, or None if the file lies in none.
    """
    if tree is None:
        return Examination((), (), (await offload(len(document.data), lambda: no_tree_reason(document, file.name)),))
    errors = await offload(len(document.data), lambda: find_syntax_errors(tree))
    if errors:
        return Examination(
            tuple(Finding(error.start, error.end, error.message, "lsp-harness", "syntax") for error in errors),
            ("syntax",),
        )
    if not is_python(document, file):
        return Examination((), ("syntax",), (f"no linter is known for {tree.language.id}",))
    try:
        reports = await ruff.check(document, file, root)
    except RuffFailed as error:
        return Examination((), ("syntax",), (error.message,))
    findings = sorted(
        (report.finding for report in reports),
        key=lambda finding: (not finding.code.startswith(BREAKING_RULES), finding.start),
    )
    return Examination(tuple(findings), ("syntax", "ruff"))


def find_syntax_errors(tree: SyntaxTree) -> list[Fault]:
    """Return the syntax errors of a text.

    For Python, the compiler decides whether there is one and the parser where it is.
    """
    if not tree.language.compiles_in_process:
        return find_faults(tree)
    fault = find_python_fault(tree.data)
    return (find_faults(tree) or [fault]) if fault else []
