"""The names that a text uses, how it uses them, and their receivers: calls, base classes, types and other uses.

What the names refer to is resolved elsewhere. The uses are defined by the query `references.scm` of each language.
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
"""If several patterns match the same name, the first of these captures is used."""
UNKNOWN_RECEIVER = "?"
"""The receiver of a name if it is anything but a chain of names and calls."""
CALL_MARK, BRACKET_MARK = "\1", "\2"
BRACKET_PAIRS = (("()", CALL_MARK), ("[]", BRACKET_MARK), ("{}", BRACKET_MARK))
"""Pairs of brackets, and the mark that replaces a pair with its content."""
JOINT = r"\s*(?:\?\.|\?->|\.|->|::|:|\\)\s*"
PART = rf"[$@]{{0,2}}[^\W\d]\w*+[!?]?+{CALL_MARK}?+!?+"
"""One name of a chain. The quantifiers are possessive: the `?` of `a?.b` could belong to the name or to the joint, so
that a long chain would otherwise be matched in exponential time."""
CHAIN = re.compile(rf"(?:(?:new|await)\s+|[*&])*(?:{JOINT})?{PART}(?:{JOINT}{PART})*(?:\\)?")
CHAIN_NAME = re.compile(rf"[^\W\d]\w*{CALL_MARK}?")
GENERIC = re.compile(rf"(?:::)?<[^<>]*>(?={CALL_MARK}|::|\Z)")
WORD = re.compile(rb"(?:[A-Za-z_]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*")
IN_WORD = re.compile(rb"\w|[^\x00-\x7f]")
RECEIVER_CHAIN = re.compile(r"(?:[^\W\d]\w*(?:\(\))?(?:\.|::|->))+\Z")
"""Names and calls without arguments, each followed by an access operator."""
MAX_LINE_BYTES = 400
"""How much of a line before a name is read: a minified file is one line."""
MAX_RECEIVER_BYTES = 2_000
"""A longer receiver counts as unknown. Each call in a chain has the whole chain before it as its receiver, so that
reading all of them takes quadratic time."""
MAX_PLACES = 20
"""Up to this number of occurrences of a name, the query runs at each occurrence. For more, it runs once over the whole
tree."""


class Reference(NamedTuple):
    """One use of a name in a text.

    Attributes:
        kind: How the name is used.
        name: The name.
        start: The byte offset of the name.
        receiver_chain: The names before it that are joined by access operators. A call is written as `f()`, anything
            else makes the chain `(UNKNOWN_RECEIVER,)`.
        local_scope_start: If the name is a parameter or variable of a function, the byte offset at which that function
            starts. The name then refers to no declaration outside of the function. Otherwise -1.
    """

    kind: UseKind
    name: str
    start: int
    receiver_chain: tuple[str, ...] = ()
    local_scope_start: int = -1


def find_references(tree: SyntaxTree, name: str = "", byte_range: tuple[int, int] | None = None) -> list[Reference]:
    """Return the references of a text in its order.

    In languages without queries in `grammars/queries` each word outside of strings and comments is a reference.

    Args:
        tree: The tree of the text.
        name: If given, only references to this name are returned.
        byte_range: If given, only references that start in these bytes are returned.
    """
    if not tree.language.queries:
        return [*_scan_words(tree, name, byte_range or (0, len(tree.data)))]
    uses: dict[int, tuple[int, Node, Node | None]] = {}
    for nodes in _matches(tree, name, byte_range):
        priority = next((index for index, capture in enumerate(CAPTURE_PRIORITY) if capture in nodes), -1)
        if priority < 0:
            continue
        node = nodes[CAPTURE_PRIORITY[priority]][0]
        old = uses.get(node.start_byte)
        receiver = nodes["receiver"][0] if "receiver" in nodes else old[2] if old else None
        uses[node.start_byte] = (min(priority, old[0]) if old else priority, node, receiver)
    references: list[Reference] = []
    for start, (priority, node, receiver) in sorted(uses.items()):
        # Priority 0 is a key, which is no reference.
        if priority and (not byte_range or byte_range[0] <= start < byte_range[1]):
            kind: UseKind = CAPTURE_PRIORITY[priority]  # type: ignore[assignment]
            references.append(Reference(kind, _read_text(tree, node), start, _receiver_chain(tree, receiver)))
    functions = _binding_functions(tree, name, byte_range)
    return [
        reference._replace(local_scope_start=_local_scope_start(tree, reference, functions.get(reference.name, ())))
        for reference in references
    ]


def _scan_words(tree: SyntaxTree, name: str, byte_range: tuple[int, int]) -> Iterator[Reference]:
    """Yield a reference for each word that is a token outside of comments and strings.

    A word before a bracket is called.
    """
    for match in WORD.finditer(tree.data, *byte_range):
        word = decode(match[0])
        if name not in ("", word) or not _is_name_token(tree, *match.span()):
            continue
        first = max(0, match.start() - MAX_LINE_BYTES)
        line = decode(tree.data[tree.data.rfind(b"\n", first, match.start()) + 1 or first : match.start()])
        receiver = RECEIVER_CHAIN.search(line)
        chain = split_chain(receiver[0].rstrip(" .:->")) if receiver else ()
        is_call = tree.data.startswith(b"(", match.end())
        yield Reference("call" if is_call else "use", word, match.start(), chain)


def _is_name_token(tree: SyntaxTree, start: int, end: int) -> bool:
    node = tree.root.descendant_for_byte_range(start, end)
    if node is None or (node.start_byte, node.end_byte) != (start, end) or node.child_count or not node.is_named:
        return False
    types = (node.type, node.parent.type if node.parent else "")
    return not any(word in node_type for node_type in types for word in ("string", "comment"))


def _matches(tree: SyntaxTree, name: str, byte_range: tuple[int, int] | None) -> Iterator[dict[str, list[Node]]]:
    """Yield the matches of the query for references; if a name is given, only those for this name."""
    if not name:
        yield from matches(tree.language, "references", tree.root, byte_range)
        return
    word = encode(name)
    places = [(start, start + len(word)) for start in _find_word(tree.data, word, byte_range)]
    # A query at one place tries its patterns on all nodes around the place, which may be thousands. It is cheaper than
    # a walk over the whole tree only if there are few places.
    searched = [byte_range] if len(places) > MAX_PLACES else places
    all_places = frozenset(places)
    for searched_range in searched:
        wanted = all_places if searched_range is byte_range else {searched_range}
        for nodes in matches(tree.language, "references", tree.root, searched_range):
            captured = (node for capture in (*CAPTURE_PRIORITY, "bound") for node in nodes.get(capture, ()))
            if any(node.byte_range in wanted for node in captured):
                yield nodes


def _find_word(data: bytes, word: bytes, byte_range: tuple[int, int] | None = None) -> Iterator[int]:
    """Yield the offsets at which a word occurs and is not part of a longer one."""
    first, end = byte_range or (0, len(data))
    start = data.find(word, first, end)
    while start >= 0:
        next_byte = start + len(word)
        is_part = _is_one_word(data[start - 1 : start], word[:1]) or _is_one_word(
            word[-1:], data[next_byte : next_byte + 1]
        )
        if not is_part:
            yield start
        start = data.find(word, start + len(word), end)


def _is_one_word(left: bytes, right: bytes) -> bool:
    """Return whether two adjacent bytes belong to the same word."""
    return bool(IN_WORD.match(left) and IN_WORD.match(right))


def _binding_functions(
    tree: SyntaxTree, name: str, byte_range: tuple[int, int] | None
) -> dict[str, set[tuple[int, int]]]:
    """Return, for each parameter and variable, the byte ranges of the functions that bind it."""
    functions: dict[str, set[tuple[int, int]]] = {}
    for nodes in _matches(tree, name, byte_range):
        for node in nodes.get("bound", ()):
            if function := _function_around(tree, node):
                functions.setdefault(_read_text(tree, node), set()).add(function)
    return functions


def _function_around(tree: SyntaxTree, node: Node) -> tuple[int, int] | None:
    functions = captures(tree.language, "scopes", tree.root, node.byte_range).get("function", [])
    enclosing = [
        function.byte_range for function in functions if function.start_byte <= node.start_byte < function.end_byte
    ]
    return min(enclosing, key=lambda span: span[1] - span[0], default=None)


def _local_scope_start(tree: SyntaxTree, reference: Reference, functions: Iterable[tuple[int, int]]) -> int:
    if reference.receiver_chain or reference.kind not in ("call", "use"):
        return -1
    if reference.kind == "call" and tree.language.names.has_function_namespace:
        return -1
    return max((start for start, end in functions if start <= reference.start < end), default=-1)


def _receiver_chain(tree: SyntaxTree, receiver: Node | None) -> tuple[str, ...]:
    if receiver is None:
        return ()
    if receiver.end_byte - receiver.start_byte > MAX_RECEIVER_BYTES:
        return (UNKNOWN_RECEIVER,)
    common_names = tree.language.names.common_receivers
    return tuple(common_names.get(name, name) for name in split_chain(_read_text(tree, receiver)))


def split_chain(expression: str) -> tuple[str, ...]:
    """Split a chain of names and calls: `a.b(c).d` becomes `a`, `b()` and `d`.

    Returns:
        The parts, or `(UNKNOWN_RECEIVER,)` if the expression is no such chain.
    """
    text = expression.strip()
    while text.startswith("(") and text.endswith(")"):
        inner = _replace_brackets(text[1:-1])
        if not inner or set("()") & set(inner):
            break
        text = text[1:-1].strip()
    text = GENERIC.sub("", _replace_brackets(text))
    if not CHAIN.fullmatch(text):
        return (UNKNOWN_RECEIVER,)
    text = re.sub(r"^(?:(?:new|await)\s+)+", "", text)
    return tuple(name.replace(CALL_MARK, "()") for name in CHAIN_NAME.findall(text))


def _replace_brackets(text: str) -> str:
    """Replace each pair of brackets and its content by a mark."""
    previous = ""
    while text != previous:
        previous = text
        for (left, right), mark in BRACKET_PAIRS:
            text = re.sub(rf"\{left}[^()\[\]{{}}]*\{right}", mark, text)
    return text


def _read_text(tree: SyntaxTree, node: Node) -> str:
    return decode(tree.data[node.start_byte : node.end_byte])
