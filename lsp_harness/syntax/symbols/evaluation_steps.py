"""The conditions that code asks, and the values and calls that it comes to, in the order of their evaluation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode

NEGATION_NODES = frozenset({"not_operator", "unary_expression", "prefix_unary_expression"})
NEGATION_SIGNS = frozenset({"not", "!"})
BOOLEAN_SIGNS = frozenset({"and", "or", "&&", "||"})
ENDING_NODES = frozenset({"return_statement", "raise_statement", "throw_statement", "return_expression", "yield"})
"""Nodes that end a function or give a value to its caller."""
TRY_NODES = frozenset({"try_statement", "try_expression"})
TERNARY_WITHOUT_FIELDS = "conditional_expression"
"""Python's node of `x if c else y`, whose parts stand in another order than they are evaluated."""
COMPOUND_FIELDS = ("condition", "body", "consequence")
"""Fields of nodes that have statements in them, in languages whose statements are expressions."""
TRUTH_CALL = re.compile(r"bool\((.*)\)|Boolean\((.*)\)|!!(.*)", re.DOTALL)
"""A value that is only the truth of another one, without blanks."""
MAX_NODES = 20_000
"""Most nodes of a region that is compared. A larger one is left out."""


@dataclass(frozen=True, slots=True)
class Step:
    """A condition that code asks, or a value or a call that it comes to.

    Attributes:
        text: Its code, without blanks.
        is_condition: Whether it decides which code runs.
    """

    text: str
    is_condition: bool


def find_step_region(tree: SyntaxTree, first: int, last: int) -> Span:
    """Return the function around some bytes, or else their statements at the top level."""
    if function := scope.enclosing_function(tree, first):
        return Span(function.start, max(function.end, last))
    spans = [Span(node.start_byte, node.end_byte) for node in tree.root.children]
    touched = [span for span in spans if span.start <= last and span.end >= first]
    return Span(min((s.start for s in touched), default=first), max((s.end for s in touched), default=last))


def _walk(tree: SyntaxTree, region: Span) -> Iterator[Node]:
    """Yield the nodes of a region in the order of evaluation, each before its parts."""
    # there is no recursion, as a tree may have thousands of levels
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if node.end_byte <= region.start or node.start_byte >= region.end:
            continue
        if node.start_byte >= region.start and node.end_byte <= region.end:
            yield node
        stack += reversed(_order(node))


def _order(node: Node) -> list[Node]:
    if node.type == TERNARY_WITHOUT_FIELDS and node.child_by_field_name("condition") is None:
        value, condition, *others = [child for child in node.children if child.is_named] or [node]
        return [condition, value, *others] if others else list(node.children)
    return list(node.children)


def read_steps(tree: SyntaxTree, region: Span) -> list[Step] | None:
    """Return the steps of a region in the order of evaluation, or None if it is too large."""
    steps: list[Step] = []
    inside: set[int] = set()
    """The ids of nodes within a value that is a step of its own, or within a condition."""
    for count, node in enumerate(_walk(tree, region)):
        if count > MAX_NODES:
            return None
        if node.parent is not None and node.parent.id in inside:
            inside.add(node.id)
            continue
        if _is_condition(node):
            if not _is_boolean(node):
                steps.append(Step(_read_text(tree, node), is_condition=True))
                inside.add(node.id)
        elif _is_value(node) and not _is_decided(node):
            steps.append(Step(_read_text(tree, node), is_condition=False))
            inside.add(node.id)
    return [step for step in steps if step.text]


def _is_condition(node: Node) -> bool:
    """Return whether a node decides which code runs: a condition, or an operand of `and` or `or`."""
    parent = node.parent
    if parent is None or not node.is_named:
        return False
    while parent.type == "parenthesized_expression" or _is_negation(parent):
        node, parent = parent, parent.parent or parent
    if _is_boolean(parent):
        return True
    if parent.type == TERNARY_WITHOUT_FIELDS and parent.child_by_field_name("condition") is None:
        named = [child for child in parent.children if child.is_named]
        return len(named) > 1 and named[1].id == node.id
    condition = parent.child_by_field_name("condition")
    return condition is not None and condition.id == node.id


def _is_boolean(node: Node) -> bool:
    """Return whether a node only joins, negates or encloses conditions."""
    if node.type == "parenthesized_expression" or _is_negation(node):
        return True
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in BOOLEAN_SIGNS


def _is_negation(node: Node) -> bool:
    return node.type in NEGATION_NODES and bool(node.children) and node.children[0].type in NEGATION_SIGNS


def _is_value(node: Node) -> bool:
    """Return whether a node is what a function gives back, what a name is bound to, or a call for its effect."""
    parent = node.parent
    if parent is None or not node.is_named or node.type in ("comment", "string", "assignment"):
        return False
    if parent.type in ENDING_NODES or parent.type == "expression_statement":
        is_compound = any(node.child_by_field_name(name) for name in COMPOUND_FIELDS)
        return not is_compound and not node.type.startswith("assignment")
    if parent.type.startswith("assignment"):
        right = parent.child_by_field_name("right")
        return right is not None and right.id == node.id
    if "ternary" in parent.type or parent.type == TERNARY_WITHOUT_FIELDS:
        return not _is_condition(node)
    return False


def _is_decided(node: Node) -> bool:
    """Return whether a value is a choice, whose parts are steps of their own."""
    return "ternary" in node.type or node.type == TERNARY_WITHOUT_FIELDS or _is_boolean(node)


def _read_text(tree: SyntaxTree, node: Node) -> str:
    text = "".join(decode(tree.data[node.start_byte : node.end_byte]).split())
    truth = TRUTH_CALL.fullmatch(text)
    return next(filter(None, truth.groups()), "") if truth else text


def count_negations(tree: SyntaxTree, region: Span) -> int:
    """Return how many signs of a region negate something."""
    return sum(node.type in NEGATION_SIGNS or node.type == "!=" for node in _walk(tree, region))


def has_try(tree: SyntaxTree, region: Span) -> bool:
    """Return whether a region handles exceptions, so that its parts do not run in the order of the text."""
    return any(node.type in TRY_NODES for node in _walk(tree, region))
