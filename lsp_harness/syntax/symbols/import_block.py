"""The import statements of a file, and the insertion of another one into its group.

The sorted order of a group is kept.

A statement is handled as text. Which import is needed is decided elsewhere.
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
"""Imports by a call of `require`, in JavaScript and Ruby."""
NON_IMPORT_PREFIXES = (b"package", b"namespace", b"export", b"pub use", b"pub(")
"""Starts of statements that the outline query captures as imports although they import nothing for the file itself."""
FILE_HEAD = re.compile(
    rb"(?:#![^\n]*\n)?(?:(?:[ \t]*(?:#(?!include|!\[|\[|define|if|pragma)|//)[^\n]*)?\n"
    rb"|[ \t]*/\*.*?\*/[ \t]*\n|<\?php[^\n]*\n|(?:'use strict'|\"use strict\");?[^\n]*\n"
    rb"|declare\(strict_types[^\n]*\n|#!\[[^\n]*\n|(?:package|namespace)\b[^\n{]*\n|[ \t]*\n)*",
    re.DOTALL,
)
"""The text above the place of the first import, without a byte order mark: comments, the package, directives."""
DOCSTRING = re.compile(rb"[rRuU]?(\"\"\"|''').*?\1[^\n]*\n|[rRuU]?\"[^\n\"]*\"[^\n]*\n", re.DOTALL)

BLANK_LINES = (b"\n\n", b"\n\r\n")
"""The end of a line with a blank line below it."""


@dataclass(frozen=True, slots=True)
class ImportStatement:
    """An import statement at the top level of a file.

    Attributes:
        span: The bytes of the statement.
        text: The statement without trailing blanks.
        module: The module that it imports or imports from.
        rank: The order of the group that it belongs to. The caller defines the ranks.
    """

    span: Span
    text: str
    module: str
    rank: int = 0


def find_import_statements(tree: SyntaxTree) -> list[ImportStatement]:
    """Return the import statements of a file in its order, without those inside of functions."""
    spans = [span for span in scope.find_imports(tree) if not tree.data.startswith(NON_IMPORT_PREFIXES, span.start)]
    if tree.language.imports.has_require_calls:
        spans = sorted({*spans, *(Span(*match.span()) for match in REQUIRE_CALL.finditer(tree.data))})
        spans = [span for n, span in enumerate(spans) if n == 0 or span.start >= spans[n - 1].end]
    statements: list[ImportStatement] = []
    for span in spans:
        text = decode(tree.data[span.start : span.end]).rstrip()
        trimmed = Span(span.start, span.start + len(encode(text)))
        statements.append(ImportStatement(trimmed, text, _read_module(tree, span, text)))
    return statements


def _read_module(tree: SyntaxTree, span: Span, text: str) -> str:
    if required := REQUIRE_CALL.match(encode(text)):
        return decode(required[1] or required[2]).strip("'\" ()\r")
    _, imports = find_declarations(tree.language, tree.data, tree.root, span)
    first = next((item for item in imports if span.start <= item.start < span.end), None)
    if first is None:
        return re.sub(r"^(?:use|using|import|#include)\s+", "", text).strip(' ;<>"')
    if tree.language.imports.keys_include_names:
        return "::".join(filter(None, (first.module, first.name)))
    return first.module.strip("<>\"'")


def insert_import(tree: SyntaxTree, new: ImportStatement, others: Sequence[ImportStatement]) -> Edit:
    """Return the edit that inserts an import statement.

    Args:
        tree: The tree of the file.
        new: The statement to insert. Its span is ignored.
        others: The import statements of the file in its order, with the ranks of their groups.
    """
    newline = tree.document.newline
    if not others:
        return _insert_first(tree, new, newline)
    groups = _split_groups(tree, others)
    same_rank = [group for group in groups if any(other.rank == new.rank for other in group)]
    if same_rank:
        group = max(same_rank, key=lambda group: sum(other.rank == new.rank for other in group))
        return _insert_in_group(tree, new, [other for other in group if other.rank == new.rank], newline)
    lower = [group for group in groups if min(other.rank for other in group) < new.rank]
    separator = newline if len(groups) > 1 or _has_separate_groups(others) else ""
    statement = _indent(tree, others[0]) + new.text + newline
    if lower:
        offset = _line_end(tree, lower[-1][-1].span.end)
        return Edit(offset, offset, encode(_missing_newline(tree, offset, newline) + separator + statement))
    offset = _group_start(tree, groups[0][0])
    separator = "" if tree.data[offset : offset + 1] in (b"\n", b"\r") else separator
    return Edit(offset, offset, encode(statement + separator))


def _group_start(tree: SyntaxTree, first: ImportStatement) -> int:
    """Return where a new first group starts: above the comment of the old first group.

    A comment at the top of the file stays above the new group.
    """
    offset = start = _first_line_start(tree, first)
    while start > tree.document.mark_size:
        above = _line_start(tree, start - 1)
        if not tree.data[above:start].lstrip().startswith((b"//", b"# ")):
            is_below_code = bool(tree.data[tree.document.mark_size : start].strip())
            return start if is_below_code and not tree.data[above:start].strip() else offset
        start = above
    return offset


def _has_separate_groups(others: Sequence[ImportStatement]) -> bool:
    """Return whether a blank line separates a second group in a file that has only one group, as in Python."""
    return others[0].text.startswith(("import ", "from ")) and "{" not in others[0].text and ";" not in others[0].text


def _insert_in_group(tree: SyntaxTree, new: ImportStatement, group: Sequence[ImportStatement], newline: str) -> Edit:
    # The order of a statement with a condition of its own (`#[cfg(test)]`) shows nothing about the others.
    group = [other for other in group if _first_line_start(tree, other) == _line_start(tree, other.span.start)] or group
    key = _sort_key(group)
    if key is None:
        # The group is not sorted as a whole. Statements with the same top-level package often are.
        package = _normalize_module(new.module).split(".")[0]
        group = [other for other in group if _normalize_module(other.module).split(".")[0] == package] or group
        key = _sort_key(group)
    following = next((other for other in group if key(other) > key(new)), None) if key else None
    if following:
        offset = _first_line_start(tree, following)
        return Edit(offset, offset, encode(_indent(tree, following) + new.text + newline))
    offset = _line_end(tree, group[-1].span.end)
    lead = _missing_newline(tree, offset, newline)
    return Edit(offset, offset, encode(lead + _indent(tree, group[-1]) + new.text + newline))


def _sort_key(group: Sequence[ImportStatement]) -> Callable[[ImportStatement], tuple[int, str]] | None:
    """Return the first of `SORT_KEYS` by which a group is sorted, or None."""
    return next((key for key in SORT_KEYS if [*map(key, group)] == sorted(map(key, group))), None)


def _first_line_start(tree: SyntaxTree, statement: ImportStatement) -> int:
    """Return the start of the first line of a statement, including its attributes in Rust."""
    start = _line_start(tree, statement.span.start)
    while tree.language.declarations.has_attribute_lines and start > tree.document.mark_size:
        above = _line_start(tree, start - 1)
        line = tree.data[above:start]
        if not tree.data.startswith(b"#[", above + len(line) - len(line.lstrip())):
            break
        start = above
    return start


def _normalize_module(text: str) -> str:
    return text.replace("\\", ".").replace("::", ".").lower()


SORT_KEYS: tuple[Callable[[ImportStatement], tuple[int, str]], ...] = (
    # `import x` before `from x import y`, as isort and ruff sort them.
    lambda statement: (statement.text.startswith("from "), _normalize_module(statement.module)),
    lambda statement: (0, _normalize_module(statement.module)),
    lambda statement: (0, statement.module),
    lambda statement: (0, statement.text),
    lambda statement: (len(statement.text), ""),
)
"""The orders in which import statements may be sorted. The first one that fits a group is used."""


def _split_groups(tree: SyntaxTree, statements: Sequence[ImportStatement]) -> list[list[ImportStatement]]:
    """Split statements into groups that are separated by blank lines or other text."""
    groups: list[list[ImportStatement]] = []
    for statement in statements:
        between = tree.data[groups[-1][-1].span.end : statement.span.start] if groups else b""
        if not groups or between.count(b"\n") > 1 or b"\n" not in between:
            groups.append([])
        groups[-1].append(statement)
    return groups


def _insert_first(tree: SyntaxTree, new: ImportStatement, newline: str) -> Edit:
    """Return the edit that inserts a statement into a file without imports."""
    data, first = tree.data, tree.document.mark_size
    head = FILE_HEAD.match(data, first)
    offset = head.end() if head else first
    if tree.language.imports.follows_docstring and (docstring := DOCSTRING.match(data, offset)):
        offset = docstring.end()
    above = data[first:offset].rstrip()
    last_line = above[above.rfind(b"\n") + 1 :].lstrip()
    blank_above = not above or data[:offset].endswith((b"\n\n", b"\r\n\r\n"))
    is_comment = last_line.startswith((b"#", b"//", b"*/")) and not last_line.startswith(b"#!")
    if not blank_above and is_comment and data[offset : offset + 1].strip():
        # The comment belongs to the first definition and stays with it.
        places = [data.rfind(end, first, offset) + len(end) for end in BLANK_LINES if end in data[first:offset]]
        offset = max(places, default=offset)
        blank_above = True
    while data[:offset].endswith(3 * encode(newline)):
        # Of several blank lines one stays above the import, and the others stay below.
        offset -= len(newline)
    lead = "" if blank_above else newline
    trail = newline if data[offset : offset + 1] not in (b"\n", b"\r", b"") else ""
    blank_lines = tree.language.imports.blank_lines_below
    if blank_lines > 1 and data.startswith((b"def ", b"class ", b"@", b"async "), offset):
        trail = blank_lines * newline
    return Edit(offset, offset, encode(lead + new.text + newline + trail))


def _line_start(tree: SyntaxTree, offset: int) -> int:
    return max(tree.document.mark_size, tree.data.rfind(b"\n", 0, offset) + 1)


def _line_end(tree: SyntaxTree, offset: int) -> int:
    end = tree.data.find(b"\n", offset)
    return end + 1 if end >= 0 else len(tree.data)


def _missing_newline(tree: SyntaxTree, offset: int, newline: str) -> str:
    """Return the newline that the last line of the file lacks before `offset`, or an empty string."""
    return "" if tree.data[offset - 1 : offset] == b"\n" else newline


def _indent(tree: SyntaxTree, statement: ImportStatement) -> str:
    text = decode(tree.data[_line_start(tree, statement.span.start) : statement.span.start])
    return text if not text.strip() else ""
