"""What a Python text declares and imports, read off its lines.

Python says by lines and indentation what belongs to what, so that no tree is needed to know what is declared where,
only an eye for strings, comments and brackets. One regular expression passes over all lines that declare nothing; what
it stops at is looked at. That takes a third of the time of a parse. What is said here is what the queries find in a
tree; a text with anything in it that is not as simple as this is left to the parser.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lsp_harness.syntax.symbols import python_patterns as words
from lsp_harness.syntax.symbols.declarations import Declaration, Import
from lsp_harness.text.position import decode

UNSUPPORTED_BYTES = (b"\n\t", b"\r", b"\f", b"\t=", b"\t:")
"""Where indentation, or what is behind the name of a variable, is not by spaces, or lines are not what they are
here."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

COLON_KEYWORDS = frozenset({b"else", b"try", b"finally", b"except", b"lambda"})
"""What stands before a colon and is no variable."""
CONSTANTS = frozenset({b"None", b"True", b"False"})

_AT, _HASH, _BACKSLASH, _ROUND = b"@#\\("
END, BODY = 3, 5
"""Places in a row."""


class Block(NamedTuple):
    """What is open: the indentation of its statements, its place in the list (-1 for the text), whether its variables
    count."""

    indent: int
    n: int
    outer: bool


class _Unsupported(Exception):
    """A text that is not as simple as this."""


def read_python_lines(data: bytes) -> tuple[list[Declaration], list[Import]] | None:
    """What `declarations.declared` says of the text's tree; None where only a parser can tell."""
    if data.startswith(BYTE_ORDER_MARK) or any(each in data for each in UNSUPPORTED_BYTES):
        return None
    try:
        # the last line may say that it goes on
        return _LineReader(data + b"\n\n").read()
    except _Unsupported:
        return None


