"""The tools that replace the code of a symbol, or insert code beside one, with an indentation that fits."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lsp_harness.chat.tools.checked_writing import NewText
from lsp_harness.chat.tools.edit_tools import (
    MAX_TEXT_CHARS,
    FileEditTool,
    check_utf8,
    make_edit_schema,
    strip_line_numbers,
)
from lsp_harness.chat.tools.present_symbols import PresentSymbol, PresentSymbols
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_input import Input, Schema, make_text_schema, read_text
from lsp_harness.errors import UsageError
from lsp_harness.text.code_lines import indentation_of, is_blank, is_lone_closer
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode


def fit_indentation(text: str, indentation: str, *, uses_tabs: bool = False) -> list[str]:
    """Return the lines of a text with the indentation of their new place, without blank lines around them.

    Models write code without its indentation, with it, or with it in all lines but the first.

    Args:
        text: The code to indent.
        indentation: The indentation of its first line in the new place.
        uses_tabs: Whether the file is indented with tabs.
    """
    lines = text.replace("\r\n", "\n").rstrip().split("\n")
    while len(lines) > 1 and not lines[0].strip():
        lines = lines[1:]
    lines = [line.rstrip() if not line.strip() else line for line in lines]
    if uses_tabs:
        lines = _to_tabs(lines)
    own = indentation_of(lines[0])
    rest = [line for line in lines[1:] if line.strip()]
    removed = own
    if not own and indentation and rest and _is_cut_out(rest, indentation):
        removed = indentation
    first, *others = lines
    fitted = [indentation + first.removeprefix(own)]
    for line in others:
        # a line with less indentation than the first one, such as that of a string, is not moved
        fits = line.startswith(removed)
        fitted.append(indentation + line[len(removed) :] if fits and line.strip() else line)
    return fitted


def _is_cut_out(rest: Sequence[str], indentation: str) -> bool:
    """Return whether the lines after the first one still have the indentation of the file.

    They do if all are deeper than the first line will be, or if the last one closes the block at its depth.
    """
    if not all(line.startswith(indentation) for line in rest):
        return False
    is_deeper = all(len(indentation_of(line)) > len(indentation) for line in rest)
    return is_deeper or (is_lone_closer(rest[-1]) and indentation_of(rest[-1]) == indentation)


def _to_tabs(lines: Sequence[str]) -> list[str]:
    """Return the lines with a tab for each level of spaces."""
    widths = [len(indent) for line in lines if line.strip() and (indent := re.match(" *", line)[0])]  # type: ignore[index]
    if not widths:
        return list(lines)
    unit = min(widths)
    return [
        re.sub("^ +", lambda match: "\t" * (len(match[0]) // unit) + " " * (len(match[0]) % unit), line)
        for line in lines
    ]


ATTACHED_NODES = ("comment", "attribute", "annotation", "decorator")
"""Parts of the types of nodes that belong to the declaration below them."""
MAX_BLANK_LINES = 2


class SymbolEditTool(FileEditTool):
    """An edit at a symbol in the present text of its file."""

    def __init__(self, environment: ToolEnvironment) -> None:
        super().__init__(environment)
        self._symbols = PresentSymbols(environment, self.name)

    async def _plan(self, input: Input, report: Callable[[str], None]) -> NewText:
        path, name, text = read_text(input, "path"), read_text(input, "name"), read_text(input, "text")
        if is_blank(text):
            raise UsageError('"text" is empty; give the code')
        symbol = await self._symbols.find_one(name, path, report)
        document = symbol.source.document
        check_utf8(document, symbol.source.file.name)
        return NewText(symbol.source.file, document, [self._make_edit(symbol, strip_line_numbers(text))])

    def _make_edit(self, symbol: PresentSymbol, text: str) -> Edit:
        raise NotImplementedError


class ReplaceSymbolTool(SymbolEditTool):
    """Replaces a whole definition. Decorators stay if the new code has none."""

    name = "replace_symbol_body"
    description = "Replace the whole definition of a function, class or method, including its first line."
    schema: Schema = make_edit_schema(
        {
            "path": make_text_schema("File, relative to the workspace"),
            "name": make_text_schema("Name, or Class/method"),
            "text": make_text_schema("The whole new definition", MAX_TEXT_CHARS),
        }
    )

    def _make_edit(self, symbol: PresentSymbol, text: str) -> Edit:
        document, declaration = symbol.source.document, symbol.declaration
        start = declaration.start if text.lstrip().startswith("@") else _start_after_decorators(symbol)
        line_start = document.line_starts[document.line_of(start)]
        before = decode(document.data[line_start:start])
        indentation = indentation_of(before)
        lines = fit_indentation(text, indentation, uses_tabs=_uses_tabs(document))
        # the declaration may begin after a word such as `export`
        new = _join(document, lines)[len(encode(indentation)) :]
        new = new.removeprefix(encode(before.lstrip()))
        end = declaration.end
        if new.endswith(b";") and document.data[end : end + 1] == b";":
            end += 1
        return Edit(start, end, new)


class InsertBeforeSymbolTool(SymbolEditTool):
    """Inserts code before a symbol and its comments, at the same indentation."""

    name = "insert_before_symbol"
    description = "Insert code before a function, class or method."
    schema: Schema = make_edit_schema(
        {
            "path": make_text_schema("File, relative to the workspace"),
            "name": make_text_schema("Name of the symbol, or Class/method"),
            "text": make_text_schema("Code to insert", MAX_TEXT_CHARS),
        }
    )

    def _make_edit(self, symbol: PresentSymbol, text: str) -> Edit:
        document = symbol.source.document
        line = _first_attached_line(symbol)
        lines = fit_indentation(text, _read_indentation(symbol), uses_tabs=_uses_tabs(document))
        blanks = _blank_lines(symbol, line, document.line_of(symbol.declaration.end), is_before=True)
        place = document.line_starts[line]
        return Edit(place, place, _join(document, [*lines, *[""] * (blanks + 1)]))


class InsertAfterSymbolTool(SymbolEditTool):
    """Inserts code after a symbol, at the same indentation."""

    name = "insert_after_symbol"
    description = "Insert code after a function, class or method."
    schema: Schema = InsertBeforeSymbolTool.schema

    def _make_edit(self, symbol: PresentSymbol, text: str) -> Edit:
        document = symbol.source.document
        last = document.line_of(max(symbol.declaration.start, symbol.declaration.end - 1))
        lines = fit_indentation(text, _read_indentation(symbol), uses_tabs=_uses_tabs(document))
        blanks = _blank_lines(symbol, _first_attached_line(symbol), last, is_before=False)
        place = document.line_span(last)[1]
        return Edit(place, place, _join(document, [*[""] * (blanks + 1), *lines]))


def _join(document: Document, lines: Sequence[str]) -> bytes:
    return encode(document.newline.join(lines))


def _read_indentation(symbol: PresentSymbol) -> str:
    """Return the indentation of the first line of a symbol."""
    document = symbol.source.document
    return indentation_of(decode(document.line(document.line_of(symbol.declaration.start))))


def _uses_tabs(document: Document) -> bool:
    return b"\n\t" in document.data and b"\n  " not in document.data


def _start_after_decorators(symbol: PresentSymbol) -> int:
    """Return where a definition begins after its decorators."""
    node: Any = symbol.source.tree.root.descendant_for_byte_range(
        symbol.declaration.start, symbol.declaration.start + 1
    )
    while node is not None and node.type != "decorator":
        node = node.parent
    while node is not None and (node.type == "decorator" or node.is_extra):
        node = node.next_sibling
    start = node.start_byte if node is not None else symbol.declaration.start
    return start if symbol.declaration.start <= start <= symbol.declaration.name_start else symbol.declaration.start


def _first_attached_line(symbol: PresentSymbol) -> int:
    """Return the first line of a symbol with the comments and attributes directly above it, from 0."""
    document = symbol.source.document
    line = document.line_of(symbol.declaration.start)
    while line and (above := _attached_start(symbol, line - 1)) is not None:
        line = above
    return line


def _attached_start(symbol: PresentSymbol, line: int) -> int | None:
    """Return the first line of the comment or attribute that is alone on a line, or None if there is none."""
    document = symbol.source.document
    text = decode(document.line(line))
    if is_blank(text) or indentation_of(text) != _read_indentation(symbol):
        return None
    place = document.line_starts[line] + len(encode(indentation_of(text)))
    node: Any = symbol.source.tree.root.descendant_for_byte_range(place, place + 1)
    while node is not None:
        if any(part in node.type for part in ATTACHED_NODES):
            return document.line_of(node.start_byte)
        if node.start_byte < place:
            return None
        node = node.parent
    return None


def _blank_lines(symbol: PresentSymbol, first: int, last: int, *, is_before: bool) -> int:
    """Return the number of blank lines to put beside a symbol: as many as there are to its neighbours.

    Args:
        symbol: The symbol.
        first: Its first line, from 0.
        last: The last line of the symbol.
        is_before: Whether the new code comes before it.
    """
    sides = [_blanks_to_neighbour(symbol, range(first - 1, -1, -1))]
    sides.append(_blanks_to_neighbour(symbol, range(last + 1, len(symbol.source.document.line_starts))))
    known = [count for count in (sides if is_before else reversed(sides)) if count is not None]
    is_long = last > symbol.source.document.line_of(symbol.declaration.start)
    return min(known[0], MAX_BLANK_LINES) if known else int(is_long)


def _blanks_to_neighbour(symbol: PresentSymbol, lines: range) -> int | None:
    """Return the number of blank lines up to the next code, or None if that is outside of the block."""
    for count, text in enumerate(_read_lines(symbol.source.document, lines)):
        if not is_blank(text):
            # the neighbour ends deeper than it begins, if it has a body without a closing line
            return count if indentation_of(text).startswith(_read_indentation(symbol)) else None
    return None


def _read_lines(document: Document, lines: range) -> Iterator[str]:
    for line in lines:
        yield decode(document.line(line))
