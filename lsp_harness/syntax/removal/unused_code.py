"""How code that nothing uses is taken away: a variable, and statements that are never reached.

What may do something stays: of `x = f()` the call is kept as a statement of its own.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from lsp_harness.syntax.names.calls import CALL_NODES
from lsp_harness.syntax.names.occurrences import Occurrence, find_occurrences, occurrence_at
from lsp_harness.syntax.names.scope_nodes import FUNCTION_NODES
from lsp_harness.syntax.removal.code_removal import (
    KEEP_VALUE_COST,
    NAME_COST,
    PREFIX_COST,
    STATEMENT_COST,
    Removal,
    descendants,
)
from lsp_harness.syntax.removal.removed_lines import remove_list_item, remove_statements
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode

EFFECT_NODES = CALL_NODES | frozenset(
    {
        "await",
        "await_expression",
        "yield",
        "yield_expression",
        "assignment_expression",
        "augmented_assignment_expression",
    }
    | {"update_expression", "macro_invocation", "named_expression", "send_statement", "throw_expression", "delete"}
    | {"try_expression", "postfix_unary_expression", "include_expression", "require_expression", "exit_statement"}
    | {"assignment", "operator_assignment", "augmented_assignment", "super", "command_call", "unary_expression_receive"}
)
"""Expressions that may do something."""
HARMLESS_CALL = re.compile(
    rb"(?:(?:list|dict|set|tuple|frozenset|str|int|float|bool|object|Vec::new|String::new|Symbol)\(\)|require\([^()]*\))\Z"
)
"""Calls that make an empty value, and imports: a module that is imported for what it does is given no name."""
DECLARATION_NODES = frozenset(
    {"lexical_declaration", "variable_declaration", "short_var_declaration", "var_declaration", "let_declaration"}
    | {"local_variable_declaration", "local_declaration_statement", "declaration", "expression_statement", "assignment"}
)
"""Statements that bind a variable."""
DECLARATOR_NODES = frozenset(
    {"variable_declarator", "init_declarator", "var_spec", "assignment", "assignment_expression"}
)
UNDERSCORE_LANGUAGES = frozenset({"rust", "javascript", "typescript", "tsx", "ruby", "python"})
"""Languages whose tools let a name be that begins with an underscore."""


def remove_unused_variable(tree: SyntaxTree, span: Span, name: str) -> list[Removal]:
    """Ways to get rid of a variable that nothing reads, the surest first."""
    here = occurrence_at(tree, span)
    if here is None or not here.is_binding or here.role not in ("variable", "parameter", "function"):
        return []
    path = nodes_around(tree.root, *span)
    if any(node.type in FUNCTION_NODES and node.child_by_field_name("name") == path[0] for node in path[1:3]):
        return []
    found = [*_remove_binding_statement(tree, path, here, name), *_remove_from_pattern(tree, path, here, name)]
    return sorted(found, key=lambda one: one.cost)


def _remove_binding_statement(tree: SyntaxTree, path: list[Node], here: Occurrence, name: str) -> Iterator[Removal]:
    statement = next((node for node in path if node.type in DECLARATION_NODES and not _is_inner(node)), None)
    if statement is None or here.role == "parameter":
        return
    within = [node for node in path if node.start_byte >= statement.start_byte and node.end_byte <= statement.end_byte]
    if any("pattern" in node.type or node.type.endswith("_assignment_list") for node in within):
        return
    if any(node.type == "expression_list" and node.named_child_count > 1 for node in within):
        return
    if any(node.type in FUNCTION_NODES for node in within):
        return
    others = _remove_assignments(tree, here, name)
    if others is None:
        return
    declarator = next((node for node in within if node.type in DECLARATOR_NODES), None)
    declared = [*_declarators(statement)]
    value = _value(declarator or statement)
    if len(declared) > 1:
        one = next((node for node in declared if node in within), None)
        if one and (value is None or is_pure(value)):
            yield Removal((remove_list_item(tree, one), *others), NAME_COST)
        return
    if value is None or is_pure(value):
        yield Removal((*remove_statements(tree, statement), *others), STATEMENT_COST)
    else:
        kept = Edit(statement.start_byte, value.start_byte, b"")
        # rustc proposes the underscore there
        yield Removal((kept, *others), KEEP_VALUE_COST + 2 * PREFIX_COST * (tree.language.id == "rust"))


def _is_inner(node: Node) -> bool:
    """Parts of a statement that have the kind of one: the `variable_declaration` of C#, an assignment of Python."""
    parent = node.parent
    return bool(parent and parent.type in ("expression_statement", "local_declaration_statement", "field_declaration"))


def _declarators(statement: Node) -> Iterator[Node]:
    inner = [statement, *(one for one in statement.named_children if one.type == "variable_declaration")]
    for one in inner:
        for child in one.named_children:
            if child.type in DECLARATOR_NODES or child in one.children_by_field_name("declarator"):
                yield child


def _value(node: Node) -> Node | None:
    if node.type == "expression_statement":
        inner = next(iter(node.named_children), None)
        return _value(inner) if inner else None
    found = node.child_by_field_name("value") or node.child_by_field_name("right")
    if found is None and node.type == "variable_declarator" and node.named_child_count > 1:
        # C# gives the value no name
        last = node.named_children[-1]
        found = last if last != node.child_by_field_name("name") else None
    if found and found.type == "expression_list" and found.named_child_count == 1:
        found = next(iter(found.named_children), found)
    return found


