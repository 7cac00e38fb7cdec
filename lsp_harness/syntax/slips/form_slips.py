"""Slips in the form of an expression or of a block: one too many, a negation, an order, a level of indentation."""

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from lsp_harness.syntax.names.binding_nodes import FUNCTION_NODES
from lsp_harness.syntax.names.calls import ARGUMENT_NODES, CALL_NODES, NON_POSITIONAL_NODES
from lsp_harness.syntax.slips.code_parts import (
    BINARY_NODES,
    CONDITIONAL_NODES,
    SUBSCRIPT_NODES,
    CodePart,
    SlipPlace,
    is_block,
    is_use,
    walk_parts,
)
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

ORDERED = frozenset({"<", ">", "<=", ">=", "==", "!="})
UNEQUAL_OPERANDS = frozenset({"-", "/", "//", "%", "**", "<<", ">>", "+", "in"})
"""Operators whose operands may not be swapped without another result."""
NOT_COUNTED = frozenset(
    {"string", "slice", "integer", "number", "boolean_operator", "comparison_operator", "list", "dictionary", "tuple"}
    | {"template_string", "none", "null", "true", "false", "float", "unary_operator"}
)
"""Nodes to which one is not added."""
CONDITION_PARENTS = frozenset({"if_clause", "assert_statement", "boolean_operator"})
GROUPS = ARGUMENT_NODES | {"tuple", "expression_list", "pattern_list", "array"}
"""Nodes whose parts have an order."""
LEAVING = frozenset({"return_statement", "raise_statement", "throw_statement", "break_statement", "continue_statement"})
MAX_RETURNED_NAMES, MAX_RETURNED_LOCALS = 3, 8
NOTHING = frozenset({"none", "null", "undefined"})
"""Nodes of values that say that there is none."""
PARAMETER_PARENTS = frozenset(
    {"parameters", "typed_parameter", "default_parameter", "typed_default_parameter", "formal_parameters"}
    | {"required_parameter", "optional_parameter"}
)
"""Nodes around the names of parameters."""
MAX_MOVED_LINES = 8
"""Most lines of a statement that is moved."""


