"""Decides whether a finding from an editor still holds: editors keep diagnostics while the user types."""

import re
from pathlib import Path

from lsp_harness.syntax.names.declared_names import locate_declaration, locate_use
from lsp_harness.syntax.removal.unused_imports import is_partial_import
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.misspelling import is_misspelling
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.checks import RULE_CODE, is_python
from lsp_harness.verify.current_findings import find_syntax_errors
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_identity import is_at_place
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

RUFF_RULES = {
    "reportUndefinedVariable": "F821",
    "name-defined": "F821",
    "E0602": "F821",
    "W0611": "F401",
    "W0612": "F841",
    "reportUnusedImport": "F401",
}
"""Ruff's rules for what other tools for Python report by another rule."""
OTHER_TOOLS = frozenset({"pylint", "mypy", "pyright", "basedpyright", "pylance", "jedi", "bandit"})
"""Tools whose rules look like ruff's rules but differ from them."""
PYLINT_RULE = re.compile(r"[A-Z]\d{4}\Z")
"""The form of pylint's rules. No rule of ruff has one letter and four digits."""
GO_EXPRESSION = re.compile(r"cannot use ([^`'\"…]+?) \((?:untyped|variable|constant|value|type) ")
"""The expression that a message of the Go compiler is about."""
WORD_MIDDLE = re.compile(rb"\w\w")
"""Two bytes of the same word."""


async def find_stale_reason(
    finding: Finding,
    subject: Subject,
    document: Document,
    tree: SyntaxTree | None,
    ruff: Ruff,
    file: Path,
    root: Path | None,
) -> str:
    """Return why a finding no longer holds.

    Args:
        finding: The finding.
        subject: What the finding is about.
        document: The current text.
        tree: The syntax tree of the text, or None if it has none.
        ruff: The linter.
        file: The path of the text, by which ruff chooses its settings.
        root: The workspace folder, or None if the file lies in none.

    Returns:
        The reason, or an empty text if the finding holds or no check can tell.
    """
    line = document.line_of(min(finding.start, len(document.data))) + 1
    if finding.start > len(document.data):
        return f"the text ends before line {line}"
    if subject.is_absent:
        return f"`{subject.quoted[0]}` is not on line {line}"
    if finding.end > finding.start and _cuts_marked_code(finding, subject, document, tree):
        return f"the marked range on line {line} is no longer what the message is about"
    match = GO_EXPRESSION.match(finding.message)
    if match and not _has_expression(finding, encode(match.group(1)), document):
        return f"`{match.group(1)}` is not at this place of line {line}"
    if tree is None:
        return ""
    if subject.kind == "syntax":
        return "" if find_syntax_errors(tree) else "the text has no syntax error"
    if is_python(document, file):
        return await _ask_ruff(finding, subject, document, ruff, file, root)
    if subject.kind == "removal" and subject.name:
        return locate_use(subject.span, subject.name, tree)
    return locate_declaration(subject.span, subject.name, tree) if subject.kind == "name" and subject.name else ""


def _cuts_marked_code(finding: Finding, subject: Subject, document: Document, tree: SyntaxTree | None) -> bool:
    """Return whether the range ends inside an argument or an unnamed import, which tools only mark as a whole."""
    if subject.kind == "argument":
        return WORD_MIDDLE.match(document.data, finding.end - 1) is not None
    if subject.kind == "removal" and not subject.quoted and tree is not None:
        return is_partial_import(tree, Span(finding.start, finding.end))
    return False


def _has_expression(finding: Finding, expression: bytes, document: Document) -> bool:
    """Return whether an expression stands at a finding.

    If the range of the finding has another length than the expression, its whole line is searched.
    """
    if finding.end - finding.start == len(expression):
        return document.data.startswith(expression, finding.start)
    return expression in document.data[slice(*document.line_span(document.line_of(finding.start)))]


async def _ask_ruff(
    finding: Finding, subject: Subject, document: Document, ruff: Ruff, file: Path, root: Path | None
) -> str:
    """Return a sentence that ruff no longer reports a finding. Empty if ruff reports the finding or cannot tell."""
    code = _find_ruff_rule(finding, subject, document)
    if not code or ruff.missing_reason:
        return ""
    place = Span(*subject.span) if subject.name else Span(finding.start, finding.end)
    lines = range(document.line_of(place.start), document.line_of(max(place.start, place.end)) + 1)
    try:
        for isolated in (False, True):
            # settings and comments may silence a rule that another tool, or ruff in the editor, reports
            reports = await ruff.check(document, file, root, select=code, isolated=isolated)
            findings = [report.finding for report in reports]
            if any(is_at_place(other, place) or document.line_of(other.start) in lines for other in findings):
                return ""
    except RuffFailed:
        return ""
    if code == "F821" and b"import *" in document.data:
        return ""
    return f"ruff does not report {code} there"


def _find_ruff_rule(finding: Finding, subject: Subject, document: Document) -> str:
    """Return ruff's rule for a finding, or an empty text if there is none."""
    code = RUFF_RULES.get(finding.code, finding.code)
    is_foreign = PYLINT_RULE.match(code) or finding.source.lower() in OTHER_TOOLS
    if RULE_CODE.match(code) and not (is_foreign and code == finding.code):
        return code
    is_unknown_name = subject.kind == "name" and not _is_member(subject, document) and "not defined" in finding.message
    return "F821" if is_unknown_name else ""


def _is_member(subject: Subject, document: Document) -> bool:
    return document.data[max(0, subject.span.start - 1) : subject.span.start] == b"."


async def find_removal_objection(
    subject: Subject, document: Document, ruff: Ruff, file: Path, root: Path | None
) -> str:
    """Return why an unused binding must not be removed yet: an unknown name may be a misspelling of it.

    Args:
        subject: What the finding about the binding is about.
        document: The text.
        ruff: The linter, which knows the unknown names.
        file: The path of the text, by which ruff chooses its settings.
        root: The workspace folder, or None if the file lies in none.

    Returns:
        The objection, or an empty text if the binding may be removed.
    """
    is_unused_name = subject.kind == "removal" and bool(subject.name)
    if not is_unused_name or not is_python(document, file) or ruff.missing_reason:
        return ""
    try:
        reports = await ruff.check(document, file, root, select="F821")
    except RuffFailed:
        return ""
    for unknown in (report.finding for report in reports):
        name = decode(document.data[unknown.start : unknown.end])
        if is_misspelling(name, subject.name):
            line = document.line_of(unknown.start) + 1
            return f"`{name}` on line {line} is not defined and may mean `{subject.name}`; fix that first"
    return ""
