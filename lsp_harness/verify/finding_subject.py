"""The subject of a finding: an unknown name, a syntax error, an argument, or unused code.

Each tool has its own words and codes for these. The kind of the subject decides what an edit may change
(`verify.preservation`), which repairs are tried (`coding.repair`), and how to tell whether the finding still holds.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lsp_harness.syntax.syntax_errors import find_faults
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode
from lsp_harness.verify.finding import Finding

_CODE = r"`([^`\n]{1,400})`"
SUGGESTION = re.compile(
    rf"(?:\b(?:use|prefer|try|rewrite as|rewrite using|replace with|should be|did you mean|consider|consider using):?"
    rf"|\breplace {_CODE} (?:with|by)) {_CODE}",
    re.IGNORECASE,
)
REPLACED_CODE = re.compile(rf"\b(?:instead of|over|replace|rather than) {_CODE}", re.IGNORECASE)
ELLIPSES = ("...", "…")
"""Marks of code that a message shortens."""


def find_suggestions(message: str) -> list[str]:
    """Return the pieces of code that a message suggests, in its order, without those that it shortens."""
    found = dict.fromkeys(match.group(2) for match in SUGGESTION.finditer(message))
    return [code for code in found if not any(mark in code for mark in ELLIPSES)]


def find_replaced_code(message: str) -> list[str]:
    """Return the pieces of code that a message wants to be replaced, in its order."""
    return list(dict.fromkeys(match.group(1) for match in REPLACED_CODE.finditer(message)))


SubjectKind = Literal["syntax", "name", "removal", "argument", "test", "rule"]
"""The kinds of subjects.

