"""Whether a finding that a client sends still holds on the text as it is: editors keep diagnostics while their user types on."""

import re
from pathlib import Path

from lsp_harness.syntax.names.declared_names import declared_for, used_after_all
from lsp_harness.syntax.removal.unused_imports import cut_import
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.misspelling import misspelt
from lsp_harness.text.position import Span, decode, encode
from lsp_harness.verify.current_findings import find_syntax_errors
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_identity import is_at_place
from lsp_harness.verify.finding_subject import Subject
from lsp_harness.verify.lint_check import is_python
from lsp_harness.verify.resolved_check import RULE_CODE
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed

ALIASES = {
    "reportUndefinedVariable": "F821",
    "name-defined": "F821",
    "E0602": "F821",
    "W0611": "F401",
    "W0612": "F841",
    "reportUnusedImport": "F401",
}
"""Rules of other tools for Python that report the same as one of ruff's."""


OTHER_TOOLS = frozenset({"pylint", "mypy", "pyright", "basedpyright", "pylance", "jedi", "bandit"})
"""Tools whose rules look like ruff's and are others."""
OF_PYLINT = re.compile(r"[A-Z]\d{4}\Z")
"""A rule of pylint; no rule of ruff has one letter and four digits."""


SHOWN = re.compile(r"cannot use ([^`'\"…]+?) \((?:untyped|variable|constant|value|type) ")
"""The expression that the Go compiler says stands at the place."""
WORD = re.compile(rb"\w\w")
"""The middle of a word."""


async def find_stale_reason(
    finding: Finding,
    subject: Subject,
    document: Document,
    tree: SyntaxTree | None,
    ruff: Ruff,
    file: Path,
    root: Path | None,
) -> str:
    """Why a finding no longer holds; empty where it does, or where nobody here can tell."""
    line = document.line_of(min(finding.start, len(document.data))) + 1
    if finding.start > len(document.data):
        return f"the text ends before line {line}"
    if subject.absent:
        return f"`{subject.quoted[0]}` is not on line {line}"
    if finding.end > finding.start and _cut(finding, subject, document, tree):
        return f"the marked range on line {line} is no longer what the message is about"
    if (said := SHOWN.match(finding.message)) and not _stands(finding, encode(said.group(1)), document):
        return f"`{said.group(1)}` is not at this place of line {line}"
    if tree is None:
        return ""
    if subject.kind == "syntax":
        return "" if find_syntax_errors(tree) else "the text has no syntax error"
    if is_python(document, file):
        return await _linted_away(finding, subject, document, ruff, file, root)
    if subject.kind == "removal" and subject.name:
        return used_after_all(subject.span, subject.name, tree)
    return declared_for(subject.span, subject.name, tree) if subject.kind == "name" and subject.name else ""


def _cut(finding: Finding, subject: Subject, document: Document, tree: SyntaxTree | None) -> bool:
    """Whether a range cuts what its tool marks as a whole: an argument, or an import that the message does not name."""
    if subject.kind == "argument":
        return WORD.match(document.data, finding.end - 1) is not None
    if subject.kind == "removal" and not subject.quoted and tree is not None:
        return cut_import(tree, Span(finding.start, finding.end))
    return False


def _stands(finding: Finding, expression: bytes, document: Document) -> bool:
    """Whether an expression is what a finding marks, or on its line if the tool marks something else."""
    if finding.end - finding.start == len(expression):
        return document.data.startswith(expression, finding.start)
    return expression in document.data[slice(*document.line_span(document.line_of(finding.start)))]


async def _linted_away(
    finding: Finding, subject: Subject, document: Document, ruff: Ruff, file: Path, root: Path | None
) -> str:
    """Ask ruff, where the finding is one of a rule that ruff has."""
    code = ALIASES.get(finding.code, finding.code)
    of_another = OF_PYLINT.match(code) or finding.source.lower() in OTHER_TOOLS
    if not RULE_CODE.match(code) or (of_another and code == finding.code):
        code = (
            "F821"
            if subject.kind == "name" and not _member(subject, document) and "not defined" in finding.message
            else ""
        )
    if not code or ruff.missing:
        return ""
    place = Span(*subject.span) if subject.name else Span(finding.start, finding.end)
    lines = range(document.line_of(place.start), document.line_of(max(place.start, place.end)) + 1)
    try:
        for isolated in (False, True):
            # settings and comments may silence a rule that another tool, or ruff in the editor, does report
            reports = await ruff.check(document, file, root, select=code, isolated=isolated)
            found = [report.finding for report in reports]
            if any(is_at_place(one, place) or document.line_of(one.start) in lines for one in found):
                return ""
    except RuffFailed:
        return ""
    if code == "F821" and b"import *" in document.data:
        return ""
    return f"ruff does not report {code} there"


def _member(subject: Subject, document: Document) -> bool:
    return document.data[max(0, subject.span.start - 1) : subject.span.start] == b"."


async def find_removal_objection(
    subject: Subject, document: Document, ruff: Ruff, file: Path, root: Path | None
) -> str:
    """Why an unused binding must not be removed yet: an unknown name may be a misspelling of it. Empty where it may be."""
    if subject.kind != "removal" or not subject.name or not is_python(document, file) or ruff.missing:
        return ""
    try:
        reports = await ruff.check(document, file, root, select="F821")
    except RuffFailed:
        return ""
    for unknown in (report.finding for report in reports):
        written = decode(document.data[unknown.start : unknown.end])
        if misspelt(written, subject.name):
            line = document.line_of(unknown.start) + 1
            return f"`{written}` on line {line} is not defined and may mean `{subject.name}`; fix that first"
    return ""