class _LineReader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.rows: list[list[Any]] = []
        self.imports: list[Import] = []
        self.line = self.counted = 0

    def read(self) -> tuple[list[Declaration], list[Import]]:
        data = self.data
        around: list[Block] = []
        block = Block(0, -1, True)
        at, decorated = 0, -1
        while quiet := words.quiet_lines(block.indent, block.outer).match(data, at):
            passed_over, at, code = quiet.end(1) > at, quiet.end(1), quiet.end()
            deep = code - quiet.start(2)
            if decorated >= 0 and (passed_over or deep < block.indent):
                break
            if code == len(data) or deep < block.indent:
                if not around:
                    return list(map(Declaration._make, self.rows)), self.imports
                at = self.closed(block, at, code)
                block = around.pop()
            elif data[code] == _AT:
                decorated = code if decorated < 0 else decorated
                _, at = self.ended(code)
            elif head := words.DEFINITION.match(data, code):
                n, at, below = self.defined(head, code if decorated < 0 else decorated, block.n)
                decorated = -1
                outer = head[1] == b"class"
                if below:
                    around.append(block)
                    block = Block(self.opened(n, at, deep), n, outer)
                else:
                    at = self.beside(n, at, outer)
            elif decorated >= 0:
                break
            elif told := words.IMPORT.match(data, code):
                at = self.imported(code, told)
            else:
                at = self.stated(block, code, deep)
        raise _Unsupported

    def opened(self, n: int, at: int, deep: int) -> int:
        """The indentation of the block that begins below a line."""
        body = _match_end(words.EMPTY, self.data, at)
        indent = body - self.data.rfind(b"\n", 0, body) - 1
        if indent <= deep:
            raise _Unsupported
        self.rows[n][BODY] = body
        return indent

    def beside(self, n: int, at: int, outer: bool) -> int:
        """A block that is on the line itself; where the next line begins."""
        end, after = self.ended(at)
        self.rows[n][END] = self.ink(after)
        if outer:
            self.variables(n, at, end)
        return after

    def closed(self, block: Block, at: int, code: int) -> int:
        """The end of a block whose last line of code ends at `at`: comments below belong to it while they are as
        deep."""
        data = self.data
        if data.find(b"#", at, code) >= 0:
            while (mark := _match_end(words.SPACES, data, at)) < code:
                if data[mark] == _HASH and mark - data.rfind(b"\n", 0, mark) - 1 < block.indent:
                    break
                at = data.find(b"\n", mark) + 1
        self.rows[block.n][END] = self.ink(at)
        return at

    def defined(self, head: re.Match[bytes], start: int, parent: int) -> tuple[int, int, bool]:
        """Its place in the list, where it goes on after the colon, and whether that is the next line."""
        data, at, given = self.data, head.end(), -1
        while data[at] in b"([":
            given, at = (at if data[at] == _ROUND else given), self.bracketed(at)
        if arrow := words.ARROW.match(data, at):
            at = self.over(words.ANNOTATION, arrow.end())
        if not (colon := words.COLON.match(data, at)) or data[colon.end()] == _BACKSLASH:
            raise _Unsupported
        bases: tuple[str, ...] = ()
        if head[1] == b"class":
            kind = "class"
            bases = self.bases(given) if given >= 0 else ()
        elif given < 0:
            raise _Unsupported
        else:
            kind = "method" if parent >= 0 and self.rows[parent][0] == "class" else "function"
        n = self.add(kind, head[2], start, 0, head.start(2), colon.end(), parent, bases)
        return n, colon.end(), colon[1] is not None

    def bases(self, given: int) -> tuple[str, ...]:
        """What a class extends."""
        named = (part[1] for part in _split_at_commas(words.BASE, self.inside(given)))
        # a call is none
        return tuple(decode(name) for name in named if name and name not in CONSTANTS and not name.endswith(b")"))

    def imported(self, code: int, told: re.Match[bytes]) -> int:
        """What a line imports; where the next begins."""
        data, at = self.data, told.end()
        end, after = self.ended(code)
        if told[1] is None:
            for part in _split_at_commas(words.IMPORTED, data[at:end]):
                self.imports.append(Import(decode(part[1]), "", decode(part[2] or b""), at + part.start(1)))
            return after
        inside = self.inside(at) if data[at] == _ROUND else words.NOISE.sub(b" ", data[at:end])
        if self.over(words.STATEMENT, at) < end:
            # another statement
            raise _Unsupported
        names = dict.fromkeys((part[1], part[2] or b"") for part in _split_at_commas(words.IMPORTED, inside))
        module = decode(told[1].rstrip())
        if not module:
            raise _Unsupported
        if module != "__future__":
            self.imports += [Import(module, decode(name), decode(alias), told.start(1)) for name, alias in names]
        return after

    def stated(self, block: Block, code: int, deep: int) -> int:
        """A line that may declare variables or a type, or was only too much for the expression; where the next
        begins."""
        end, after = self.ended(code)
        if one := words.TYPE.match(self.data, code):
            if self.over(words.STATEMENT, code) < end:
                raise _Unsupported
            self.add("type", one[1], code, end, one.start(1), end, block.n)
        elif words.DECLARING_START.match(self.data, code):
            raise _Unsupported
        elif block.outer and deep == block.indent:
            self.variables(block.n, code, end)
        return after

    def variables(self, parent: int, at: int, end: int) -> None:
        """Those of the statements of one line, of a module or class itself."""
        while at < end:
            stop = min(self.over(words.STATEMENT, at), end)
            self.assigned(parent, at, self.ink(stop))
            at = _match_end(words.SPACES, self.data, stop + 1)

    def assigned(self, parent: int, start: int, end: int) -> None:
        """The variables of one statement of a module or class."""
        if one := words.VARIABLE.match(self.data, start):
            if one[1] not in COLON_KEYWORDS:
                self.add("variable" if parent < 0 else "field", one[1], start, end, start, end, parent)
        elif parent < 0 and (several := words.TARGETS.match(self.data, start)):
            for part in _split_at_commas(words.TARGET, several[1].rstrip().removesuffix(b",")):
                if words.NAME.fullmatch(name := part[1].rstrip()):
                    self.add("variable", name, start, end, start + part.start(1), end, parent)

    def add(
        self,
        kind: str,
        name: bytes,
        start: int,
        end: int,
        named: int,
        body: int,
        parent: int,
        bases: tuple[str, ...] = (),
    ) -> int:
        self.line += self.data.count(b"\n", self.counted, named)
        self.counted = named
        self.rows.append([kind, decode(name), start, end, named, body, self.line, parent, "", bases])
        return len(self.rows) - 1

    def ended(self, code: int) -> tuple[int, int]:
        """Where the statements of a line end, and where the next line begins."""
        at = self.over(words.LINE, code)
        if self.data[at] not in b"#\n":
            raise _Unsupported
        return self.ink(at), self.data.find(b"\n", at) + 1

    def over(self, pattern: re.Pattern[bytes], at: int) -> int:
        """The end of what such a pattern passes over, however deep there are brackets in it."""
        at = _match_end(pattern, self.data, at)
        while self.data[at] in b"([{":
            at = _match_end(pattern, self.data, self.bracketed(at))
        return at

    def inside(self, bracket: int) -> bytes:
        """What is in a bracket, without comments and the last comma."""
        return words.NOISE.sub(b" ", self.data[bracket + 1 : self.bracketed(bracket) - 1]).rstrip().removesuffix(b",")

    def bracketed(self, at: int) -> int:
        """The end of what is in a bracket."""
        if whole := words.BRACKETS.match(self.data, at):
            return whole.end()
        depth = 0
        while one := words.BRACKET.match(self.data, at):
            at = one.end()
            depth += (one[1] is not None) - (one[2] is not None)
            if not depth:
                return at
        raise _Unsupported

    def ink(self, at: int) -> int:
        """Where the text before `at` ends without blanks."""
        while self.data[at - 1] in b" \n\t":
            at -= 1
        if self.data[at - 1] == _BACKSLASH:
            raise _Unsupported
        return at


def _match_end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Where what a pattern matches there ends."""
    found = pattern.match(data, at)
    return found.end() if found else at


def _split_at_commas(pattern: re.Pattern[bytes], data: bytes) -> Iterator[re.Match[bytes]]:
    """What is between commas, all of it."""
    at = 0
    while at < len(data):
        part = pattern.match(data, at)
        if not part:
            raise _Unsupported
        yield part
        at = part.end()
