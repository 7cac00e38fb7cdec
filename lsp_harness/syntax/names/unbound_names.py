"""The names that the code below a place in a function uses and nothing binds: whoever writes there is about to bind them.

Said is only what is sure: a name that is written anywhere above in the function, at the top of the file or as a variable further
down is none, and neither is any where the text leaves a doubt.
"""

import builtins
import re
from collections.abc import Iterator
from itertools import islice

from tree_sitter import Node

from lsp_harness.syntax.languages import grammar
from lsp_harness.syntax.scope import Scope, enclosing_function, indent_width
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.text_kind import text_kind_at
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.syntax.tree_query import matches
from lsp_harness.text.position import decode, encode

MEMBER_ACCESS = re.compile(rb"(?:(?<!\.)\.|::)[ \t]*[\w\x80-\xff]*\Z")
MAX_WORD_BYTES = 100
"""Bytes in which that is looked for."""
BLOCK_EXIT = re.compile(rb"\s*(?:return|raise|throw|break|continue)\b")
"""What ends a block: the next line is further out."""
MAX_FILE_BYTES = 500_000
"""Bytes of a file of which nothing is told: it is generated, or made small."""
MAX_BYTES_ABOVE, MAX_BYTES_BELOW = 50_000, 3_000
"""Bytes of the functions around, above and below, that are read. What is longer above is not told anything of."""
MAX_NAMES = 4
"""Names that are given, the first that is used first."""
MAX_CANDIDATES = 8
"""Of more, nobody means to bind them all here: what is above is missing, or cannot be read."""
MAX_OCCURRENCES = 60
"""Places of all names together that are looked at. What is written more often is bound somewhere."""
JAVASCRIPT_GLOBALS = (
    "undefined NaN Infinity arguments globalThis window document self console process global require module exports navigator"
    " location performance crypto localStorage sessionStorage history __dirname __filename setTimeout setInterval clearTimeout"
    " clearInterval setImmediate queueMicrotask structuredClone fetch alert jest vi cy chrome browser screen"
)
GLOBAL_NAMES = {
    "python": frozenset(dir(builtins)),
    "rust": frozenset({"self", "crate", "super"}),
    **dict.fromkeys(("javascript", "typescript", "tsx"), frozenset(JAVASCRIPT_GLOBALS.split())),
}
"""Languages in which a bare name is bound in its file or one of these. In others it may be one of another file."""
BINDING_KEYWORDS = {"rust": "let", **dict.fromkeys(("javascript", "typescript", "tsx"), "const")}
"""What stands before a name where it is bound."""
FUNCTION_NODES = frozenset(
    {"function_definition", "lambda", "function_declaration", "generator_function_declaration"}
    | {"function_expression", "generator_function", "arrow_function", "method_definition", "function_signature"}
    | {"method_signature", "function_item", "closure_expression"}
)
"""What names of its own are in: with what `scopes.scm` leaves out, as lambdas, and told from the nodes around a name alone."""
BRACKET_NODES = frozenset(
    {"argument_list", "arguments", "list", "tuple", "set", "dictionary", "parenthesized_expression", "subscript"}
    | {"array", "object", "tuple_expression", "array_expression", "token_tree", "field_initializer_list", "match_block"}
    | {
        "jsx_element",
        "jsx_opening_element",
        "jsx_self_closing_element",
        "jsx_expression",
        "decorator",
        "attribute_item",
    }
)
"""What a statement does not stand in."""
AMBIGUOUS_PARENTS = frozenset(
    {"token_tree", "attribute", "label", "index_signature", "jsx_namespace_name", "function_expression"}
)
"""What looks like a use in these may be anything."""


def suggest_bindings(tree: SyntaxTree, offset: int) -> tuple[str, ...]:
    """How the names that are `unbound` there are bound: `total`, `const total`; ` total` behind something, as `for`."""
    function = _function_around(tree, offset)
    if function is None or not (names := _unbound_in(tree, offset, function)):
        return ()
    # of what is written yet, a body may begin further down
    head = offset < function.body_start and not tree.data[function.start : offset].rstrip().endswith((b":", b"{"))
    if not head and _opens_block(tree.data, offset, _indent_unit(tree, function)):
        return (*(f" {name}" for name in names),)
    keyword = BINDING_KEYWORDS.get(tree.language.id)
    return names if head or keyword is None else (*(f"{keyword} {name}" for name in names),)


