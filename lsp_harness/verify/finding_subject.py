"""What a finding is about: a name that is not known, a token, an argument, or something that nothing uses.

Tools say it in their own words and codes. The kind decides what an edit may change (`verify.kept`), which repairs are tried
(`pipeline.repair`) and whether the finding still holds on a text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lsp_harness.syntax.syntax_errors import faults
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode
from lsp_harness.verify.finding import Finding

SubjectKind = Literal["syntax", "name", "removal", "argument", "test", "rule"]
"""`syntax`: the text does not parse. `name`: a name is not known (variable, member, type, module, keyword argument). `removal`: code
that nothing uses or reaches. `argument`: a value of a wrong type, or a wrong number of arguments. `test`: a test fails.
`rule`: any other rule of a linter or compiler."""

CODES: Mapping[str, SubjectKind] = {
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
"""The kinds of what common tools report, by their rule. A message may say better: see `WORDS`."""

WORDS: tuple[tuple[SubjectKind, re.Pattern[str]], ...] = (
    ("test", re.compile(r"\ATEST FAIL:")),
    (
        "removal",
        re.compile(
            r"\bunused\b|\bunreachable\b|never (?:used|read|accessed|constructed|called)|not (?:used|accessed)\b"
            r"|\bdead code\b|unnecessary (?:import|using)|useless assignment|does not need to be mutable",
            re.IGNORECASE,
        ),
    ),
    (
        "name",
        re.compile(
            r"\bundefined\b|not defined|\bundeclared\b|not declared|(?:cannot|can't|could not) (?:find|be found|resolve|be resolved)"
            r"|\bunresolved\b|does not exist|doesn't exist|no attribute|cannot access (?:attribute|member)|has no (?:exported )?member"
            r"|no (?:method|field|function|variant|template|type|class|associated \w+|parameter|such \w+|member|property)\b.*(?:named|found|exists?)?"
            r"|no (?:parameter|method|field) named|does not contain a definition|unexpected keyword argument|is not a known"
            r"|could not import [`'\"]|\bnot exported by package|does not match any known parameter|uninitialized constant|is unknown|\bunknown (?:name|identifier|word|symbol|import|type|field|member)|may only specify known properties",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    (
        "argument",
        re.compile(
            r"\bargument(?:s)? of type|\bexpected type\b.*\bfound\b|arguments to this \w+ are incorrect|expected \d+ (?:positional )?arguments?|mismatched types|incompatible types?"
            r"|(?:too (?:few|many)|not enough) (?:positional )?arguments?|no matching (?:member )?(?:function|constructor) for"
            r"|not assignable|cannot be assigned|cannot use .* as |not applicable for the arguments|cannot convert",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
)
"""What messages say, the first that fits. Read where the code says nothing."""

QUOTED = re.compile(
    r"[`'\"‘“](?:\$|@@?)?(?:(?:[\w$]+(?:\.|::|\\|/))+)?([^\W\d]\w*)(?:<[^<>'\"`]*>|\([^()'\"`]*\))?[`'\"’”]"
)
"""A name that a message quotes: of a path its last part, without type arguments."""
ANNOUNCED = re.compile(r"\b(?:named|keyword argument) [`'\"‘“]([^\W\d]\w*)[`'\"’”]")
"""The name that a message is about, where it quotes others as well: "`f` has no parameter named `x`"."""
BARE = re.compile(
    r"(?:undefined|undeclared name|declared and not used|unresolved reference|unused variable):? \$?(?:[\w.]+\.)?([^\W\d]\w*)\s*(?:\(|\Z)"
    r"|\A([^\W\d]\w*) (?:cannot be resolved|declared (?:and|but) not used|is (?:not defined|undefined))"
    r"|\A(?:\w+\.)+([^\W\d]\w*) undefined|uninitialized constant (?:\w+::)*([^\W\d]\w*)"
    r"|\Athe import (?:[\w.]+\.)?([^\W\d]\w*) (?:is never used|cannot be resolved)|unknown field ([^\W\d]\w*) in struct literal"
    r"|\bname ([^\W\d]\w*) not exported by package"
    r"|method ([^\W\d]\w*)\(|\bvalue of the \w+ variable ([^\W\d]\w*) is",
    re.IGNORECASE,
)
"""A name that a message says without quotes."""
ATTRIBUTE = "Attribute"
IDENTIFIER = re.compile(rb"[^\W\d]\w*|[A-Za-z_\x80-\xff][\w\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a finding is about, in one text.

    `span`: the bytes it is about: those of the name where one stands there, else of the finding. `name`: that name, as it is written
    in the text; empty where the finding names none that stands there. `quoted`: names of the message, whether they stand there or not.
    """

    kind: SubjectKind
    span: Span
    name: str = ""
    quoted: tuple[str, ...] = ()

    @property
    def absent(self) -> bool:
        """Whether the message names something that is not where the finding is: the text has changed since."""
        return self.kind in ("name", "removal") and bool(self.quoted) and not self.name


