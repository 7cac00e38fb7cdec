"""The import statements of a file, and the place of one more among them: in its group, sorted where the group is sorted.

A statement is text here; which one is needed is not decided in this file.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsp_harness.syntax import scope
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

REQUIRE_CALL = re.compile(
    rb"^(?:const|let|var)[^\n=]{1,300}=[ \t]*require\(([^)\n]{1,200})\)[^\n]*|^require(?:_relative)?[ (]([^\n]{1,200})",
    re.MULTILINE,
)
"""Imports by a call: of JavaScript, and of Ruby."""
NON_IMPORT_PREFIXES = (b"package", b"namespace", b"export", b"pub use", b"pub(")
FILE_HEAD = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:#![^\n]*\n)?(?:(?:[ \t]*(?:#(?!include|!\[|\[|define|if|pragma)|//)[^\n]*)?\n|[ \t]*/\*.*?\*/[ \t]*\n|<\?php[^\n]*\n"
    rb"|(?:'use strict'|\"use strict\");?[^\n]*\n|declare\(strict_types[^\n]*\n|#!\[[^\n]*\n|(?:package|namespace)\b[^\n{]*\n|[ \t]*\n)*",
    re.DOTALL,
)
"""What stands above the imports of a file that has none yet: comments, the package, directives."""
DOCSTRING = re.compile(rb"[rRuU]?(\"\"\"|''').*?\1[^\n]*\n|[rRuU]?\"[^\n\"]*\"[^\n]*\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ImportStatement:
    """An import statement at the top of a file. `module` is what it imports from, `rank` the group it belongs to by its kind."""

    span: Span
    text: str
    module: str
    rank: int = 0


def find_import_statements(tree: SyntaxTree) -> list[ImportStatement]:
    """The import statements of a file, in its order, without those inside of functions."""
    spans = [one for one in scope.find_imports(tree) if not tree.data.startswith(NON_IMPORT_PREFIXES, one.start)]
    if tree.language.id in ("javascript", "typescript", "tsx", "ruby"):
        spans = sorted({*spans, *(Span(*found.span()) for found in REQUIRE_CALL.finditer(tree.data))})
        spans = [one for n, one in enumerate(spans) if n == 0 or one.start >= spans[n - 1].end]
    found: list[ImportStatement] = []
    for span in spans:
        text = decode(tree.data[span.start : span.end]).rstrip()
        found.append(ImportStatement(Span(span.start, span.start + len(encode(text))), text, _module(tree, span, text)))
    return found


def _module(tree: SyntaxTree, span: Span, text: str) -> str:
    if required := REQUIRE_CALL.match(encode(text)):
        return decode(required[1] or required[2]).strip("'\" ()\r")
    _, imports = find_declarations(tree.language, tree.data, tree.root, span)
    inside = [one.module for one in imports if span.start <= one.start < span.end]
    names = [one.name for one in imports if span.start <= one.start < span.end]
    if tree.language.id == "rust" and inside:
        return "::".join(filter(None, (inside[0], names[0])))
    return inside[0].strip("<>\"'") if inside else re.sub(r"^(?:use|using|import|#include)\s+", "", text).strip(' ;<>"')


def insert_import(tree: SyntaxTree, made: ImportStatement, others: Sequence[ImportStatement]) -> Edit:
    """The edit that puts a statement in among others, whose ranks are those of their groups."""
    newline = tree.document.newline
    if not others:
        return _insert_first(tree, made, newline)
    groups = _groups(tree, others)
    same = [group for group in groups if any(one.rank == made.rank for one in group)]
    if same:
        group = max(same, key=lambda each: sum(one.rank == made.rank for one in each))
        listed = [one for one in group if one.rank == made.rank]
        return _insert_in_group(tree, made, listed, newline)
    after = [group for group in groups if min(one.rank for one in group) < made.rank]
    apart = newline if len(groups) > 1 or _has_separate_groups(others) else ""
    if after:
        at = _line_end(tree, after[-1][-1].span.end)
        lead = "" if tree.data[at - 1 : at] == b"\n" else newline
        return Edit(at, at, encode(lead + apart + _indent(tree, others[0]) + made.text + newline))
    at = _group_start(tree, groups[0][0])
    apart = "" if tree.data[at : at + 1] in (b"\n", b"\r") else apart
    return Edit(at, at, encode(_indent(tree, others[0]) + made.text + newline + apart))


def _group_start(tree: SyntaxTree, first: ImportStatement) -> int:
    """Where a new group begins: above the comment that the first group has, which is not the one at the head of the file."""
    at = begin = _first_line_start(tree, first)
    while begin:
        above = _line_start(tree, begin - 1)
        if not tree.data[above:begin].lstrip().startswith((b"//", b"# ")):
            return begin if tree.data[:begin].strip() and not tree.data[above:begin].strip() else at
        begin = above
    return at


def _has_separate_groups(others: Sequence[ImportStatement]) -> bool:
    """Statements of Python in one group only say that there was one group to write."""
    return others[0].text.startswith(("import ", "from ")) and "{" not in others[0].text and ";" not in others[0].text


def _insert_in_group(tree: SyntaxTree, made: ImportStatement, listed: Sequence[ImportStatement], newline: str) -> Edit:
    # a statement with a condition of its own (`#[cfg(test)]`) says nothing of the others
    listed = [one for one in listed if _first_line_start(tree, one) == _line_start(tree, one.span.start)] or listed
    key = next((order for order in SORT_KEYS if [*map(order, listed)] == sorted(map(order, listed))), None)
    if key is None:
        # not sorted as a whole: beside those of the same origin, which often are
        origin = _normalize_module(made.module).split(".")[0]
        listed = [one for one in listed if _normalize_module(one.module).split(".")[0] == origin] or listed
        key = next((order for order in SORT_KEYS if [*map(order, listed)] == sorted(map(order, listed))), None)
    before = next((one for one in listed if key(one) > key(made)), None) if key else None
    if before:
        at = _first_line_start(tree, before)
        return Edit(at, at, encode(_indent(tree, before) + made.text + newline))
    at = _line_end(tree, listed[-1].span.end)
    lead = "" if tree.data[at - 1 : at] == b"\n" else newline
    return Edit(at, at, encode(lead + _indent(tree, listed[-1]) + made.text + newline))


def _first_line_start(tree: SyntaxTree, one: ImportStatement) -> int:
    """The start of a statement's first line, with the attributes of Rust that it has."""
    at = _line_start(tree, one.span.start)
    while tree.language.id == "rust" and at:
        above = _line_start(tree, at - 1)
        if not tree.data.startswith(b"#[", above + len(tree.data[above:at]) - len(tree.data[above:at].lstrip())):
            break
        at = above
    return at