def shift_by_one(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the bounds, indexes and lengths with one added or taken away, and those without a one."""
    for part in place.parts:
        rank = _rate_count(part)
        if rank is not None and part.node.type not in NOT_COUNTED:
            yield rank, (part.replace(f"{part.text} + 1"),)
            yield rank, (part.replace(f"{part.text} - 1"),)
        left, right = (part.node.child_by_field_name(name) for name in ("left", "right"))
        if part.node.type in ("binary_operator", "binary_expression") and left and right and right.text == b"1":
            # likelier than `+ 0`, which does the same
            yield -1.0, (part.replace(decode(left.text or b"")),)


def _rate_count(part: CodePart) -> float | None:
    """Return how unlikely it is that one is missing at a part, or None if it is no count."""
    node, parent = part.node, part.parent
    if parent is None or not node.is_named:
        return None
    if part.field in ("subscript", "index") or parent.type == "slice":
        return 0.0
    if parent.type in ARGUMENT_NODES and (call := parent.parent):
        function = call.child_by_field_name("function")
        if function and function.text == b"range":
            return 0.0
        return 0.5 if node.type == "identifier" else 1.5
    if parent.type in ("comparison_operator", "binary_expression") and node != parent.children[0]:
        operator = node.prev_sibling
        return 0.3 if operator and decode(operator.text or b"") in ORDERED else None
    if node.type in CALL_NODES and (node.text or b"").startswith(b"len("):
        return 0.3
    return 1.0 if parent.type == "return_statement" and node.type in ("identifier", "call") else None


def negate(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the conditions with a negation, and the values with a sign."""
    is_word = place.tree.language.block == "indent"
    for part in place.parts:
        node, parent = part.node, part.parent
        if parent is None or not node.is_named:
            continue
        is_condition = part.field == "condition" or parent.type in CONDITION_PARENTS
        if node.type == "parenthesized_expression" and part.field == "condition" and not is_word:
            yield 0.0, (part.replace(f"(!{part.text})"),)
        elif is_condition and node.type != "not_operator":
            is_compound = node.type in BINARY_NODES | CONDITIONAL_NODES
            inner = f"({part.text})" if is_compound else part.text
            yield 0.0 if part.field == "condition" else 0.5, (part.replace(f"not {inner}" if is_word else f"!{inner}"),)
        elif parent.type == "return_statement" and node.type not in NOT_COUNTED:
            yield 1.5, (part.replace(f"not {part.text}" if is_word else f"!({part.text})"),)
        if parent.type in ARGUMENT_NODES | {"return_statement"} and (is_use(part) or node.type == "integer"):
            yield 1.5, (part.replace(f"-{part.text}"),)


def swap_parts(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the swaps of two arguments, of the operands of an operator, or of two parts of a tuple."""
    for part in place.parts:
        node = part.node
        if node.type in GROUPS:
            plain = [child for child in node.named_children if child.type not in NON_POSITIONAL_NODES]
            for first, second in pairwise(plain):
                yield 0.0 if node.type in ARGUMENT_NODES else 1.0, _swap(first, second)
            values = [child.child_by_field_name("value") for child in node.named_children]
            for first, second in pairwise([value for value in values if value]):
                yield 0.5, _swap(first, second)
        elif node.type in BINARY_NODES and len(node.named_children) == 2:
            first, second = node.named_children
            operator = decode(place.tree.data[first.end_byte : second.start_byte]).strip()
            if operator in UNEQUAL_OPERANDS:
                yield 0.5 if operator != "+" else 1.0, _swap(first, second)
        elif node.type in SUBSCRIPT_NODES and node.children and node.children[0].type in SUBSCRIPT_NODES:
            indexes = [one.child_by_field_name("subscript") for one in (node.children[0], node)]
            if indexes[0] and indexes[1]:
                yield 1.0, _swap(indexes[0], indexes[1])


def _swap(first: Node, second: Node) -> tuple[Edit, ...]:
    if first.text == second.text:
        return ()
    return (
        Edit(first.start_byte, first.end_byte, second.text or b""),
        Edit(second.start_byte, second.end_byte, first.text or b""),
    )


def add_return(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the returns that are missing: before a value that nobody uses, at the end of a function, and of a name in
    place of nothing.
    """
    node, function = place.node, place.vocabulary.find_function(place.statement.start)
    if node is None or function is None:
        return
    if node.type == "return_statement":
        yield from _return_names(place, node, function)
        return
    value = next(iter(node.named_children), None) if node.type == "expression_statement" else None
    if value and "assignment" not in value.type and value.type not in ("string", "await", "yield"):
        yield 0.0, (Edit(node.start_byte, node.start_byte, b"return "),)
    block = node.parent
    is_last = node.next_named_sibling is None and block and block.parent and block.parent.type in FUNCTION_NODES
    if is_last and node.type not in LEAVING and place.tree.language.block == "indent":
        indent = " " * place.indent_width
        uses = place.vocabulary.names
        bound = {part.text: part.node.start_byte for part in _walk_targets(place, function) if part.text in uses}
        for rank, name in enumerate(sorted(bound, key=lambda name: -bound[name])[:MAX_RETURNED_NAMES]):
            yield rank / 2, (Edit(node.end_byte, node.end_byte, encode(f"\n{indent}return {name}")),)


def _return_names(place: SlipPlace, node: Node, function: Span) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the names of the function in place of the nothing that a statement returns."""
    value = next(iter(node.named_children), None)
    if value is not None and value.type not in NOTHING:
        return
    bound = {
        part.text: part.node.start_byte
        for part in walk_parts(place.tree.root, Span(function.start, node.start_byte))
        if part.node.type == "identifier" and _is_bound(part)
    }
    names = sorted(bound, key=lambda name: -bound[name])[:MAX_RETURNED_LOCALS]
    for rank, name in enumerate(names):
        edit = Edit(value.start_byte, value.end_byte, encode(name)) if value else None
        yield rank / 4, (edit or Edit(node.start_byte, node.end_byte, encode(f"return {name}")),)


def _is_bound(part: CodePart) -> bool:
    """Return whether a part is the name of a local variable, a parameter or an inner function."""
    parent = part.parent
    if parent is None:
        return False
    if parent.type in PARAMETER_PARENTS:
        return part.field not in ("type", "value")
    return (part.field == "left" and parent.type == "assignment") or (
        part.field == "name" and (parent.type in FUNCTION_NODES or parent.type == "variable_declarator")
    )


def _walk_targets(place: SlipPlace, function: Span) -> Iterator[CodePart]:
    for part in walk_parts(place.tree.root, function):
        parent = part.parent
        if part.node.type == "identifier" and parent and parent.type == "assignment" and part.field == "left":
            yield part


def move_statement(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the statement out of its block, in the block above it, or behind the next statement."""
    node, tree = place.node, place.tree
    block = node.parent if node else None
    if not node or not block or not is_block(block):
        return
    first, last = tree.document.line_of(node.start_byte), tree.document.line_of(max(node.start_byte, node.end_byte - 1))
    starts = tree.document.line_starts
    if last - first >= MAX_MOVED_LINES or tree.data[starts[first] : node.start_byte].strip():
        return
    if tree.language.block == "indent":
        yield from _indent(place, node, block, range(first, last + 1))
    following = node.next_named_sibling
    if following and tree.document.line_of(following.start_byte) == last + 1:
        size = tree.data.count(b"\n", following.start_byte, following.end_byte) + 1
        if size < MAX_MOVED_LINES:
            yield 0.5, _swap(node, following)


def _indent(place: SlipPlace, node: Node, block: Node, lines: range) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    starts, data = place.tree.document.line_starts, place.tree.data
    outer, above, width = block.parent, node.prev_named_sibling, place.indent_width
    if outer and outer.type not in FUNCTION_NODES and outer.type != "class_definition" and above:
        unit = width - (outer.start_byte - starts[place.tree.document.line_of(outer.start_byte)])
        if 0 < unit <= width and node.next_named_sibling is None:
            yield 0.0, tuple(Edit(starts[line], starts[line] + unit, b"") for line in lines)
    inner = next((child for child in reversed(above.children) if is_block(child)), None) if above else None
    if above and inner and inner.named_children and inner.start_byte > above.start_byte:
        first = inner.named_children[0]
        unit = first.start_byte - starts[place.tree.document.line_of(first.start_byte)] - width
        if unit > 0 and not data[starts[lines.start] :].startswith(b"\n"):
            yield 0.5, tuple(Edit(starts[line], starts[line], b" " * unit) for line in lines)
