"""The names that the code below a place in a function uses but nothing binds.

The user is probably about to bind them there.

A name is reported only if it is certainly unbound. It is left out if it occurs anywhere above in the function, at the
top level of the file, or as a variable further down. Nothing is reported if the text leaves a doubt.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.grammars import grammar
from lsp_harness.syntax.scope import Scope, enclosing_function, indent_width
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.text_kind import text_kind_at
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.syntax.tree_query import matches
from lsp_harness.text.position import decode, encode

MEMBER_ACCESS = re.compile(rb"(?:(?<!\.)\.|::)[ \t]*[\w\x80-\xff]*\Z")
MAX_WORD_BYTES = 100
"""How far before the cursor a member access is searched for."""
BLOCK_EXIT = re.compile(rb"\s*(?:return|raise|throw|break|continue)\b")
"""A statement that ends a block: the next line is indented less."""
MAX_FILE_BYTES = 500_000
"""No names are reported for a larger file, as it is generated or minified."""
MAX_BYTES_ABOVE, MAX_BYTES_BELOW = 50_000, 3_000
"""How much of the enclosing function is read before and after the cursor. If more is before it, no names are
reported."""
MAX_NAMES = 4
"""How many names are reported; those that are used first."""
MAX_CANDIDATES = 8
"""If more names are unbound, none is reported: their bindings are probably missing above or could not be parsed."""
MAX_OCCURRENCES = 60
"""How many occurrences of all names together are examined. A name that occurs more often is probably bound
somewhere."""
FUNCTION_NODES = frozenset(
    {"function_definition", "lambda", "function_declaration", "generator_function_declaration"}
    | {"function_expression", "generator_function", "arrow_function", "method_definition", "function_signature"}
    | {"method_signature", "function_item", "closure_expression"}
)
"""Nodes that have their own names. They include lambdas, which `scopes.scm` leaves out."""
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
"""Nodes that cannot contain a statement."""
SEQUENTIAL_BINDINGS = frozenset({"assignment", "for_statement"})
"""Statements of Python that bind a name from there on. A name that they bind is missing above if it is read before."""
CONDITIONAL_NODES = frozenset({"block", "conditional_expression", "boolean_operator", "list_comprehension"}) | {
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
}
"""Nodes of Python whose content need not be evaluated, or has names of its own."""
AMBIGUOUS_PARENTS = frozenset(
    {"token_tree", "attribute", "label", "index_signature", "jsx_namespace_name", "function_expression"}
)
"""Parent nodes in which a use cannot be distinguished from something else."""


@dataclass(frozen=True, slots=True)
class MissingNames:
    """Names that the code below a place needs and nothing binds.

    Attributes:
        names: The names, in the order in which they are used.
        place: What binds them there: a statement, the head of a block that is missing, or a parameter.
        keyword: The keyword of a statement that binds a variable, or an empty text.
    """

    names: tuple[str, ...] = ()
    place: Literal["statement", "block head", "parameter"] = "statement"
    keyword: str = ""

    @property
    def bindings(self) -> tuple[str, ...]:
        """The starts of what binds them: `total`, `const total`, or ` total` where the head of a block is missing."""
        start = {"statement": f"{self.keyword} ".lstrip(), "block head": " ", "parameter": ""}[self.place]
        return (*(f"{start}{name}" for name in self.names),)


NO_NAMES = MissingNames()


def find_missing_names(tree: SyntaxTree, offset: int) -> MissingNames:
    """Return the names that the code below uses but nothing binds.

    There are none at the top level, behind a dot, in brackets, and in languages without the trait `global_names`.

    Args:
        tree: The tree of the file.
        offset: The byte offset of the cursor.
    """
    function = _function_around(tree, offset)
    if function is None or not (names := _unbound_in(tree, offset, function)):
        return NO_NAMES
    # While the head is being typed, the body that the parser found may start further down.
    in_head = offset < function.body_start and not tree.data[function.start : offset].rstrip().endswith((b":", b"{"))
    if in_head:
        return MissingNames(names, "parameter")
    if _opens_block(tree.data, offset, _indent_unit(tree, function)):
        return MissingNames(names, "block head")
    return MissingNames(names, "statement", tree.language.names.binding_keyword)


def _function_around(tree: SyntaxTree, offset: int) -> Scope | None:
    """Return the function around a place at which a name could be bound."""
    # The language is checked first, as this runs for every keystroke.
    if tree.language.names.global_names is None:
        return None
    function = enclosing_function(tree, offset)
    return function if function and offset < function.end and _can_bind_at(tree, offset) else None


def _unbound_in(tree: SyntaxTree, offset: int, function: Scope) -> tuple[str, ...]:
    outer = [node for node in nodes_around(tree.root, function.start, function.start) if node.type in FUNCTION_NODES]
    start = min([function.start, *(node.start_byte for node in outer)])
    last = max([function.end, *(node.end_byte for node in outer)])
    if offset - start > MAX_BYTES_ABOVE:
        return ()
    end = _function_end(tree, offset, min(function.end, offset + MAX_BYTES_BELOW), function)
    candidates = [*islice(_iter_unbound(tree, (start, offset), (offset, end), last), MAX_CANDIDATES + 1)]
    return (*candidates[:MAX_NAMES],) if len(candidates) <= MAX_CANDIDATES else ()


def _can_bind_at(tree: SyntaxTree, offset: int) -> bool:
    """Return whether a name could be bound at a place, and the text shows for certain which names are unbound."""
    data = tree.data
    if len(data) > MAX_FILE_BYTES or MEMBER_ACCESS.search(data, max(0, offset - MAX_WORD_BYTES), offset):
        return False
    if ((wildcard := tree.language.imports.wildcard) and wildcard in data) or text_kind_at(tree, offset) != "code":
        return False
    nodes = (node for node in nodes_around(tree.root, offset, offset) if node.start_byte < offset < node.end_byte)
    innermost = next((node.type for node in nodes if node.type in FUNCTION_NODES | BRACKET_NODES), "")
    return innermost not in BRACKET_NODES


def _function_end(tree: SyntaxTree, offset: int, end: int, function: Scope) -> int:
    """Return where the function ends by its indentation: in a text with errors the parser may see a longer function."""
    document, head_indent = tree.document, indent_width(_line_at(tree, function.start))
    for number in range(document.line_of(offset) + 1, len(document.line_starts)):
        line, start = document.line(number), document.line_starts[number]
        if start >= end:
            break
        is_outside = line.strip() and indent_width(line) <= head_indent
        if is_outside and not line.lstrip().startswith((b")", b"}", b"]", b"{")):
            return start
    return end


def _iter_unbound(tree: SyntaxTree, above: tuple[int, int], below: tuple[int, int], last: int) -> Iterator[str]:
    budget = iter(range(MAX_OCCURRENCES))
    bound = (tree.language.names.global_names or frozenset()) | _declared_words(tree, below)
    for name in _used_names(tree, below):
        if name in bound or (name.startswith("__") and name.endswith("__")):
            continue
        # Next to an incomplete statement the parser may take a keyword for a name.
        if grammar(tree.language).id_for_node_kind(name, False) is not None:
            continue
        pattern = re.compile(rb"(?:(?<![\w.$:])|(?<=\.\.)|(?<=[^:]:))%s(?![\w$])" % re.escape(encode(name)))
        if any(_occurs_in_code(tree, pattern, span, budget) for span in (above, (below[1], last))):
            continue
        if not _occurs_at_top_level(tree, name, (above[0], last), budget):
            yield name


def _used_names(tree: SyntaxTree, byte_range: tuple[int, int]) -> list[str]:
    """Return the bare names that are used before they are bound in a byte range, in the order of their first use."""
    # In languages that need no import for it, a called or capitalized name is mostly declared in another file.
    needs_bindings = tree.language.names.calls_need_bindings
    uses: dict[int, Node] = {}
    excluded: set[int] = set()
    bindings: dict[str, list[Node]] = {}
    # `find_references` is not used: it reads the receiver of each name, which is slow for long chains of calls.
    for nodes in matches(tree.language, "references", tree.root, byte_range):
        captured = ((kind, node) for kind, group in nodes.items() for node in group if _starts_in(node, byte_range))
        for kind, node in captured:
            offset = node.start_byte
            if kind == "bound":
                bindings.setdefault(_read_text(tree, node), []).append(node)
            elif kind in ("use", "call") and "receiver" not in nodes:
                uses[offset] = node
                if (kind == "call" and not needs_bindings) or (node.parent and node.parent.type in AMBIGUOUS_PARENTS):
                    excluded.add(offset)
            elif kind != "receiver":
                excluded.add(offset)
    names: dict[str, None] = {}
    for at, node in sorted(uses.items()):
        name = _read_text(tree, node)
        if at in excluded or name in names or not _is_bare(tree.data, at, name):
            continue
        if all(_is_used_before(node, binding) for binding in bindings.get(name, ())):
            names[name] = None
    return [name for name in names if needs_bindings or not name[:1].isupper()]


def _read_text(tree: SyntaxTree, node: Node) -> str:
    return decode(tree.data[node.start_byte : node.end_byte])


def _is_used_before(use: Node, binding: Node) -> bool:
    """Return whether a name is certainly read before a statement binds it.

    The value of an assignment is read before its target is bound. A use in a block that need not run, or in another
    function, is not certain.
    """
    statement = binding.parent
    if statement is None or statement.type not in SEQUENTIAL_BINDINGS or use.id == binding.id:
        return False
    if use.start_byte >= (statement.end_byte if statement.type == "assignment" else binding.start_byte):
        return False
    node: Node | None = use
    while node and not (node.start_byte <= binding.start_byte and binding.end_byte <= node.end_byte):
        if node.type in FUNCTION_NODES or node.type in CONDITIONAL_NODES:
            return False
        node = node.parent
    return node is not None


def _starts_in(node: Node, byte_range: tuple[int, int]) -> bool:
    """Return whether a node starts in a byte range and is not a missing token of a text with errors."""
    return byte_range[0] <= node.start_byte < byte_range[1] and node.start_byte < node.end_byte


def _is_bare(data: bytes, offset: int, name: str) -> bool:
    """Return whether a name is not a member and does not start a path."""
    end = offset + len(encode(name))
    before = data[max(0, offset - 3) : offset]
    return (not before.endswith((b".", b"::")) or before == b"...") and not data.startswith((b"::", b"!"), end)


def _declared_words(tree: SyntaxTree, byte_range: tuple[int, int]) -> set[str]:
    """Return the names that are declared or imported in a byte range, with the words of the imported modules."""
    declarations, imports = find_declarations(tree.language, tree.data, tree.root, byte_range)
    words = {word for item in imports for word in (item.alias, item.name, *re.findall(r"\w+", item.module))}
    return words | {item.name for item in declarations if byte_range[0] <= item.name_start < byte_range[1]}


def _occurs_in_code(
    tree: SyntaxTree, pattern: re.Pattern[bytes], byte_range: tuple[int, int], budget: Iterator[int]
) -> bool:
    """Return whether a name occurs in the code of a byte range. The answer is also yes if the budget is used up."""
    return any(
        next(budget, None) is None or _is_code_token(tree, *match.span())
        for match in pattern.finditer(tree.data, *byte_range)
    )


def _is_code_token(tree: SyntaxTree, start: int, end: int) -> bool:
    types = " ".join(node.type for node in nodes_around(tree.root, start, end)[:2])
    return not any(word in types for word in ("string", "comment", "template"))


def _occurs_at_top_level(tree: SyntaxTree, name: str, function: tuple[int, int], budget: Iterator[int]) -> bool:
    """Return whether a name occurs outside of all functions. A name in another function is mostly local to it."""
    pattern = re.compile(rb"(?<![\w.$])%s(?![\w$])" % re.escape(encode(name)))
    for byte_range in ((0, function[0]), (function[1], len(tree.data))):
        for match in pattern.finditer(tree.data, *byte_range):
            if next(budget, None) is None:
                return True
            if _is_code_token(tree, *match.span()) and not _is_in_function(tree, match.start()):
                return True
    return False


def _is_in_function(tree: SyntaxTree, offset: int) -> bool:
    """Return whether a name is in a function but is not its name.

    The body of a Python class counts as well, as methods cannot use its names without a receiver.
    """
    types = FUNCTION_NODES | {"class_definition"}
    names = [n.child_by_field_name("name") for n in nodes_around(tree.root, offset, offset + 1) if n.type in types]
    return any(not (name and name.start_byte <= offset < name.end_byte) for name in names)


def _opens_block(data: bytes, offset: int, indent_unit: int) -> bool:
    """Return whether the lines below are the body of a block whose head is missing: they are indented more."""
    line_start = data.rfind(b"\n", 0, offset) + 1
    typed = data[line_start:offset]
    above = data[max(0, line_start - MAX_BYTES_BELOW) : line_start].rstrip()
    last_line = above[above.rfind(b"\n") + 1 :]
    level_change = last_line.endswith((b":", b"{", b"(", b"[")) - bool(BLOCK_EXIT.match(last_line))
    indent = indent_width(typed) if typed else indent_width(last_line) + indent_unit * level_change
    # If the cursor is at the start of a line, the text of that line counts as below.
    lines = data[offset : offset + MAX_BYTES_BELOW].split(b"\n")[bool(typed) :]
    below = [line for line in lines if line.strip()]
    after_block = next((line for line in below if indent_width(line) <= indent), b"").lstrip()
    if not below or indent_width(below[0]) <= indent or below[0].lstrip().startswith((b".", b"?", b"|", b"&")):
        return False
    return not after_block.startswith((b")", b"]", b"};", b"},", b"})"))


def _indent_unit(tree: SyntaxTree, function: Scope) -> int:
    """Return by how many columns the body of a function is indented more than its head."""
    head, body = (indent_width(_line_at(tree, offset)) for offset in (function.start, function.body_start))
    next_line = tree.data.find(b"\n", max(function.start, function.body_start - 1)) + 1
    lines = (line for line in tree.data[next_line : next_line + MAX_BYTES_BELOW].split(b"\n") if line.strip())
    inner = body if body > head else next(map(indent_width, lines), head)
    return max(1, inner - head)


def _line_at(tree: SyntaxTree, offset: int) -> bytes:
    return tree.document.line(tree.document.line_of(offset))
