"""The declarations and imports of a Python text, read from its lines without a parser.

In Python the lines and their indentation show which declaration belongs to which block. Only strings, comments and
brackets need care. One regular expression skips the lines that declare nothing, and only the other lines are examined.
This takes a third of the time of a parse. The result is the same as that of the queries. A text that is not simple
enough is left to the parser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lsp_harness.syntax.symbols import python_patterns as patterns
from lsp_harness.syntax.symbols.declarations import Declaration, Import
from lsp_harness.text.position import decode

UNSUPPORTED_BYTES = (b"\n\t", b"\r", b"\f", b"\t=", b"\t:")
"""Texts with these bytes are left to the parser: tabs as indentation or behind the name of a variable, and other line
separators."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

COLON_KEYWORDS = frozenset({b"else", b"try", b"finally", b"except", b"lambda"})
"""Keywords that may stand before a colon, as an annotated variable does."""
CONSTANTS = frozenset({b"None", b"True", b"False"})

_AT, _HASH, _BACKSLASH, _ROUND = b"@#\\("


class _Block(NamedTuple):
    """An open block: the indentation of its statements, and the index of its row (-1 for the module)."""

    indent: int
    row: int
    has_variables: bool
    """Whether assignments in the block declare variables, as in a module and a class."""


@dataclass(slots=True)
class _Row:
    """A declaration whose end is not known yet. The fields are those of `Declaration`."""

    kind: str
    name: bytes
    start: int
    end: int
    name_start: int
    body_start: int
    parent: int
    bases: tuple[str, ...] = ()
    line: int = 0

    def to_declaration(self) -> Declaration:
        return Declaration(
            self.kind,
            decode(self.name),
            self.start,
            self.end,
            self.name_start,
            self.body_start,
            self.line,
            self.parent,
            "",
            self.bases,
        )


class _Unsupported(Exception):
    """The text is not simple enough to be read without a parser."""


def read_python_lines(data: bytes) -> tuple[list[Declaration], list[Import]] | None:
    """Return what `find_declarations` returns for the tree of the text, or None if only the parser can tell."""
    if data.startswith(BYTE_ORDER_MARK) or any(unsupported in data for unsupported in UNSUPPORTED_BYTES):
        return None
    try:
        # Two newlines are added because the last line may end with a backslash.
        return _LineReader(data + b"\n\n").read()
    except _Unsupported:
        return None


