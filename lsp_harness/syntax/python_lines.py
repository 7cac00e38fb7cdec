"""What a Python text declares and imports, read off its lines.

Python says by lines and indentation what belongs to what, so that no tree is needed to know what is declared where, only an
eye for strings, comments and brackets. One regular expression passes over all lines that declare nothing; what it stops at is
looked at. That takes a quarter of the time of a parse. What is said here is what the queries find in a tree; a text with
anything in it that is not as simple as this is left to the parser.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from lsp_harness.syntax.declarations import Declaration, Import
from lsp_harness.text.position import decode

OTHER_LINES = (b"\n\t", b"\r", b"\f")
"""Where indentation is not by spaces, or lines are not what they are here."""
DEPTH = 3
"""Brackets within brackets that an expression passes over; where there are more they are counted."""

NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+"
STRING = (
    rb'"""(?:[^"\\]++|\\(?s:.)|"(?!""))*+"""|"(?!"")(?:[^"\\\n]++|\\(?s:.))*+"'
    rb"|'''(?:[^'\\]++|\\(?s:.)|'(?!''))*+'''|'(?!'')(?:[^'\\\n]++|\\(?s:.))*+'"
)
BLANK = rb"(?:[ ]*+(?:#[^\n]*+)?\n)*+"
"""Lines with nothing in them, and comments."""


def _brackets(depth: int) -> bytes:
    inner = rb"|" + _brackets(depth - 1) if depth else b""
    return rb"[(\[{](?:[^\"'#\\()\[\]{}]++|" + STRING + rb"|#[^\n]*+|\\\n" + inner + rb")*+[)\]}]"


BRACKETS = _brackets(DEPTH)
TELLING = rb"(?:(?:async[ ]++)?def|class|import|from|type[ ]++[A-Za-z_])\b"
"""How a statement begins that declares something anywhere."""
PIECE = rb"[^\n\"'#\\()\[\]{}:;]++|[:;](?![ ]*+" + TELLING + rb")|" + STRING + rb"|" + BRACKETS + rb"|\\\n"
TARGET = rb"[ ]{%d}(?:" + NAME + rb"[ ]*+(?:=(?!=)|:)|[^\n=:'\"#,]*+,[^\n=]*+=(?!=)|[^\n'\"#;]*+;)"
"""A line of a module or class itself that may declare a variable, or may go on after what is one."""

_blank = re.compile(BLANK + rb"[ ]*+")
_pieces = re.compile(rb"(?:" + PIECE + rb")*+")
_brackets_ = re.compile(BRACKETS)
_bracket = re.compile(rb"[^\"'#\\()\[\]{}]++|" + STRING + rb"|#[^\n]*+|\\\n|([(\[{])|([)\]}])")
_definition = re.compile(rb"(?:async[ ]++)?(def|class)[ ]++(" + NAME + rb")[ ]*+")
_returns = re.compile(rb"[ ]*+->")
_of_type = re.compile(rb"(?:[^\n\"'#\\()\[\]{}:;]++|" + STRING + rb"|" + BRACKETS + rb")*+")
_colon = re.compile(rb"[ ]*+:(?:([ ]*+(?:#[^\n]*+)?\n)|[ ]*+)")
_telling = re.compile(rb"@|" + TELLING)
_from = re.compile(rb"from[ ]*+((?:\.[ ]*+)*+(?:(?!import\b)" + NAME + rb"(?:\." + NAME + rb")*+)?+)[ ]*+import\b[ ]*+")
_type = re.compile(rb"type[ ]++(" + NAME + rb")[ ]*+[=\[]")
_imported = re.compile(rb"[ \n]*+(" + NAME + rb"(?:\." + NAME + rb")*+|\*)(?:[ \n]++as[ \n]++(" + NAME + rb"))?[ \n]*+(?:,|$)")
_variable = re.compile(rb"(" + NAME + rb")[ ]*+(?:=(?!=)|:)")
_targets = re.compile(rb"((?:[^\n\"'#\\()\[\]{}:;=!<>+\-/%&|^@]++|" + BRACKETS + rb")*+)=(?!=)")
_target = re.compile(rb"[ ]*+((?:[^,()\[\]{}]++|" + BRACKETS + rb")++)(?:,|$)")
_base = re.compile(
    rb"[ \n]*+(?:(" + NAME + rb"(?:\." + NAME + rb")*+(?:" + BRACKETS + rb")*+)(?=[ \n]*+(?:,|$))"
    rb"|(?:\*\*?|" + NAME + rb"[ ]*+=(?!=))(?:[^\"'#\\()\[\]{},]++|" + STRING + rb"|" + BRACKETS + rb")*+)[ \n]*+(?:,|$)"
)
_name = re.compile(NAME)
_sole = re.compile(rb"(?:[^\n\"'#\\()\[\]{};]++|" + STRING + rb"|" + BRACKETS + rb"|\\\n)*+")
_spaces = re.compile(rb"[ ]*+")
_noise = re.compile(rb"#[^\n]*+|\\\n")
_AT, _HASH, _BACKSLASH, _ROUND = b"@#\\("
END, BODY = 3, 5
"""Places in a row."""
WORDS = frozenset({b"else", b"try", b"finally", b"except"})
"""What stands before a colon and is no variable."""
VALUES = frozenset({b"None", b"True", b"False"})


@cache
def _quiet(indent: int, outer: bool) -> re.Pattern[bytes]:
    """The lines of a block that declare nothing, then those without code, then the indentation of the next that has some."""
    own = rb"(?!" + TARGET % indent + rb")" if outer else b""
    line = own + rb"[ ]{%d}[ ]*+(?!@|\t|" % indent + TELLING + rb")(?:" + PIECE + rb")*+(?:#[^\n]*+)?\n"
    return re.compile(rb"((?:" + BLANK + line + rb")*+)" + BLANK + rb"([ ]*+)")


class Block(NamedTuple):
    """What is open: the indentation of its statements, its place in the list (-1 for the text), whether its variables count."""

    indent: int
    n: int
    outer: bool


class _Other(Exception):
    """A text that is not as simple as this."""


def by_lines(data: bytes) -> tuple[list[Declaration], list[Import]] | None:
    """What `declarations.declared` says of the text's tree; None where only a parser can tell."""
    if any(each in data for each in OTHER_LINES):
        return None
    try:
        return _Text(data if data.endswith(b"\n") else data + b"\n").read()
    except _Other:
        return None


class _Text:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.rows: list[list[Any]] = []
        self.imports: list[Import] = []
        self.line = self.counted = 0

    def read(self) -> tuple[list[Declaration], list[Import]]:
        data = self.data
        blocks: list[Block] = []
        block = Block(0, -1, True)
        at, first = 0, -1
        while True:
            if not (quiet := _quiet(block.indent, block.outer).match(data, at)):
                raise _Other
            at, code = quiet.end(1), quiet.end()
            deep = code - quiet.start(2)
            if code == len(data) or deep < block.indent:
                if not blocks:
                    break
                at = self.closed(block, at, code)
                block = blocks.pop()
            elif data[code] == _AT:
                first = code if first < 0 else first
                at = self.line_after(code)
            elif head := _definition.match(data, code):
                n, at, below = self.defined(head, code if first < 0 else first, block.n)
                first = -1
                outer = head[1] == b"class"
                if below:
                    body = _passed(_blank, data, at)
                    inner = body - data.rfind(b"\n", 0, body) - 1
                    if inner <= deep:
                        raise _Other
                    self.rows[n][BODY] = body
                    blocks.append(block)
                    block = Block(inner, n, outer)
                else:
                    end, after = self.ended(at)
                    self.rows[n][END] = self.ink(after)
                    if outer:
                        self.variables(n, at, end)
                    at = after
            elif first >= 0:
                raise _Other
            elif data.startswith((b"import ", b"from "), code):
                at = self.imported(code)
            else:
                at = self.stated(block, code, deep)
        return list(map(Declaration._make, self.rows)), self.imports

    def closed(self, block: Block, at: int, code: int) -> int:
        """The end of a block whose last line of code ends at `at`: comments below belong to it while they are as deep."""
        data = self.data
        if data.find(b"#", at, code) >= 0:
            while (mark := _passed(_spaces, data, at)) < code:
                if data[mark] == _HASH and mark - data.rfind(b"\n", 0, mark) - 1 < block.indent:
                    break
                at = data.find(b"\n", mark) + 1
        self.rows[block.n][END] = self.ink(at)
        return at

    def defined(self, head: re.Match[bytes], first: int, parent: int) -> tuple[int, int, bool]:
        """Its place in the list, the end of its first line up to the colon, and whether its block is below that."""
        data = self.data
        at = head.end()
        given = 0
        while data[at] in b"([":
            given, at = at, self.bracketed(at)
        if returns := _returns.match(data, at):
            at = self.over(_of_type, returns.end())
        given = data[given] == _ROUND and given
        kind = "class" if head[1] == b"class" else "function"
        if not (colon := _colon.match(data, at)) or (kind == "function" and not given):
            raise _Other
        if kind == "function" and parent >= 0 and self.rows[parent][0] == "class":
            kind = "method"
        bases = self.bases(given) if kind == "class" and given else ()
        n = self.add(kind, head[2], first, 0, head.start(2), colon.end(), parent, bases)
        return n, colon.end(), colon[1] is not None

    def add(
        self, kind: str, name: bytes, start: int, end: int, named: int, body: int, parent: int, bases: tuple[str, ...] = ()
    ) -> int:
        self.line += self.data.count(b"\n", self.counted, named)
        self.counted = named
        self.rows.append([kind, decode(name), start, end, named, body, self.line, parent, "", bases])
        return len(self.rows) - 1

    def bases(self, given: int) -> tuple[str, ...]:
        """What a class extends."""
        inside = self.inside(given)
        named = (part[1] for part in _parts(_base, inside))
        # a call is none
        return tuple(decode(name) for name in named if name and name not in VALUES and not name.endswith(b")"))

    def inside(self, bracket: int) -> bytes:
        """What is in a bracket, without comments and the last comma."""
        return _noise.sub(b" ", self.data[bracket + 1 : self.bracketed(bracket) - 1]).rstrip().removesuffix(b",")

    def imported(self, code: int) -> int:
        data = self.data
        end, after = self.ended(code)
        if head := _from.match(data, code):
            if not head[1]:
                raise _Other
            module, start = head[1].rstrip(), head.start(1)
            if data[head.end()] == _ROUND:
                inside = self.inside(head.end())
            else:
                inside = _noise.sub(b" ", data[head.end() : end])
            names = [(part[1], part[2] or b"") for part in _parts(_imported, inside)]
            if module != b"__future__":
                of = decode(module)
                self.imports += [Import(of, decode(name), decode(alias), start) for name, alias in dict.fromkeys(names)]
        elif data.startswith(b"import ", code):
            for part in _parts(_imported, data[code:end], len(b"import ")):
                self.imports.append(Import(decode(part[1]), "", decode(part[2] or b""), code + part.start(1)))
        else:
            raise _Other
        return after

    def stated(self, block: Block, code: int, deep: int) -> int:
        """A line that may declare variables or a type, or was only too much for the expression."""
        data = self.data
        end, after = self.ended(code)
        if one := _type.match(data, code):
            self.add("type", one[1], code, end, one.start(1), end, block.n)
        elif _telling.match(data, code):
            raise _Other
        elif block.outer and deep == block.indent:
            self.variables(block.n, code, end)
        return after

    def variables(self, parent: int, at: int, end: int) -> None:
        """Those of the statements of one line, of a module or class itself."""
        while at < end:
            stop = min(self.over(_sole, at), end)
            self.assigned(parent, at, self.ink(stop))
            at = _passed(_spaces, self.data, stop + 1)

    def assigned(self, parent: int, start: int, end: int) -> None:
        """The variables of one statement of a module or class."""
        data = self.data
        if one := _variable.match(data, start):
            if one[1] not in WORDS:
                self.add("variable" if parent < 0 else "field", one[1], start, end, start, end, parent)
        elif parent < 0 and (several := _targets.match(data, start)):
            for part in _parts(_target, several[1]):
                if _name.fullmatch(name := part[1].rstrip()):
                    self.add("variable", name, start, end, start + part.start(1), end, parent)

    def ended(self, code: int) -> tuple[int, int]:
        """Where the statement of a line ends, and where the next line begins."""
        data = self.data
        at = self.over(_pieces, code)
        after = data.find(b"\n", at) + 1
        if data[at] not in b"#\n":
            raise _Other
        return self.ink(at), after

    def line_after(self, code: int) -> int:
        return self.ended(code)[1]

    def over(self, pieces: re.Pattern[bytes], at: int) -> int:
        """The end of such pieces, however deep there are brackets in them."""
        at = _passed(pieces, self.data, at)
        while self.data[at] in b"([{":
            at = _passed(pieces, self.data, self.bracketed(at))
        return at

    def bracketed(self, at: int) -> int:
        """The end of what is in a bracket."""
        if whole := _brackets_.match(self.data, at):
            return whole.end()
        depth = 0
        while one := _bracket.match(self.data, at):
            at = one.end()
            depth += (one[1] is not None) - (one[2] is not None)
            if not depth:
                return at
        raise _Other

    def ink(self, at: int) -> int:
        """Where the text before `at` ends without blanks."""
        data = self.data
        while data[at - 1] in b" \n\t":
            at -= 1
        if data[at - 1] == _BACKSLASH:
            raise _Other
        return at


def _passed(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found else at


def _parts(pattern: re.Pattern[bytes], data: bytes, at: int = 0) -> Iterator[re.Match[bytes]]:
    """What is between commas, all of it."""
    while at < len(data):
        part = pattern.match(data, at)
        if not part:
            raise _Other
        yield part
        at = part.end()
