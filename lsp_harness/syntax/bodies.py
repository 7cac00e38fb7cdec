"""The tree that tells what a text declares, for less than a tree of all of it costs.

In Python what stands in functions and declares nothing is not parsed: nearly half of most files, and of what they cost. Only
lines are looked at for that; a function that is not as simple as that is left as it is.
"""

import re
from functools import cache

from tree_sitter import Node

from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.tree import root_of

LEAST = 100
"""Bytes of a body; to find a shorter one costs what it saves."""
HEAD = re.compile(
    rb"def[ \t]+\w+[ \t]*\((?:[^()]|\([^()]*+\))*+\)[ \t]*(?:->[^\n:#]+)?:[ \t]*\n"
    # the documentation and comments stay where they are
    rb"(?:[ \t]*(?:#[^\n]*)?\n)*+"
    rb"(?:[ \t]*[bBrRuU]?(?>\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)''')[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*+)?[ \t]*"
)
TELLING = re.compile(rb"def |class |import|type |\"\"\"|'''|\\\n")
"""What may declare something, or hide where lines begin and end."""
STATEMENT = re.compile(
    rb"[\n;:][ \t]*+(?:async[ \t]++)?(?:def[ \t]|class[ \t]|type[ \t]|import[ \t]|from[ \t.])|\"\"\"|'''|\\\n"
)
"""The same without words in texts and comments; slower to look for."""
BRACKETS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))
OTHER_LINES = (b"\n\t", b"\r", b"\f")
"""Where indentation is not by spaces, or lines are not what they are here."""


def declaring(language: Language, data: bytes) -> Node:
    """The root of a tree of all that a text declares and imports, each where it is."""
    if language.id == "python":
        root = root_of(language, without_bodies(data))
        if not root.has_error:
            return root
    return root_of(language, data)


def without_bodies(data: bytes) -> bytes:
    """The same number of bytes, with an empty tuple, as long as it was, for each body that declares nothing.

    What is right Python stays so, and what is declared is where it was; in other texts a body may be cut.
    """
    if any(each in data for each in OTHER_LINES):
        return data
    parts: list[bytes] = []
    done = 0
    at = data.find(b"def ")
    while at >= 0:
        start, end = _body(data, at)
        if end - start > LEAST:
            parts += (data[done:start], b"(".ljust(end - start - 1), b")")
            done = end
        at = data.find(b"def ", max(at + 4, done))
    return b"".join((*parts, data[done:]))


def _body(data: bytes, at: int) -> tuple[int, int]:
    """Where the body of the function is whose `def` is there, from its first statement to the last; nothing where it may
    declare something."""
    indent = data[data.rfind(b"\n", 0, at) + 1 : at].removesuffix(b"async ")
    if indent.strip() or not (head := HEAD.match(data, at)):
        return 0, 0
    start = head.end()
    # from the end of the line before: it may have none
    below = _below(indent).search(data, data.rfind(b"\n", at, start))
    end = below.start() if below else len(data)
    if end - start <= LEAST or _tells(data, start, end + 1):
        return 0, 0
    body = data[start:end].rstrip()
    if any(body.count(left) != body.count(right) for left, right in BRACKETS) or b"#" in body[body.rfind(b"\n") :]:
        return 0, 0
    return start, start + len(body)


def _tells(data: bytes, start: int, end: int) -> bool:
    """Whether something there may declare something, or hide where lines begin and end."""
    word = TELLING.search(data, start, end)
    # from the end of the line before that of the word
    return word is not None and STATEMENT.search(data, data.rfind(b"\n", 0, word.start()), end) is not None


@cache
def _below(indent: bytes) -> re.Pattern[bytes]:
    """The end of a line before one that is not deeper than that."""
    return re.compile(rb"\n(?!%b[ \t]|[ \t]*\n)" % indent)
