"""The removal of unused variables and of statements that are never reached.

Code that may have an effect stays: the call in `x = f()` becomes a statement of its own.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from lsp_harness.syntax.names.binding_nodes import FUNCTION_NODES
from lsp_harness.syntax.names.calls import CALL_NODES
from lsp_harness.syntax.names.occurrences import Occurrence, find_occurrences, occurrence_at
from lsp_harness.syntax.removal.removed_lines import (
    KEEP_VALUE_COST,
    NAME_COST,
    PREFIX_COST,
    STATEMENT_COST,
    Removal,
    descendants,
    remove_list_item,
    remove_statements,
)
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode

EFFECT_NODES = CALL_NODES | frozenset(
    {"await", "await_expression", "yield", "yield_expression", "assignment_expression"}
    | {
        "augmented_assignment_expression",
        "update_expression",
        "macro_invocation",
        "named_expression",
        "send_statement",
        "throw_expression",
        "delete",
    }
    | {"try_expression", "postfix_unary_expression", "include_expression", "require_expression", "exit_statement"}
    | {"assignment", "operator_assignment", "augmented_assignment", "super", "command_call", "unary_expression_receive"}
)
"""Expressions that may have an effect."""
HARMLESS_CALL = re.compile(
    rb"(?:(?:list|dict|set|tuple|frozenset|str|int|float|bool|object|Vec::new|String::new|Symbol)\(\)"
    rb"|require\([^()]*\))\Z"
)
"""Calls without an effect: those that make an empty value, and imports with a name. A module that is imported for its
effect gets no name."""
DECLARATION_NODES = frozenset(
    {"lexical_declaration", "variable_declaration", "short_var_declaration", "var_declaration", "let_declaration"}
    | {"local_variable_declaration", "local_declaration_statement", "declaration", "expression_statement", "assignment"}
)
"""Statements that may bind a variable."""
DECLARATOR_NODES = frozenset(
    {"variable_declarator", "init_declarator", "var_spec", "assignment", "assignment_expression"}
)


def remove_unused_variable(tree: SyntaxTree, span: Span, name: str) -> list[Removal]:
    """Return ways to remove a variable that nothing reads, the cheapest first.

    Args:
        tree: The tree of the text.
        span: The bytes of the binding of the variable.
        name: The name of the variable.
    """
    binding = occurrence_at(tree, span)
    if binding is None or not binding.is_binding or binding.role not in ("variable", "parameter", "function"):
        return []
    path = nodes_around(tree.root, *span)
    if any(node.type in FUNCTION_NODES and node.child_by_field_name("name") == path[0] for node in path[1:3]):
        return []
    removals = [*_remove_binding_statement(tree, path, binding, name), *_remove_from_pattern(tree, path, binding, name)]
    return sorted(removals, key=lambda removal: removal.cost)


def _remove_binding_statement(tree: SyntaxTree, path: list[Node], binding: Occurrence, name: str) -> Iterator[Removal]:
    statement = next((node for node in path if node.type in DECLARATION_NODES and not _is_inner(node)), None)
    if statement is None or binding.role == "parameter":
        return
    inner = [node for node in path if node.start_byte >= statement.start_byte and node.end_byte <= statement.end_byte]
    if any("pattern" in node.type or node.type.endswith("_assignment_list") for node in inner):
        return
    if any(node.type == "expression_list" and node.named_child_count > 1 for node in inner):
        return
    if any(node.type in FUNCTION_NODES for node in inner):
        return
    other_edits = _remove_assignments(tree, binding, name)
    if other_edits is None:
        return
    declarators = [*_list_declarators(statement)]
    value = _find_value(next((node for node in inner if node.type in DECLARATOR_NODES), statement))
    if len(declarators) > 1:
        declarator = next((node for node in declarators if node in inner), None)
        if declarator and (value is None or is_pure(value)):
            yield Removal((remove_list_item(tree, declarator), *other_edits), NAME_COST)
        return
    if value is None or is_pure(value):
        yield Removal((*remove_statements(tree, statement), *other_edits), STATEMENT_COST)
    else:
        keep_value = Edit(statement.start_byte, value.start_byte, b"")
        yield Removal(
            (keep_value, *other_edits), KEEP_VALUE_COST + 2 * PREFIX_COST * tree.language.names.prefers_underscore
        )


def _is_inner(node: Node) -> bool:
    """Return whether a node is only a part of a statement, as a `variable_declaration` of C# is."""
    parent = node.parent
    return bool(parent and parent.type in ("expression_statement", "local_declaration_statement", "field_declaration"))


def _list_declarators(statement: Node) -> Iterator[Node]:
    for parent in (statement, *(node for node in statement.named_children if node.type == "variable_declaration")):
        for child in parent.named_children:
            if child.type in DECLARATOR_NODES or child in parent.children_by_field_name("declarator"):
                yield child


def _find_value(node: Node) -> Node | None:
    if node.type == "expression_statement":
        inner = next(iter(node.named_children), None)
        return _find_value(inner) if inner else None
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None and node.type == "variable_declarator" and node.named_child_count > 1:
        # In C# the value is not a field of the node.
        last = node.named_children[-1]
        value = last if last != node.child_by_field_name("name") else None
    if value and value.type == "expression_list" and value.named_child_count == 1:
        value = next(iter(value.named_children), value)
    return value