def find_unbound_names(tree: SyntaxTree, offset: int) -> tuple[str, ...]:
    """Those of the function around `offset`; none at the top level, behind a dot, in brackets, and in other languages."""
    function = _function_around(tree, offset)
    return _unbound_in(tree, offset, function) if function else ()


def _function_around(tree: SyntaxTree, offset: int) -> Scope | None:
    """The one around a place of which something can be told."""
    # asked with every key: in other languages that is all
    if tree.language.id not in GLOBAL_NAMES:
        return None
    function = enclosing_function(tree, offset)
    return function if function and offset < function.end and _can_bind_at(tree, offset) else None


def _unbound_in(tree: SyntaxTree, offset: int, function: Scope) -> tuple[str, ...]:
    functions = [
        node for node in nodes_around(tree.root, function.start, function.start) if node.type in FUNCTION_NODES
    ]
    start = min([function.start, *(node.start_byte for node in functions)])
    last = max([function.end, *(node.end_byte for node in functions)])
    if offset - start > MAX_BYTES_ABOVE:
        return ()
    end = _function_end(tree, offset, min(function.end, offset + MAX_BYTES_BELOW), function)
    needed = _iter_unbound(tree, (start, offset), (offset, end), last)
    found = [*islice(needed, MAX_CANDIDATES + 1)]
    return (*found[:MAX_NAMES],) if len(found) <= MAX_CANDIDATES else ()


def _can_bind_at(tree: SyntaxTree, offset: int) -> bool:
    """Whether a name that is bound nowhere in the text is bound nowhere, and one could be bound at this place."""
    data = tree.data
    if len(data) > MAX_FILE_BYTES or MEMBER_ACCESS.search(data, max(0, offset - MAX_WORD_BYTES), offset):
        return False
    if (tree.language.id == "python" and b"import *" in data) or text_kind_at(tree, offset) != "code":
        return False
    held = (node.type for node in nodes_around(tree.root, offset, offset) if node.start_byte < offset < node.end_byte)
    return next((kind for kind in held if kind in FUNCTION_NODES | BRACKET_NODES), "") not in BRACKET_NODES


def _function_end(tree: SyntaxTree, offset: int, end: int, function: Scope) -> int:
    """Where what is below is no more of the function: in a broken text it may seem to be longer."""
    document, head = tree.document, indent_width(_line_at(tree, function.start))
    for n in range(document.line_of(offset) + 1, len(document.starts)):
        line, start = document.line(n), document.starts[n]
        if start >= end:
            break
        if line.strip() and indent_width(line) <= head and not line.lstrip().startswith((b")", b"}", b"]", b"{")):
            return start
    return end


def _iter_unbound(tree: SyntaxTree, above: tuple[int, int], below: tuple[int, int], last: int) -> Iterator[str]:
    left, bound = iter(range(MAX_OCCURRENCES)), GLOBAL_NAMES[tree.language.id] | _declared_words(tree, below)
    for name in _used_names(tree, below):
        if name in bound or (name.startswith("__") and name.endswith("__")):
            continue
        # beside a hole a keyword may be read as a name
        if grammar(tree.language).id_for_node_kind(name, False) is not None:
            continue
        own = re.compile(rb"(?:(?<![\w.$:])|(?<=\.\.)|(?<=[^:]:))%s(?![\w$])" % re.escape(encode(name)))
        parts = (above, (below[1], last))
        if any(_occurs_in_code(tree, own, part, left) for part in parts) or _occurs_at_top_level(
            tree, name, (above[0], last), left
        ):
            continue
        yield name


def _used_names(tree: SyntaxTree, within: tuple[int, int]) -> list[str]:
    """Bare names in these bytes that nothing binds there, the first first."""
    # what is called, and what begins with a capital, is mostly declared elsewhere where that needs no import
    python = tree.language.id == "python"
    uses: dict[int, str] = {}
    others: set[int] = set()
    bound: set[str] = set()
    # `referred` reads what is before each name, which takes long where there are many calls behind each other
    for nodes in matches(tree.language, "references", tree.root, within):
        here = ((kind, node) for kind, found in nodes.items() for node in found if _starts_in(node, within))
        for kind, node in here:
            at, name = node.start_byte, decode(tree.data[node.start_byte : node.end_byte])
            if kind == "bound":
                bound.add(name)
            elif kind in ("use", "call") and "receiver" not in nodes:
                uses[at] = name
                if (kind == "call" and not python) or (node.parent and node.parent.type in AMBIGUOUS_PARENTS):
                    others.add(at)
            elif kind != "receiver":
                others.add(at)
    likely = (name for at, name in sorted(uses.items()) if at not in others and _is_bare(tree.data, at, name))
    return [name for name in dict.fromkeys(likely) if name not in bound and (python or not name[:1].isupper())]