def find_subject(finding: Finding, document: Document, tree: SyntaxTree | None = None) -> Subject:
    """The subject of a finding. With the `tree` of the document it is known where the text does not parse.

    A name counts where the message says it and it stands in the finding's range, else on the line where the range begins: some
    tools mark the whole line, or the place behind a name.
    """
    start, end = _clamped(finding, document)
    kind = find_subject_kind(finding)
    if kind == "rule" and tree is not None and _broken(tree, document, Span(start, end)):
        kind = "syntax"
    quoted = find_names(finding.message)
    if kind in ("syntax", "test"):
        return Subject(kind, Span(start, end), "", quoted)
    if not quoted:
        # a message without a name is about the one that stands there
        word = (
            next((found for found in IDENTIFIER.finditer(document.data, start, end)), None) if kind == "name" else None
        )
        return Subject(kind, Span(start, end), decode(word.group()) if word else "", quoted)
    about = tuple(found.group(1) for found in ANNOUNCED.finditer(finding.message)) or quoted
    # C# writes `[Foo]` for the class `FooAttribute`
    about += tuple(name.removesuffix(ATTRIBUTE) for name in about if name.endswith(ATTRIBUTE) and name != ATTRIBUTE)
    first, last = document.line_of(start), document.line_of(max(start, end - 1))
    line = Span(document.line_span(first)[0], document.line_span(last)[1])
    for place in (Span(start, max(end, min(start + 1, len(document.data)))), line):
        if found := _standing(document, place, about):
            return Subject(kind, found, decode(document.data[found.start : found.end]), quoted)
    return Subject(kind, Span(start, end), "", quoted)


def find_subject_kind(finding: Finding) -> SubjectKind:
    """What kind of fault a finding reports, by its rule and else by its words."""
    if finding.message.startswith("TEST FAIL:"):
        return "test"
    # pylint's extension says `E1101:no-member`
    if known := CODES.get(finding.code) or CODES.get(finding.code.partition(":")[0]):
        # `reportCallIssue` and the like say several things
        return "name" if known == "argument" and WORDS[2][1].search(finding.message) else known
    if finding.source == "lsp-harness" and finding.code == "syntax":
        return "syntax"
    for kind, words in WORDS:
        if words.search(finding.message):
            return kind
    return "rule"


def find_names(message: str) -> tuple[str, ...]:
    """The names that a message is about, in its order: those it quotes, and those after words that announce one."""
    bare = [name for found in BARE.finditer(message) for name in found.groups() if name]
    return tuple(dict.fromkeys([*(found.group(1) for found in QUOTED.finditer(message)), *bare]))


def _broken(tree: SyntaxTree, document: Document, span: Span) -> bool:
    """Whether the text does not parse on the lines of a range, or on the line before it: what is missing there is reported here."""
    lines = range(document.line_of(span.start) - 1, document.line_of(span.end) + 2)
    return any(document.line_of(fault.start) in lines or document.line_of(fault.end) in lines for fault in faults(tree))


def _clamped(finding: Finding, document: Document) -> Span:
    start = max(0, min(finding.start, len(document.data)))
    return Span(start, max(start, min(finding.end, len(document.data))))


def _standing(document: Document, place: Span, names: tuple[str, ...]) -> Span | None:
    """The first identifier that is one of these names and touches a place; the names in their order."""
    around = Span(*document.line_span(document.line_of(place.start)))
    begin, stop = around.start, max(around.end, place.end)
    words = [
        (decode(found.group()), Span(begin + found.start(), begin + found.end()))
        for found in IDENTIFIER.finditer(document.data[begin:stop])
    ]
    touching = [(word, span) for word, span in words if span.start < place.end and span.end >= place.start]
    for name in names:
        if found := next((span for word, span in touching if word == name), None):
            return found
    return None
