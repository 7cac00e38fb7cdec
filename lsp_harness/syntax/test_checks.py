"""The tests of a file, and how many of their statements check something, by the traits of its language."""

import re
from collections.abc import Mapping

from tree_sitter import Node

from lsp_harness.languages.traits import TestTraits
from lsp_harness.syntax.tree import SyntaxTree

MAX_NAME_BYTES = 2_000
"""Most bytes of the text of a called function that are read."""
ATTRIBUTES = frozenset({"attribute_item", "line_comment", "block_comment"})
"""Types of the nodes between the attributes of a function and the function."""


def count_checks(tree: SyntaxTree) -> Mapping[str, int]:
    """Return for each test of a file, with the groups around it, how many calls in it check something.

    Args:
        tree: The file. In a language whose tests are not known, it has none.
    """
    traits, found = tree.language.tests, dict[str, int]()
    open_nodes: list[tuple[Node, str, str]] = [(tree.root, "", "")] if traits.node else []
    while open_nodes:
        node, group, test = open_nodes.pop()
        if node.type == traits.node:
            head = _read_field(node, traits.head)
            if traits.group and re.fullmatch(traits.group, head, re.DOTALL):
                group += f"{_name(node, head)} > "
            elif not test and re.fullmatch(traits.test, head, re.DOTALL) and _has_attributes(node, traits):
                test = group + _name(node, head)
                found.setdefault(test, 0)
        if test and (field := traits.calls.get(node.type)):
            found[test] += bool(re.search(traits.checks, _read_field(node, field)))
        open_nodes += [(child, group, test) for child in node.named_children]
    return found


def _name(node: Node, head: str) -> str:
    """Return the name of a test: its first argument, if it is a call, or that of the function."""
    arguments = node.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    return first.text.decode("utf-8", "replace") if first and first.text else head


def _has_attributes(node: Node, traits: TestTraits) -> bool:
    if not traits.attribute:
        return True
    attributes: list[str] = []
    above = node.prev_named_sibling
    while above and above.type in ATTRIBUTES:
        attributes.append((above.text or b"").decode("utf-8", "replace"))
        above = above.prev_named_sibling
    text = " ".join(attributes)
    return bool(re.search(traits.attribute, text)) and not re.search(traits.other_attribute, text)


def _read_field(node: Node, field: str) -> str:
    child = node.child_by_field_name(field)
    return child.text[-MAX_NAME_BYTES:].decode("utf-8", "replace") if child and child.text else ""
