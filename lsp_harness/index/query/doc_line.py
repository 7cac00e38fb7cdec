"""The first line of what is said of a declaration, read off its text when it is shown: in Python what its body begins with (or what
follows a variable), else the comment directly above."""

import re

from lsp_harness.index.index_view import Symbol, View
from lsp_harness.text.position import decode

WIDTH = 200
STRING = re.compile(rb"""\s*[rRuU]?(?P<quote>\"\"\"|'''|"|')(?P<text>.*?)(?P=quote)""", re.DOTALL)
COMMENT = re.compile(r"^(?:///?!?|//|/\*+!?|\*+/?|--+|#+(?!\[|!))")
ATTRIBUTE = re.compile(r"^(?:@|#\[|\[)")
"""Lines between a comment and what it is about."""
SAYS_NOTHING = re.compile(r"^(?:\W*$|noqa|type:|pylint|eslint|@ts-|nolint|clang-format|fmt:|TODO|FIXME)")


def doc(view: View, symbol: Symbol) -> str:
    """On one line; empty where nothing is said."""
    said = _string(view, symbol) if symbol.language == "python" else ""
    return (said or _above(view, symbol))[:WIDTH]


def _string(view: View, symbol: Symbol) -> str:
    simple = symbol.body >= symbol.end
    at = symbol.end if simple else symbol.body
    begin, data = view.chunk(symbol.file, at)
    data = data[at - begin :]
    if simple:
        # the next line is about it
        data = data.partition(b"\n")[2]
    found = STRING.match(data)
    return _first(decode(found["text"])) if found else ""


def _above(view: View, symbol: Symbol) -> str:
    begin, data = view.chunk(symbol.file, symbol.start)
    lines = decode(data[: symbol.start - begin]).split("\n")[:-1]
    while lines and ATTRIBUTE.match(lines[-1].strip()):
        lines.pop()
    found: list[str] = []
    while lines and COMMENT.match(lines[-1].strip()):
        found.insert(0, COMMENT.sub("", lines.pop().strip()).strip().removesuffix("*/").strip())
    return _first("\n".join(line for line in found if not SAYS_NOTHING.match(line)))


def _first(text: str) -> str:
    """The first line that has something in it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