def _remove_assignments(tree: SyntaxTree, here: Occurrence, name: str) -> tuple[Edit, ...] | None:
    """The edits that take away what else sets the variable; None where something else is done with it."""
    if tree.language.id in ("python", "ruby", "php"):
        return ()
    edits: list[Edit] = []
    for one in find_occurrences(tree, name, here.scope):
        if one.span == here.span or one.role in ("member", "key") or (one.is_binding and one.scope != here.scope):
            continue
        path = nodes_around(tree.root, *one.span)
        statement = next((node for node in path if node.type in ("expression_statement", "assignment_statement")), None)
        value = _value(statement) if statement else None
        first = next(iter(statement.named_children), None) if statement else None
        left = (first.child_by_field_name("left") if first else None) or (
            statement.child_by_field_name("left") if statement else None
        )
        if (
            statement is None
            or value is None
            or left is None
            or left.byte_range != tuple(one.span)
            or not is_pure(value)
        ):
            return None
        edits += remove_statements(tree, statement)
    return tuple(edits)


def is_pure(node: Node) -> bool:
    """Whether an expression does nothing but give a value, as far as its form says."""
    for one in (node, *descendants(node, FUNCTION_NODES)):
        if one.type in EFFECT_NODES and not HARMLESS_CALL.match(one.text or b""):
            return False
        if one.type == "unary_expression" and (one.text or b"").startswith(b"<-"):
            return False
    return True


def _remove_from_pattern(tree: SyntaxTree, path: list[Node], here: Occurrence, name: str) -> Iterator[Removal]:
    """Of several names that are bound at once, or of a loop or a parameter, the one that is not used."""
    language, leaf = tree.language.id, path[0]
    if alias := next((node for node in path if node.type == "as_pattern_target"), None):
        if alias.byte_range == leaf.byte_range and alias.prev_sibling and alias.prev_sibling.prev_sibling:
            yield Removal((Edit(alias.prev_sibling.prev_sibling.end_byte, alias.end_byte, b""),), STATEMENT_COST)
        return
    if language == "go":
        yield from _blank_go_name(tree, path)
        return
    if leaf.type == "shorthand_property_identifier_pattern" and (pattern := leaf.parent):
        if not any(one.type == "rest_pattern" for one in pattern.named_children) and pattern.named_child_count > 1:
            yield Removal((remove_list_item(tree, leaf),), NAME_COST)
        return
    if (
        language not in UNDERSCORE_LANGUAGES
        or name.startswith("_")
        or (language == "python" and here.role == "parameter")
    ):
        return
    if any(one.span != here.span and one.scope == here.scope for one in find_occurrences(tree, name, here.scope)):
        return
    shorthand = any(node.type == "field_pattern" for node in path[1:2]) and leaf.type == "shorthand_field_identifier"
    new = f"{name}: _" if shorthand else f"_{name}"
    yield Removal((Edit(*here.span, encode(new)),), PREFIX_COST)


def _blank_go_name(tree: SyntaxTree, path: list[Node]) -> Iterator[Removal]:
    listed = next((node for node in path if node.type == "expression_list"), None)
    binder = listed.parent if listed else None
    if listed is None or binder is None or binder.child_by_field_name("left") != listed:
        return
    others = [one for one in listed.named_children if one != path[0]]
    blank = all(one.text == b"_" for one in others)
    if binder.type == "range_clause" and others and path[0] == listed.named_children[-1]:
        yield Removal((Edit(listed.named_children[-2].end_byte, path[0].end_byte, b""),), NAME_COST)
    elif binder.type == "range_clause" and not others:
        right = tree.data.find(b"range", listed.end_byte)
        yield Removal((Edit(listed.start_byte, right, b""),), NAME_COST)
    elif others:
        edits = [Edit(*path[0].byte_range, b"_")]
        if blank and binder.type == "short_var_declaration":
            sign = tree.data.find(b":=", listed.end_byte)
            edits.append(Edit(sign, sign + 2, b"="))
        yield Removal(tuple(edits), NAME_COST)


def remove_unreachable(tree: SyntaxTree, span: Span) -> list[Removal]:
    """The statements from a place to the end of their block, without functions, which are seen from above."""
    path = nodes_around(tree.root, span.start, span.start + 1)
    for node, parent in pairwise(path):
        if parent.type not in STATEMENT_LIST_NODES:
            continue
        following = [one for one in parent.named_children if one.start_byte >= node.start_byte and not one.is_extra]
        gone = [one for one in following if one.type not in FUNCTION_NODES and "case" not in one.type]
        if not gone or gone[0] != node or (len(gone) != len(following)):
            return []
        start, end = gone[0], gone[-1]
        return [Removal(remove_statements(tree, start, end), STATEMENT_COST)]
    return []


STATEMENT_LIST_NODES = frozenset(
    {"block", "statement_block", "statement_list", "compound_statement", "body_statement", "constructor_body", "then"}
    | {"switch_case", "switch_default", "module", "program", "source_file", "case_statement", "block_body"}
)
"""Nodes whose children are statements that are run one after the other."""