def _normalize_module(text: str) -> str:
    return text.replace("\\", ".").replace("::", ".").lower()


SORT_KEYS: tuple[Callable[[ImportStatement], tuple[int, str]], ...] = (
    # `import x` before `from x import y`, as isort and ruff have them
    lambda one: (one.text.startswith("from "), _normalize_module(one.module)),
    lambda one: (0, _normalize_module(one.module)),
    lambda one: (0, one.module),
    lambda one: (0, one.text),
    lambda one: (len(one.text), ""),
)
"""In which statements stand, the first that fits those that are there."""


def _groups(tree: SyntaxTree, listed: Sequence[ImportStatement]) -> list[list[ImportStatement]]:
    """Statements with nothing between them but the end of a line."""
    groups: list[list[ImportStatement]] = []
    for one in listed:
        between = tree.data[groups[-1][-1].span.end : one.span.start] if groups else b""
        if not groups or between.count(b"\n") > 1 or b"\n" not in between:
            groups.append([])
        groups[-1].append(one)
    return groups


def _insert_first(tree: SyntaxTree, made: ImportStatement, newline: str) -> Edit:
    head = FILE_HEAD.match(tree.data)
    at = head.end() if head else 0
    if tree.language.id == "python" and (doc := DOCSTRING.match(tree.data, at)):
        at = doc.end()
    rest = tree.data[at:]
    # comments that belong to the first definition stay with it
    above = tree.data[:at].rstrip()
    comment = above[above.rfind(b"\n") + 1 :].lstrip()
    blank_above = not tree.data[:at].strip() or tree.data[:at].endswith((b"\n\n", b"\r\n\r\n"))
    if (
        not blank_above
        and comment.startswith((b"#", b"//", b"*/"))
        and not comment.startswith(b"#!")
        and rest[:1].strip()
    ):
        block = tree.data[:at].rfind(b"\n\n")
        at = block + 2 if block >= 0 else at
        rest = tree.data[at:]
        blank_above = True
    while tree.data[:at].endswith(3 * encode(newline)):
        # of several blank lines one stays above, and the others below
        at -= len(newline)
        rest = tree.data[at:]
    lead = "" if blank_above else newline
    trail = newline if rest[:1] not in (b"\n", b"\r", b"") else ""
    if tree.language.id == "python" and rest.startswith((b"def ", b"class ", b"@", b"async ")):
        trail = 2 * newline
    return Edit(at, at, encode(lead + made.text + newline + trail))


def _line_start(tree: SyntaxTree, at: int) -> int:
    return tree.data.rfind(b"\n", 0, at) + 1


def _line_end(tree: SyntaxTree, at: int) -> int:
    end = tree.data.find(b"\n", at)
    return end + 1 if end >= 0 else len(tree.data)


def _indent(tree: SyntaxTree, beside: ImportStatement) -> str:
    text = decode(tree.data[_line_start(tree, beside.span.start) : beside.span.start])
    return text if not text.strip() else ""
