"""The findings that our own checks have about a text as it is."""

from dataclasses import dataclass
from pathlib import Path

from lsp_harness.process.offload import offload
from lsp_harness.syntax.syntax_errors import Fault, find_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree, no_tree_reason
from lsp_harness.text.document import Document
from lsp_harness.verify.checks import is_python
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_identity import UNKNOWN_NAME
from lsp_harness.verify.finding_rules import select_counting, sort_by_gravity
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.new_findings import NothingComparedError
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings about a text, and which checks looked for them.

    Attributes:
        findings: The findings, those that break the program first.
        checks: The names of the checks that ran: "syntax", "ruff", "types".
        skip_reasons: Why checks that fit the text did not run.
    """

    findings: tuple[Finding, ...]
    checks: tuple[str, ...]
    skip_reasons: tuple[str, ...] = ()

    def describe_checks(self) -> str:
        """Return which checks ran, and why others did not: "syntax and ruff checked; not checked: types: …"."""
        parts = [f"{' and '.join(self.checks)} checked"] if self.checks else []
        parts += [f"not checked: {'; '.join(self.skip_reasons)}"] if self.skip_reasons else []
        return "; ".join(parts)


async def examine_text(
    document: Document,
    tree: SyntaxTree | None,
    ruff: Ruff,
    file: Path,
    root: Path | None,
    names: NameErrors | None = None,
) -> Examination:
    """Ask the parser, the type checker and, for Python, ruff about a text.

    If the text has syntax errors, nothing else is asked. Findings of ruff about style count only where a project has
    settings of ruff.

    Args:
        document: The text.
        tree: The syntax tree of the text, or None if it has none.
        ruff: The linter.
        file: The path of the text, by which ruff chooses its settings.
        root: The workspace folder, or None if the file lies in none.
        names: Finds errors about names, attributes, arguments and imports. None if types are not looked at.
    """
    if tree is None:
        return Examination((), (), (await offload(len(document.data), lambda: no_tree_reason(document, file.name)),))
    errors = await offload(len(document.data), lambda: find_syntax_errors(tree))
    if errors:
        return Examination(
            tuple(Finding(error.start, error.end, error.message, "lsp-harness", "syntax") for error in errors),
            ("syntax",),
        )
    findings: list[Finding] = []
    checks, reasons = ["syntax"], list[str]()
    if not is_python(document, file):
        reasons.append(f"no linter is known for {tree.language.id}")
    else:
        try:
            reports = await ruff.check(document, file, root)
            findings += select_counting((report.finding for report in reports), file)
            checks.append("ruff")
        except RuffFailed as error:
            reasons.append(error.message)
    if names is not None:
        try:
            found = await names.find(document, file, root)
            places = {(finding.start, finding.end) for finding in findings if finding.code == UNKNOWN_NAME}
            # one unknown name is one finding, whoever reports it
            findings += [finding for finding in found if (finding.start, finding.end) not in places]
            checks.append("types")
        except NothingComparedError as error:
            if tree.language.type_checker:
                reasons.append(f"types: {error}")
    return Examination(tuple(sort_by_gravity(findings)), tuple(checks), tuple(reasons))


def find_syntax_errors(tree: SyntaxTree) -> list[Fault]:
    """Return the syntax errors of a text.

    For Python, the compiler decides whether there is one and the parser where it is.
    """
    if not tree.language.compiles_in_process:
        return find_faults(tree)
    fault = find_python_fault(tree.data)
    return (find_faults(tree) or [fault]) if fault else []