`syntax`: the text does not parse. `name`: a variable, member, type, module or keyword argument is unknown. `removal`:
code is unused or unreachable. `argument`: a value has the wrong type, or the number of arguments is wrong. `test`: a
test fails. `rule`: any other rule of a linter or compiler.
"""

KIND_BY_RULE: Mapping[str, SubjectKind] = {
    **dict.fromkeys(("syntax", "invalid-syntax", "E999", "E902"), "syntax"),
    **dict.fromkeys(("F821", "F822", "E0602", "name-defined", "attr-defined", "no-undef"), "name"),
    **dict.fromkeys(("reportUndefinedVariable", "reportAttributeAccessIssue", "reportMissingImports"), "name"),
    **dict.fromkeys(("E1101", "E0611", "E0401", "no-member", "no-name-in-module", "import-error"), "name"),
    **dict.fromkeys(("2304", "2305", "2339", "2551", "2552", "2503", "2307", "2353", "2561", "2724"), "name"),
    **dict.fromkeys(("CS0103", "CS0117", "CS0234", "CS0246", "CS1061", "CS1739"), "name"),
    **dict.fromkeys(("E0405", "E0412", "E0422", "E0425", "E0432", "E0433", "E0560", "E0599", "E0609"), "name"),
    **dict.fromkeys(("P1008", "P1009", "P1010", "P1011", "P1012", "P1013", "P1014"), "name"),
    **dict.fromkeys(("UndeclaredName", "MissingFieldOrMethod", "UndeclaredImportedName", "UnexportedName"), "name"),
    **dict.fromkeys(("F401", "F841", "F842", "W0611", "W0612", "no-unused-vars", "unused-imports"), "removal"),
    **dict.fromkeys(("@typescript-eslint/no-unused-vars", "no-unreachable", "W0101", "unused_imports"), "removal"),
    **dict.fromkeys(("unused_variables", "unused_mut", "dead_code", "unreachable_code", "UnusedVar"), "removal"),
    **dict.fromkeys(("UnusedImport", "6133", "6192", "6196", "6198", "6138", "7027"), "removal"),
    **dict.fromkeys(("CS0162", "CS0168", "CS0219", "CS8019", "CS0169", "IDE0005", "IDE0059"), "removal"),
    **dict.fromkeys(
        ("P1003", "Lint/UselessAssignment", "Lint/UnusedMethodArgument", "Lint/UnreachableCode"), "removal"
    ),
    **dict.fromkeys(("reportUnusedImport", "reportUnusedVariable", "reportUnreachable"), "removal"),
    **dict.fromkeys(("reportArgumentType", "reportCallIssue", "2345", "2554", "CS1503", "CS7036", "E0308"), "argument"),
    **dict.fromkeys(("E1120", "E1121", "invalid-argument-type", "missing-argument"), "argument"),
    **dict.fromkeys(("P1006", "E0061", "arg-type", "call-arg", "WrongArgCount"), "argument"),
}
"""The kinds of the rules of common tools."""

UNUSED_CODE_MESSAGE = re.compile(
    r"\bunused\b|\bunreachable\b|never (?:used|read|accessed|constructed|called)|not (?:used|accessed)\b"
    r"|\bdead code\b|unnecessary (?:import|using)|useless assignment|does not need to be mutable",
    re.IGNORECASE,
)
UNKNOWN_NAME_MESSAGE = re.compile(
    r"\bundefined\b|not defined|\bundeclared\b|not declared|(?:cannot|can't|could not) (?:find|be found|resolve"
    r"|be resolved)"
    r"|\bunresolved\b|does not exist|doesn't exist|no attribute|cannot access (?:attribute|member)"
    r"|has no (?:exported )?member"
    r"|no (?:method|field|function|variant|template|type|class|associated \w+|parameter|such \w+|member"
    r"|property)\b.*(?:named|found|exists?)?"
    r"|no (?:parameter|method|field) named|does not contain a definition|unexpected keyword argument|is not a known"
    r"|could not import [`'\"]|\bnot exported by package|does not match any known parameter|uninitialized constant"
    r"|is unknown|\bunknown (?:name|identifier|word|symbol|import|type|field|member)|may only specify known properties",
    re.IGNORECASE | re.DOTALL,
)
ARGUMENT_MESSAGE = re.compile(
    r"\bargument(?:s)? of type|\bexpected type\b.*\bfound\b|arguments to this \w+ are incorrect"
    r"|expected \d+ (?:positional )?arguments?|mismatched types|incompatible types?"
    r"|(?:too (?:few|many)|not enough) (?:positional )?arguments?|no matching (?:member )?(?:function|constructor) for"
    r"|not assignable|cannot be assigned|cannot use .* as |not applicable for the arguments|cannot convert",
    re.IGNORECASE | re.DOTALL,
)
KIND_BY_MESSAGE: tuple[tuple[SubjectKind, re.Pattern[str]], ...] = (
    ("test", re.compile(r"\ATEST FAIL:")),
    ("removal", UNUSED_CODE_MESSAGE),
    ("name", UNKNOWN_NAME_MESSAGE),
    ("argument", ARGUMENT_MESSAGE),
)
"""The kinds of messages, for rules that are not in `KIND_BY_RULE`. The first pattern that matches decides."""

QUOTED_NAME = re.compile(
    r"[`'\"‘“](?:\$|@@?)?(?:(?:[\w$]+(?:\.|::|\\|/))+)?([^\W\d]\w*)(?:<[^<>'\"`]*>|\([^()'\"`]*\))?[`'\"’”]"
)
"""A quoted name in a message: the last part of a path, without type arguments."""
ANNOUNCED_NAME = re.compile(
    r"\b(?:named|keyword argument|no (?:exported )?(?:attribute|member|method|field)|(?<!Object )attribute)"
    r" [`'\"‘“]([^\W\d]\w*)[`'\"’”]",
    re.IGNORECASE,
)
"""The name that a message is about if it also quotes others: "`f` has no parameter named `x`"."""
UNQUOTED_NAME = re.compile(
    r"(?:undefined|undeclared name|declared and not used|unresolved reference"
    r"|unused variable):? \$?(?:[\w.]+\.)?([^\W\d]\w*)\s*(?:\(|\Z)"
    r"|\A([^\W\d]\w*) (?:cannot be resolved|declared (?:and|but) not used|is (?:not defined|undefined))"
    r"|\A(?:\w+\.)+([^\W\d]\w*) undefined|uninitialized constant (?:\w+::)*([^\W\d]\w*)"
    r"|\Athe import (?:[\w.]+\.)?([^\W\d]\w*) (?:is never used|cannot be resolved)"
    r"|unknown field ([^\W\d]\w*) in struct literal"
    r"|\bname ([^\W\d]\w*) not exported by package"
    r"|method ([^\W\d]\w*)\(|\bvalue of the \w+ variable ([^\W\d]\w*) is",
    re.IGNORECASE,
)
"""A name in a message without quotes."""
ATTRIBUTE_SUFFIX = "Attribute"
"""C# writes `[Foo]` for the class `FooAttribute`."""
IDENTIFIER = re.compile(rb"[^\W\d]\w*|[A-Za-z_\x80-\xff][\w\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Subject:
    """The name or range that a finding is about, such as an unknown name or an unused import.

    Attributes:
        kind: The kind of the subject.
        span: The bytes of `name`, or the range of the finding if there is no such name.
        name: The name that the finding is about, as it stands in the text; empty if the text does not have it there.
        quoted: The names in the message, whether the text has them or not.
        reported: The range of the finding.
        message: The message of the finding.
    """

    kind: SubjectKind
    span: Span
    name: str
    quoted: tuple[str, ...]
    reported: Span
    message: str

    @property
    def is_absent(self) -> bool:
        """True if the message names something that the text does not have there, because it has changed since."""
        return self.kind in ("name", "removal") and bool(self.quoted) and not self.name


def find_subject(finding: Finding, document: Document, tree: SyntaxTree | None = None) -> Subject:
    """Return the subject of a finding.

    A name of the message is searched in the range of the finding first, and then on its lines: some tools mark the
    whole line, or the place behind a name.

    Args:
        finding: The finding.
        document: The text of the finding.
        tree: The syntax tree of the text. With it, a finding at a syntax error is recognized as one.
    """
    start, end = reported = _clamp_span(finding, document)
    message = finding.message
    kind = find_subject_kind(finding)
    if kind == "rule" and tree is not None and _has_syntax_error(tree, document, Span(start, end)):
        kind = "syntax"
    quoted = find_names(message)
    if kind in ("syntax", "test"):
        return Subject(kind, Span(start, end), "", quoted, reported, message)
    if not quoted:
        # a message without a name is about the first name in its range
        match = (
            next(IDENTIFIER.finditer(document.data, max(start, document.mark_size), end), None)
            if kind == "name"
            else None
        )
        return Subject(kind, Span(start, end), decode(match.group()) if match else "", quoted, reported, message)
    names = tuple(match.group(1) for match in ANNOUNCED_NAME.finditer(message)) or quoted
    names += tuple(name.removesuffix(ATTRIBUTE_SUFFIX) for name in names if name[1:].endswith(ATTRIBUTE_SUFFIX))
    first, last = document.line_of(start), document.line_of(max(start, end - 1))
    line = Span(document.line_span(first)[0], document.line_span(last)[1])
    for place in (Span(start, max(end, min(start + 1, len(document.data)))), line):
        if name_span := _find_identifier(document, place, names):
            return Subject(
                kind, name_span, decode(document.data[name_span.start : name_span.end]), quoted, reported, message
            )
    return Subject(kind, Span(start, end), "", quoted, reported, message)


def find_subject_kind(finding: Finding) -> SubjectKind:
    """Return the kind of subject of a finding, by its rule or else by its message."""
    if finding.message.startswith("TEST FAIL:"):
        return "test"
    # the rules of pylint's extension for VS Code look like `E1101:no-member`
    if kind := KIND_BY_RULE.get(finding.code) or KIND_BY_RULE.get(finding.code.partition(":")[0]):
        # rules such as `reportCallIssue` report unknown keyword arguments too
        return "name" if kind == "argument" and UNKNOWN_NAME_MESSAGE.search(finding.message) else kind
    if finding.source == "lsp-harness" and finding.code == "syntax":
        return "syntax"
    for kind, pattern in KIND_BY_MESSAGE:
        if pattern.search(finding.message):
            return kind
    return "rule"


def find_names(message: str) -> tuple[str, ...]:
    """Return the names in a message: first the quoted names, then the others, each in the order of the message."""
    unquoted = [name for match in UNQUOTED_NAME.finditer(message) for name in match.groups() if name]
    return tuple(dict.fromkeys([*(match.group(1) for match in QUOTED_NAME.finditer(message)), *unquoted]))


def _has_syntax_error(tree: SyntaxTree, document: Document, span: Span) -> bool:
    """Return whether there is a syntax error on the lines of a span, or on the line before or after it."""
    lines = range(document.line_of(span.start) - 1, document.line_of(span.end) + 2)
    return any(
        document.line_of(fault.start) in lines or document.line_of(fault.end) in lines for fault in find_faults(tree)
    )


def _clamp_span(finding: Finding, document: Document) -> Span:
    start = max(0, min(finding.start, len(document.data)))
    return Span(start, max(start, min(finding.end, len(document.data))))


def _find_identifier(document: Document, place: Span, names: tuple[str, ...]) -> Span | None:
    """Return the span of an identifier that touches a place and is the first of the names to be there."""
    line = Span(*document.line_span(document.line_of(place.start)))
    start, end = max(line.start, document.mark_size), max(line.end, place.end)
    words = [
        (decode(match.group()), Span(start + match.start(), start + match.end()))
        for match in IDENTIFIER.finditer(document.data[start:end])
    ]
    touching = [(word, span) for word, span in words if span.start < place.end and span.end >= place.start]
    for name in names:
        if match := next((span for word, span in touching if word == name), None):
            return match
    return None