class _LineReader:
    """Reads the declarations of one text. Methods that read a line return the start of the next one."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.rows: list[_Row] = []
        self.imports: list[Import] = []
        self._line = self._counted_end = 0

    def read(self) -> tuple[list[Declaration], list[Import]]:
        data = self.data
        outer_blocks: list[_Block] = []
        block = _Block(0, -1, True)
        offset, decorator_start = 0, -1
        while quiet := patterns.quiet_lines(block.indent, block.has_variables).match(data, offset):
            is_skipping, offset, code = quiet.end(1) > offset, quiet.end(1), quiet.end()
            indent = code - quiet.start(2)
            if decorator_start >= 0 and (is_skipping or indent < block.indent):
                break
            if code == len(data) or indent < block.indent:
                if not outer_blocks:
                    return [row.to_declaration() for row in self.rows], self.imports
                offset = self.close_block(block, offset, code)
                block = outer_blocks.pop()
            elif data[code] == _AT:
                decorator_start = code if decorator_start < 0 else decorator_start
                _, offset = self.line_ends(code)
            elif head := patterns.DEFINITION.match(data, code):
                start = code if decorator_start < 0 else decorator_start
                row, offset, has_block = self.read_definition(head, start, block.row)
                decorator_start = -1
                is_class = head[1] == b"class"
                if has_block:
                    outer_blocks.append(block)
                    block = _Block(self.open_block(row, offset, indent), row, is_class)
                else:
                    offset = self.read_one_line_body(row, offset, is_class)
            elif decorator_start >= 0:
                break
            elif statement := patterns.IMPORT.match(data, code):
                offset = self.read_import(code, statement)
            else:
                offset = self.read_statement(block, code, indent)
        raise _Unsupported

    def open_block(self, row: int, offset: int, outer_indent: int) -> int:
        """Return the indentation of the block that starts below the line of a definition."""
        body = _match_end(patterns.EMPTY, self.data, offset)
        indent = body - self.data.rfind(b"\n", 0, body) - 1
        if indent <= outer_indent:
            raise _Unsupported
        self.rows[row].body_start = body
        return indent

    def read_one_line_body(self, row: int, offset: int, is_class: bool) -> int:
        """Read a body on the line of its definition."""
        end, next_line = self.line_ends(offset)
        self.rows[row].end = self.trim(next_line)
        if is_class:
            self.read_variables(row, offset, end)
        return next_line

    def close_block(self, block: _Block, offset: int, code: int) -> int:
        """Set the end of a block whose last line of code ends at `offset`.

        Comments below belong to it if they are indented like it.
        """
        data = self.data
        if data.find(b"#", offset, code) >= 0:
            while (text_start := _match_end(patterns.SPACES, data, offset)) < code:
                if data[text_start] == _HASH and text_start - data.rfind(b"\n", 0, text_start) - 1 < block.indent:
                    break
                offset = data.find(b"\n", text_start) + 1
        self.rows[block.row].end = self.trim(offset)
        return offset

    def read_definition(self, head: re.Match[bytes], start: int, parent: int) -> tuple[int, int, bool]:
        """Read the head of a function or class.

        Args:
            head: The match of `patterns.DEFINITION`.
            start: The start of the definition with its decorators.
            parent: The index of the enclosing row.

        Returns:
            The index of the new row, the offset behind the colon, and whether the body starts on the next line.
        """
        data, offset, arguments = self.data, head.end(), -1
        while data[offset] in b"([":
            arguments, offset = (offset if data[offset] == _ROUND else arguments), self.bracket_end(offset)
        if arrow := patterns.ARROW.match(data, offset):
            offset = self.skip(patterns.ANNOTATION, arrow.end())
        if not (colon := patterns.COLON.match(data, offset)) or data[colon.end()] == _BACKSLASH:
            raise _Unsupported
        bases: tuple[str, ...] = ()
        if head[1] == b"class":
            kind = "class"
            bases = self.read_bases(arguments) if arguments >= 0 else ()
        elif arguments < 0:
            raise _Unsupported
        else:
            kind = "method" if parent >= 0 and self.rows[parent].kind == "class" else "function"
        row = self.add(_Row(kind, head[2], start, 0, head.start(2), colon.end(), parent, bases))
        return row, colon.end(), colon[1] is not None

    def read_bases(self, bracket: int) -> tuple[str, ...]:
        """Return the bases of a class."""
        names = (part[1] for part in _split_at_commas(patterns.BASE, self.bracket_content(bracket)))
        # A call is not a base with a name.
        return tuple(decode(name) for name in names if name and name not in CONSTANTS and not name.endswith(b")"))

    def read_import(self, code: int, statement: re.Match[bytes]) -> int:
        """Read the imports of a line."""
        data, offset = self.data, statement.end()
        end, next_line = self.line_ends(code)
        if statement[1] is None:
            for part in _split_at_commas(patterns.IMPORTED, data[offset:end]):
                alias = decode(part[2] or b"")
                self.imports.append(Import(decode(part[1]), "", alias, offset + part.start(1)))
            return next_line
        is_bracket = data[offset] == _ROUND
        names = self.bracket_content(offset) if is_bracket else patterns.NOISE.sub(b" ", data[offset:end])
        if self.skip(patterns.STATEMENT, offset) < end:
            # Another statement follows on the line.
            raise _Unsupported
        unique_names = dict.fromkeys((part[1], part[2] or b"") for part in _split_at_commas(patterns.IMPORTED, names))
        module = decode(statement[1].rstrip())
        if not module:
            raise _Unsupported
        if module != "__future__":
            start = statement.start(1)
            self.imports += [Import(module, decode(name), decode(alias), start) for name, alias in unique_names]
        return next_line

    def read_statement(self, block: _Block, code: int, indent: int) -> int:
        """Read a line that may declare variables or a type.

        It may also be a line that was just too complex to be skipped.
        """
        end, next_line = self.line_ends(code)
        if alias := patterns.TYPE.match(self.data, code):
            if self.skip(patterns.STATEMENT, code) < end:
                raise _Unsupported
            self.add(_Row("type", alias[1], code, end, alias.start(1), end, block.row))
        elif patterns.DECLARING_START.match(self.data, code):
            raise _Unsupported
        elif block.has_variables and indent == block.indent:
            self.read_variables(block.row, code, end)
        return next_line

    def read_variables(self, parent: int, offset: int, end: int) -> None:
        """Read the variables of the statements of one line of a module or class."""
        while offset < end:
            stop = min(self.skip(patterns.STATEMENT, offset), end)
            self.read_assignment(parent, offset, self.trim(stop))
            offset = _match_end(patterns.SPACES, self.data, stop + 1)

    def read_assignment(self, parent: int, start: int, end: int) -> None:
        """Read the variables of one statement of a module or class."""
        if variable := patterns.VARIABLE.match(self.data, start):
            if variable[1] not in COLON_KEYWORDS:
                kind = "variable" if parent < 0 else "field"
                self.add(_Row(kind, variable[1], start, end, start, end, parent))
        elif parent < 0 and (targets := patterns.TARGETS.match(self.data, start)):
            for part in _split_at_commas(patterns.TARGET, targets[1].rstrip().removesuffix(b",")):
                if patterns.NAME.fullmatch(name := part[1].rstrip()):
                    self.add(_Row("variable", name, start, end, start + part.start(1), end, parent))

    def add(self, row: _Row) -> int:
        """Add a row with the line of its name, and return its index. Names are added in the order of the text."""
        self._line += self.data.count(b"\n", self._counted_end, row.name_start)
        self._counted_end = row.name_start
        row.line = self._line
        self.rows.append(row)
        return len(self.rows) - 1

    def line_ends(self, code: int) -> tuple[int, int]:
        """Return the end of the statements of a line, and the start of the next line."""
        offset = self.skip(patterns.LINE, code)
        if self.data[offset] not in b"#\n":
            raise _Unsupported
        return self.trim(offset), self.data.find(b"\n", offset) + 1

    def skip(self, pattern: re.Pattern[bytes], offset: int) -> int:
        """Return the end of the text that a pattern skips.

        Brackets that are nested too deeply for the pattern are skipped too.
        """
        offset = _match_end(pattern, self.data, offset)
        while self.data[offset] in b"([{":
            offset = _match_end(pattern, self.data, self.bracket_end(offset))
        return offset

    def bracket_content(self, bracket: int) -> bytes:
        """Return the text inside of a pair of brackets, without comments and without a trailing comma."""
        content = self.data[bracket + 1 : self.bracket_end(bracket) - 1]
        return patterns.NOISE.sub(b" ", content).rstrip().removesuffix(b",")

    def bracket_end(self, bracket: int) -> int:
        """Return the offset after the bracket that closes the opening bracket at `bracket`."""
        if pair := patterns.BRACKETS.match(self.data, bracket):
            return pair.end()
        depth, offset = 0, bracket
        while part := patterns.BRACKET.match(self.data, offset):
            offset = part.end()
            depth += (part[1] is not None) - (part[2] is not None)
            if not depth:
                return offset
        raise _Unsupported

    def trim(self, offset: int) -> int:
        """Return the end of the text before `offset` without trailing blanks."""
        while offset and self.data[offset - 1] in b" \n\t":
            offset -= 1
        if self.data[offset - 1] == _BACKSLASH:
            raise _Unsupported
        return offset


def _match_end(pattern: re.Pattern[bytes], data: bytes, offset: int) -> int:
    match = pattern.match(data, offset)
    return match.end() if match else offset


def _split_at_commas(pattern: re.Pattern[bytes], data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the match of a pattern for each item of a comma-separated list. The matches must cover the whole list."""
    offset = 0
    while offset < len(data):
        item = pattern.match(data, offset)
        if not item:
            raise _Unsupported
        yield item
        offset = item.end()
