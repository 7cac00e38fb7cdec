"""The first line of a declaration's documentation, read from its text when it is shown.

In Python this is the docstring, or the string after a variable. Otherwise, it is the comment directly above.
"""

import re

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language
from lsp_harness.text.position import decode

MAX_CHARS = 200
STRING = re.compile(rb"""\s*[rRuU]?(?P<quote>\"\"\"|'''|"|')(?P<text>.*?)(?P=quote)""", re.DOTALL)
COMMENT = re.compile(r"^(?:///?!?|//|/\*+!?|\*+/?|--+|#+(?!\[|!))")
ATTRIBUTE = re.compile(r"^(?:@|#\[|\[)")
"""Lines that may stand between a comment and its declaration."""
EMPTY_COMMENT = re.compile(r"^(?:\W*$|noqa|type:|pylint|eslint|@ts-|nolint|clang-format|fmt:|TODO|FIXME)")


def read_doc_line(view: IndexView, symbol: Symbol) -> str:
    """Return the first line of a symbol's documentation; empty if there is none."""
    style = find_language(symbol.language).declarations.documentation
    line = _docstring_line(view, symbol) if style and style.is_inside else ""
    return (line or _comment_line(view, symbol))[:MAX_CHARS]


def _docstring_line(view: IndexView, symbol: Symbol) -> str:
    has_no_body = symbol.body >= symbol.end
    offset = symbol.end if has_no_body else symbol.body
    chunk_start, data = view.texts.read_chunk(symbol.file, offset)
    data = data[offset - chunk_start :]
    if has_no_body:
        # The string after a variable documents it.
        data = data.partition(b"\n")[2]
    match = STRING.match(data)
    return _first_line(decode(match["text"])) if match else ""


def _comment_line(view: IndexView, symbol: Symbol) -> str:
    chunk_start, data = view.texts.read_chunk(symbol.file, symbol.start)
    lines = decode(data[: symbol.start - chunk_start]).split("\n")[:-1]
    while lines and ATTRIBUTE.match(lines[-1].strip()):
        lines.pop()
    comment: list[str] = []
    while lines and COMMENT.match(lines[-1].strip()):
        comment.insert(0, COMMENT.sub("", lines.pop().strip()).strip().removesuffix("*/").strip())
    return _first_line("\n".join(line for line in comment if not EMPTY_COMMENT.match(line)))


def _first_line(text: str) -> str:
    """Return the first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
