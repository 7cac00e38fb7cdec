"""The names that a text uses, and how: what it calls, extends, names as a type, or else mentions, and what is before each.

What they mean is not said here. See `references.scm` of each language.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.syntax.tree_query import captures, matches
from lsp_harness.text.position import decode, encode

UseKind = Literal["call", "base", "type", "use"]
CAPTURE_PRIORITY: tuple[str, ...] = ("key", "call", "base", "type", "use")
"""Of two patterns that say something of the same name, the first of these is right."""
UNKNOWN_RECEIVER = "?"
"""What is before a name where that is more than names and calls with dots between."""
CALL_MARK, BRACKET_MARK = "\1", "\2"
BRACKET_PAIRS = (("()", CALL_MARK), ("[]", BRACKET_MARK), ("{}", BRACKET_MARK))
JOINT = r"\s*(?:\?\.|\?->|\.|->|::|:|\\)\s*"
PART = rf"[$@]{{0,2}}[^\W\d]\w*+[!?]?+{CALL_MARK}?+!?+"
"""It gives nothing back: of `a?.b` the sign could be part of either, and so of each name of a chain."""
CHAIN = re.compile(rf"(?:(?:new|await)\s+|[*&])*(?:{JOINT})?{PART}(?:{JOINT}{PART})*(?:\\)?")
CHAIN_NAME = re.compile(rf"[^\W\d]\w*{CALL_MARK}?")
GENERIC = re.compile(rf"(?:::)?<[^<>]*>(?={CALL_MARK}|::|\Z)")
WORD = re.compile(rb"(?:[A-Za-z_]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*")
IN_WORD = re.compile(rb"\w|[^\x00-\x7f]")
RECEIVER_CHAIN = re.compile(r"(?:[^\W\d]\w*(?:\(\))?(?:\.|::|->))+\Z")
"""Names and calls of nothing, behind each a sign that a member follows."""
MAX_LINE_BYTES = 400
"""Bytes of a line on either side of a place that are looked at: a minified file is one line."""
MAX_RECEIVER_BYTES = 2_000
"""Bytes of what a name is called on. Each call of a chain has the whole chain before it there, so that all of them take quadratic time."""
MAX_PLACES = 20
"""Places of a name that are looked at one by one; for more of them the tree is walked once."""
COMMON_NAMES = {"csharp": {"base": "super"}, "php": {"parent": "super", "static": "self"}}
"""What some languages call what others call `super` and `self`."""
SEPARATE_FUNCTION_NAMESPACE = frozenset({"java", "ruby", "php"})
"""Languages in which a variable does not hide a function of its name."""


class Reference(NamedTuple):
    """A name at byte `start`; `before` are the names before it with dots between, `f()` for a call, `UNKNOWN` for anything else.

    Where it is a parameter or a variable of a function, `own` is the byte that function begins at: what is declared outside is
    not meant.
    """

    kind: UseKind
    name: str
    start: int
    receiver_chain: tuple[str, ...] = ()
    local_scope_start: int = -1


def find_references(tree: SyntaxTree, name: str = "", byte_range: tuple[int, int] | None = None) -> list[Reference]:
    """All of a text or of the bytes `within`, or only those of a name, in their order. For languages without queries of ours names
    are told by their looks."""
    if not tree.language.queries:
        return [*_scan_words(tree, name, byte_range or (0, len(tree.data)))]
    found: dict[int, tuple[int, Node, Node | None]] = {}
    for nodes in _matches(tree, name, byte_range):
        kind = next((n for n, each in enumerate(CAPTURE_PRIORITY) if each in nodes), -1)
        if kind < 0:
            continue
        node = nodes[CAPTURE_PRIORITY[kind]][0]
        known = found.get(node.start_byte)
        receiver = nodes["receiver"][0] if "receiver" in nodes else known[2] if known else None
        found[node.start_byte] = (min(kind, known[0]) if known else kind, node, receiver)
    refer = [
        Reference(CAPTURE_PRIORITY[kind], _text(tree, node), at, _receiver_chain(tree, receiver))  # type: ignore[arg-type]
        for at, (kind, node, receiver) in sorted(found.items())
        if kind and (not byte_range or byte_range[0] <= at < byte_range[1])
    ]
    owned = _binding_functions(tree, name, byte_range)
    return [
        one._replace(local_scope_start=_binding_function_start(tree, one, owned.get(one.name, ()))) for one in refer
    ]


def _scan_words(tree: SyntaxTree, name: str, byte_range: tuple[int, int]) -> Iterator[Reference]:
    """Words that are tokens by themselves: in a comment or a string they are not. What a bracket follows is called."""
    for found in WORD.finditer(tree.data, *byte_range):
        word = decode(found[0])
        if name not in ("", word) or not _is_name_token(tree, *found.span()):
            continue
        near = max(0, found.start() - MAX_LINE_BYTES)
        line = decode(tree.data[tree.data.rfind(b"\n", near, found.start()) + 1 or near : found.start()])
        before = RECEIVER_CHAIN.search(line)
        chain = split_chain(before[0].rstrip(" .:->")) if before else ()
        yield Reference("call" if tree.data.startswith(b"(", found.end()) else "use", word, found.start(), chain)


def _is_name_token(tree: SyntaxTree, start: int, end: int) -> bool:
    node = tree.root.descendant_for_byte_range(start, end)
    if node is None or (node.start_byte, node.end_byte) != (start, end) or node.child_count or not node.is_named:
        return False
    around = node.parent
    return not any(
        word in kind for kind in (node.type, around.type if around else "") for word in ("string", "comment")
    )


def _matches(tree: SyntaxTree, name: str, byte_range: tuple[int, int] | None) -> Iterator[dict[str, list[Node]]]:
    """To look where the name is costs less than to walk all of the tree."""
    if not name:
        yield from matches(tree.language, "references", tree.root, byte_range)
        return
    word = encode(name)
    places = [(at, at + len(word)) for at in _find_word(tree.data, word, byte_range)]
    # a query about a place tries its patterns on all nodes around that place, which may be thousands
    asked = [byte_range] if len(places) > MAX_PLACES else places
    known = frozenset(places)
    for place in asked:
        wanted = known if place is byte_range else {place}
        for nodes in matches(tree.language, "references", tree.root, place):
            if any(node.byte_range in wanted for kind in (*CAPTURE_PRIORITY, "bound") for node in nodes.get(kind, ())):
                yield nodes


def _find_word(data: bytes, word: bytes, byte_range: tuple[int, int] | None = None) -> Iterator[int]:
    """Where a name is, and not part of a longer one."""
    at, end = byte_range or (0, len(data))
    at = data.find(word, at, end)
    while at >= 0:
        behind = at + len(word)
        if not (_is_one_word(data[at - 1 : at], word[:1]) or _is_one_word(word[-1:], data[behind : behind + 1])):
            yield at
        at = data.find(word, at + len(word), end)


def _is_one_word(left: bytes, right: bytes) -> bool:
    return bool(IN_WORD.match(left) and IN_WORD.match(right))


def _binding_functions(
    tree: SyntaxTree, name: str, byte_range: tuple[int, int] | None
) -> dict[str, set[tuple[int, int]]]:
    """By the names of parameters and variables, the functions whose they are."""
    found: dict[str, set[tuple[int, int]]] = {}
    for nodes in _matches(tree, name, byte_range):
        for node in nodes.get("bound", ()):
            if around := _function_around(tree, node):
                found.setdefault(_text(tree, node), set()).add(around)
    return found


def _function_around(tree: SyntaxTree, node: Node) -> tuple[int, int] | None:
    around = captures(tree.language, "scopes", tree.root, node.byte_range).get("function", [])
    inside = [one.byte_range for one in around if one.start_byte <= node.start_byte < one.end_byte]
    return min(inside, key=lambda one: one[1] - one[0], default=None)


def _binding_function_start(tree: SyntaxTree, one: Reference, functions: Iterable[tuple[int, int]]) -> int:
    if (
        one.receiver_chain
        or one.kind not in ("call", "use")
        or (one.kind == "call" and tree.language.id in SEPARATE_FUNCTION_NAMESPACE)
    ):
        return -1
    return max((start for start, end in functions if start <= one.start < end), default=-1)


def _receiver_chain(tree: SyntaxTree, receiver: Node | None) -> tuple[str, ...]:
    if receiver is None:
        return ()
    if receiver.end_byte - receiver.start_byte > MAX_RECEIVER_BYTES:
        return (UNKNOWN_RECEIVER,)
    same = COMMON_NAMES.get(tree.language.id, {})
    return tuple(same.get(part, part) for part in split_chain(_text(tree, receiver)))


def split_chain(written: str) -> tuple[str, ...]:
    """`a.b(c).d` as `a`, `b()` and `d`; `UNKNOWN` for what is no such chain."""
    text = written.strip()
    while (
        (inner := _replace_brackets(text[1:-1]))
        and text.startswith("(")
        and text.endswith(")")
        and not set("()") & set(inner)
    ):
        text = text[1:-1].strip()
    text = GENERIC.sub("", _replace_brackets(text))
    if not CHAIN.fullmatch(text):
        return (UNKNOWN_RECEIVER,)
    text = re.sub(r"^(?:(?:new|await)\s+)+", "", text)
    return tuple(name.replace(CALL_MARK, "()") for name in CHAIN_NAME.findall(text))


def _replace_brackets(text: str) -> str:
    """With a sign in place of each pair of brackets and what is in it."""
    before = ""
    while text != before:
        before = text
        for (left, right), sign in BRACKET_PAIRS:
            text = re.sub(rf"\{left}[^()\[\]{{}}]*\{right}", sign, text)
    return text


def _text(tree: SyntaxTree, node: Node) -> str:
    return decode(tree.data[node.start_byte : node.end_byte])