def _remove_assignments(tree: SyntaxTree, binding: Occurrence, name: str) -> tuple[Edit, ...] | None:
    """Return the edits that remove all other assignments to a variable, or None if it is used in another way."""
    if tree.language.names.assignments_declare:
        return ()
    edits: list[Edit] = []
    for occurrence in find_occurrences(tree, name, binding.scope):
        if occurrence.span == binding.span or occurrence.role in ("member", "key"):
            continue
        if occurrence.is_binding and occurrence.scope != binding.scope:
            continue
        path = nodes_around(tree.root, *occurrence.span)
        statement = next((node for node in path if node.type in ("expression_statement", "assignment_statement")), None)
        value = _find_value(statement) if statement else None
        first = next(iter(statement.named_children), None) if statement else None
        left = (first.child_by_field_name("left") if first else None) or (
            statement.child_by_field_name("left") if statement else None
        )
        if (
            statement is None
            or value is None
            or left is None
            or left.byte_range != tuple(occurrence.span)
            or not is_pure(value)
        ):
            return None
        edits += remove_statements(tree, statement)
    return tuple(edits)


def is_pure(node: Node) -> bool:
    """Return whether an expression certainly has no effect, judged by its form."""
    for part in (node, *descendants(node, FUNCTION_NODES)):
        if part.type in EFFECT_NODES and not HARMLESS_CALL.match(part.text or b""):
            return False
        if part.type == "unary_expression" and (part.text or b"").startswith(b"<-"):
            return False
    return True


def _remove_from_pattern(tree: SyntaxTree, path: list[Node], binding: Occurrence, name: str) -> Iterator[Removal]:
    """Remove one of several names that are bound together, or mark the variable of a loop or a parameter as unused."""
    traits, leaf = tree.language.names, path[0]
    if alias := next((node for node in path if node.type == "as_pattern_target"), None):
        if alias.byte_range == leaf.byte_range and alias.prev_sibling and alias.prev_sibling.prev_sibling:
            yield Removal((Edit(alias.prev_sibling.prev_sibling.end_byte, alias.end_byte, b""),), STATEMENT_COST)
        return
    if traits.blank_name:
        yield from _blank_name(tree, path)
        return
    if leaf.type == "shorthand_property_identifier_pattern" and (pattern := leaf.parent):
        has_rest = any(child.type == "rest_pattern" for child in pattern.named_children)
        if not has_rest and pattern.named_child_count > 1:
            yield Removal((remove_list_item(tree, leaf),), NAME_COST)
        return
    if (
        not traits.allows_underscore
        or name.startswith("_")
        or (traits.parameters_are_keywords and binding.role == "parameter")
    ):
        return
    others = (other for other in find_occurrences(tree, name, binding.scope) if other.span != binding.span)
    if any(other.scope == binding.scope for other in others):
        return
    is_shorthand = leaf.type == "shorthand_field_identifier" and any(node.type == "field_pattern" for node in path[1:2])
    new_text = f"{name}: _" if is_shorthand else f"_{name}"
    yield Removal((Edit(*binding.span, encode(new_text)),), PREFIX_COST)


def _blank_name(tree: SyntaxTree, path: list[Node]) -> Iterator[Removal]:
    """Replace one of several names by the blank identifier, or remove it from a `range` clause."""
    names = next((node for node in path if node.type == "expression_list"), None)
    binder = names.parent if names else None
    if names is None or binder is None or binder.child_by_field_name("left") != names:
        return
    blank = encode(tree.language.names.blank_name)
    others = [node for node in names.named_children if node != path[0]]
    if binder.type == "range_clause" and others and path[0] == names.named_children[-1]:
        yield Removal((Edit(names.named_children[-2].end_byte, path[0].end_byte, b""),), NAME_COST)
    elif binder.type == "range_clause" and not others:
        right = tree.data.find(b"range", names.end_byte)
        yield Removal((Edit(names.start_byte, right, b""),), NAME_COST)
    elif others:
        edits = [Edit(*path[0].byte_range, blank)]
        if binder.type == "short_var_declaration" and all(node.text == blank for node in others):
            # `:=` needs at least one new name.
            operator = tree.data.find(b":=", names.end_byte)
            edits.append(Edit(operator, operator + 2, b"="))
        yield Removal(tuple(edits), NAME_COST)


def remove_unreachable(tree: SyntaxTree, span: Span) -> list[Removal]:
    """Return the removal of the statements from a place to the end of their block.

    There is none if a function or a `case` is among them: code above may call the function, and a `case` can be
    reached.
    """
    path = nodes_around(tree.root, span.start, span.start + 1)
    for node, parent in pairwise(path):
        if parent.type not in STATEMENT_LIST_NODES:
            continue
        following = [n for n in parent.named_children if n.start_byte >= node.start_byte and not n.is_extra]
        removable = [n for n in following if n.type not in FUNCTION_NODES and "case" not in n.type]
        if not removable or removable[0] != node or len(removable) != len(following):
            return []
        return [Removal(remove_statements(tree, removable[0], removable[-1]), STATEMENT_COST)]
    return []


STATEMENT_LIST_NODES = frozenset(
    {"block", "statement_block", "statement_list", "compound_statement", "body_statement", "constructor_body", "then"}
    | {"switch_case", "switch_default", "module", "program", "source_file", "case_statement", "block_body"}
)
"""Nodes whose children are statements that run one after the other."""