def _starts_in(node: Node, within: tuple[int, int]) -> bool:
    """Whether it begins there, and is no name that a broken text misses."""
    return within[0] <= node.start_byte < within[1] and node.start_byte < node.end_byte


def _is_bare(data: bytes, at: int, name: str) -> bool:
    """No member of something, and no beginning of a path."""
    end = at + len(encode(name))
    before = data[max(0, at - 3) : at]
    return (not before.endswith((b".", b"::")) or before == b"...") and not data.startswith((b"::", b"!"), end)


def _declared_words(tree: SyntaxTree, within: tuple[int, int]) -> set[str]:
    """What is declared and imported in these bytes, and words of where from."""
    found, brought = find_declarations(tree.language, tree.data, tree.root, within)
    words = {word for one in brought for word in (one.alias, one.name, *re.findall(r"\w+", one.module))}
    return words | {one.name for one in found if within[0] <= one.name_start < within[1]}


def _occurs_in_code(tree: SyntaxTree, name: re.Pattern[bytes], within: tuple[int, int], left: Iterator[int]) -> bool:
    """Whether it is in these bytes, and not in a string or a comment alone."""
    return any(
        next(left, None) is None or _is_code_token(tree, *found.span()) for found in name.finditer(tree.data, *within)
    )


def _is_code_token(tree: SyntaxTree, start: int, end: int) -> bool:
    kinds = " ".join(node.type for node in nodes_around(tree.root, start, end)[:2])
    return not any(word in kinds for word in ("string", "comment", "template"))


def _occurs_at_top_level(tree: SyntaxTree, name: str, function: tuple[int, int], left: Iterator[int]) -> bool:
    """Whether it is written outside of all functions: what is in another one is mostly that one's own."""
    word = re.compile(rb"(?<![\w.$])%s(?![\w$])" % re.escape(encode(name)))
    for part in ((0, function[0]), (function[1], len(tree.data))):
        for found in word.finditer(tree.data, *part):
            if next(left, None) is None or (
                _is_code_token(tree, *found.span()) and not _is_in_function(tree, found.start())
            ):
                return True
    return False


def _is_in_function(tree: SyntaxTree, at: int) -> bool:
    """Whether it is in a function, and not its name; in Python also in a class, whose names are no bare ones in its functions."""
    kinds = FUNCTION_NODES | {"class_definition"}
    named = [node.child_by_field_name("name") for node in nodes_around(tree.root, at, at + 1) if node.type in kinds]
    return any(not (one and one.start_byte <= at < one.end_byte) for one in named)


def _opens_block(data: bytes, offset: int, unit: int) -> bool:
    """Whether the lines below are those of a block that does not begin yet: they are further in."""
    start = data.rfind(b"\n", 0, offset) + 1
    begun = data[start:offset]
    above = data[max(0, start - MAX_BYTES_BELOW) : start].rstrip()
    last = above[above.rfind(b"\n") + 1 :]
    further = last.endswith((b":", b"{", b"(", b"[")) - bool(BLOCK_EXIT.match(last))
    own = indent_width(begun) if begun else indent_width(last) + unit * further
    # what stands behind a cursor at the beginning of a line is below it
    lines = data[offset : offset + MAX_BYTES_BELOW].split(b"\n")[bool(begun) :]
    inked = [line for line in lines if line.strip()]
    behind = next((line for line in inked if indent_width(line) <= own), b"").lstrip()
    if not inked or indent_width(inked[0]) <= own or inked[0].lstrip().startswith((b".", b"?", b"|", b"&")):
        return False
    return not behind.startswith((b")", b"]", b"};", b"},", b"})"))


def _indent_unit(tree: SyntaxTree, function: Scope) -> int:
    """How far the body of a function is further in than its head."""
    head, body = (indent_width(_line_at(tree, at)) for at in (function.start, function.body_start))
    begun = tree.data.find(b"\n", max(function.start, function.body_start - 1)) + 1
    lines = (line for line in tree.data[begun : begun + MAX_BYTES_BELOW].split(b"\n") if line.strip())
    inner = body if body > head else next(map(indent_width, lines), head)
    return max(1, inner - head)


def _line_at(tree: SyntaxTree, at: int) -> bytes:
    """The line that byte is on."""
    return tree.document.line(tree.document.line_of(at))
