"""The names that the code below a place in a function uses and nothing binds: whoever writes there is about to bind them."""

import builtins
import re
from collections.abc import Iterator
from itertools import islice

from lsp_harness.syntax.declarations import declared
from lsp_harness.syntax.languages import grammar
from lsp_harness.syntax.references import places, referred, whole
from lsp_harness.syntax.scope import Kind, Scope, enclosing_class, enclosing_function, scopes_at
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import encode

LEAVES = re.compile(rb"\s*(?:return|raise|throw|break|continue)\b")
"""What ends a block: the next line is further out."""
MEMBER = re.compile(rb"(?:\.|::)\s*\w*\Z")
WORD = 100
"""Bytes in which that is looked for."""
ABOVE, BELOW = 50_000, 4_000
"""Bytes of the functions around, above and below, that are read. What is longer above is not told anything of."""
MOST = 4
"""Names that are given, the first that is used first."""
MISSING = 8
"""Of more, nobody means to bind them all here: what is above is missing, or cannot be read."""
ELSEWHERE = 24
"""Places of a name outside of these that are asked whether it is a global one."""
BROWSER = (
    "undefined NaN Infinity arguments globalThis window document self console process global require module exports navigator"
    " location performance crypto localStorage sessionStorage history"
)
GLOBALS = {
    "python": frozenset(dir(builtins)),
    "java": frozenset[str](),
    "rust": frozenset({"self"}),
    **dict.fromkeys(("javascript", "typescript", "tsx"), frozenset(BROWSER.split())),
}
"""Languages in which a bare name is bound in its file or one of these. In others it may be one of another file."""

DECLARED = {"java": "", "rust": "let", **dict.fromkeys(("javascript", "typescript", "tsx"), "const")}
"""What stands before a name where it is bound; in Java a type."""


def bindings(tree: SyntaxTree, offset: int) -> tuple[str, ...]:
    """How the names that are `unbound` there are bound: `total`, `const total`; ` total` behind something, as `for`."""
    names, function = unbound(tree, offset), enclosing_function(tree, offset)
    if not names or function is None:
        return ()
    # of what is written yet, a body may begin further down
    head = offset < function.body_start and not tree.data[function.start : offset].rstrip().endswith((b":", b"{"))
    if not head and _opens(tree.data, offset, _unit(tree.data, function)):
        return (*(f" {name}" for name in names),)
    keyword = DECLARED.get(tree.language.id)
    if keyword is None or (keyword and head):
        return names
    return (*(f"{keyword} {name}" for name in names),)


def _opens(data: bytes, offset: int, unit: int) -> bool:
    """Whether the lines below are those of a block that does not begin yet: they are further in."""
    start = data.rfind(b"\n", 0, offset) + 1
    begun = data[start:offset]
    above = data[max(0, start - BELOW) : start].rstrip()
    last = above[above.rfind(b"\n") + 1 :]
    further = last.endswith((b":", b"{", b"(", b"[")) - bool(LEAVES.match(last))
    own = _width(begun) if begun else _width(last) + unit * further
    # what stands behind a cursor at the beginning of a line is below it
    lines = data[offset : offset + BELOW].split(b"\n")[bool(begun) :]
    inked = [line for line in lines if line.strip()]
    behind = next((line for line in inked if _width(line) <= own), b"")
    return bool(inked) and _width(inked[0]) > own and not behind.lstrip().startswith((b")", b"]"))


def _unit(data: bytes, function: Scope) -> int:
    """How far the body of a function is further in than its head."""
    head, body = (data[data.rfind(b"\n", 0, at) + 1 : at + 1] for at in (function.start, function.body_start))
    return max(1, _width(body) - _width(head))


def _width(line: bytes) -> int:
    text = line.expandtabs(4)
    return len(text) - len(text.lstrip())


def unbound(tree: SyntaxTree, offset: int) -> tuple[str, ...]:
    """Those of the function around `offset`; none at the top level, behind a dot, and in languages of which this cannot be told."""
    function = enclosing_function(tree, offset)
    if function is None or function.end <= offset or not _told(tree, offset):
        return ()
    start = min([function.start, *scopes_at(tree, function.start, "function")])
    if offset - start > ABOVE:
        return ()
    end = min(function.end, offset + BELOW)
    bound = GLOBALS[tree.language.id] | _imported(tree, offset, end)
    needed = (
        name
        for name in dict.fromkeys(_used(tree, offset, end))
        if name not in bound and not _is_keyword(tree, name) and not _above(tree, name, start, offset)
    )
    found = [*islice(needed, MISSING + 1)]
    if len(found) > MISSING:
        return ()
    return (*islice((name for name in found if not _global(tree, name, start, function.end)), MOST),)


def _told(tree: SyntaxTree, offset: int) -> bool:
    """Whether a name that is bound nowhere in the text is bound nowhere, and one could be at this place."""
    language = tree.language.id
    if language not in GLOBALS or MEMBER.search(tree.data, max(0, offset - WORD), offset):
        return False
    if language == "python":
        return b"import *" not in tree.data
    return not (language == "java" and _inherits(tree, offset))


def _inherits(tree: SyntaxTree, offset: int) -> bool:
    """Whether a bare name may be a field of a class in another file."""
    type_ = enclosing_class(tree, offset)
    return type_ is not None and b" extends " in tree.data[type_.start : type_.body_start]


def _used(tree: SyntaxTree, start: int, end: int) -> Iterator[str]:
    """Bare names that are no parameters and variables of functions in these bytes."""
    # what is called, and what begins with a capital, is mostly declared elsewhere where that needs no import
    python = tree.language.id == "python"
    kinds = ("use", "call") if python else ("use",)
    for one in referred(tree, within=(start, end)):
        likely = one.kind in kinds and one.own < 0 and not one.before and (python or not one.name[:1].isupper())
        if one.name and likely and _is_own(tree, one.start, encode(one.name)):
            yield one.name


def _imported(tree: SyntaxTree, start: int, end: int) -> set[str]:
    """What a function imports for itself in these bytes, and words of where from."""
    _, brought = declared(tree.language, tree.data, tree.root, (start, end))
    return {word for one in brought for word in (one.alias, one.name, *re.findall(r"\w+", one.module))}


def _is_keyword(tree: SyntaxTree, name: str) -> bool:
    """Beside a hole a keyword may be read as a name."""
    return grammar(tree.language).id_for_node_kind(name, False) is not None


def _above(tree: SyntaxTree, name: str, start: int, end: int) -> bool:
    """Whether it is written in these bytes."""
    word = encode(name)
    return any(_is_own(tree, at, word) for at in places(tree.data, word, (start, end)))


def _global(tree: SyntaxTree, name: str, start: int, end: int) -> bool:
    """Whether it is written outside of all functions: what is in another one is mostly that one's own."""
    word = encode(name)
    outside = (at for part in ((0, start), (end, len(tree.data))) for at in places(tree.data, word, part))
    return any(_is_own(tree, at, word) and _at_top(tree, at) for at in islice(outside, ELSEWHERE))


def _is_own(tree: SyntaxTree, at: int, word: bytes) -> bool:
    """No member of something, and no part of a string or a comment."""
    return whole(tree, at, at + len(word)) and not tree.data.endswith((b".", b"::"), max(0, at - 2), at)


def _at_top(tree: SyntaxTree, at: int) -> bool:
    """Whether a name is outside of all functions, and of classes where their fields are no bare names."""
    kinds: tuple[Kind, ...] = ("function",) if tree.language.id == "java" else ("function", "class")
    return not scopes_at(tree, at, *kinds)
