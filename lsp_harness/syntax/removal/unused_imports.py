"""The removal of unused imports: of a whole statement or of one name.

An import without a name has an effect of its own and is kept.
"""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from lsp_harness.syntax.names.binding_nodes import IMPORT_NODES
from lsp_harness.syntax.removal.removed_lines import (
    NAME_COST,
    STATEMENT_COST,
    Removal,
    descendants,
    remove_list_item,
    remove_statements,
)
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode


def remove_unused_import(tree: SyntaxTree, span: Span, names: Sequence[str]) -> list[Removal]:
    """Return the removal of unused names from an import statement, or of the whole statement if no other name remains.

    Args:
        tree: The tree of the text.
        span: The bytes that the diagnostic marks.
        names: The names that the diagnostic reports as unused.
    """
    path = nodes_around(tree.root, *span)
    statement = next((node for node in path if node.type in IMPORT_NODES), None)
    if statement is None or statement.type in (
        "package_clause",
        "package_declaration",
        "namespace_name",
        "preproc_include",
    ):
        return []
    if tree.language.imports.has_import_blocks:
        return _go_import(tree, path)
    items = [*_imported_items(statement)]
    if not items and statement.type in ("import_declaration", "using_directive"):
        return [Removal(remove_statements(tree, statement), STATEMENT_COST)]
    is_whole = span.start <= statement.start_byte and span.end >= statement.end_byte - 1
    unused = [item for item in items if _local_name(item) in names]
    if not unused and not is_whole:
        # Some messages name the module too, and mark only the name.
        unused = [item for item in items if item.start_byte <= span.start and span.end <= item.end_byte]
    if not items or not (unused or is_whole):
        return []
    if len(unused) == len(items) or not unused:
        return [Removal(remove_statements(tree, statement), STATEMENT_COST)]
    return [Removal(_remove_items(tree, statement, items, unused), NAME_COST)]


def is_partial_import(tree: SyntaxTree, span: Span) -> bool:
    """Return whether a range that starts in an import statement is neither whole statements nor a single name.

    A tool whose message does not contain the unused name marks whole statements or a single name.
    """
    statement = next(
        (node for node in nodes_around(tree.root, span.start, span.start) if node.type in IMPORT_NODES), None
    )
    if statement is None:
        return False
    siblings = [statement, *_following_siblings(statement)]
    ends = [sibling.end_byte for sibling in siblings if sibling.type == statement.type]
    if span.start > statement.start_byte:
        return nodes_around(tree.root, *span)[0].byte_range != tuple(span)
    return not any(span.end in (end, end - 1) for end in ends)


def _following_siblings(node: Node) -> Iterator[Node]:
    sibling = node.next_named_sibling
    while sibling:
        yield sibling
        sibling = sibling.next_named_sibling


def _go_import(tree: SyntaxTree, path: Sequence[Node]) -> list[Removal]:
    spec = next((node for node in path if node.type == "import_spec"), None)
    declaration = next((node for node in path if node.type == "import_declaration"), None)
    if declaration is None:
        return []
    specs = [node for node in descendants(declaration) if node.type == "import_spec"]
    spec = spec or (specs[0] if len(specs) == 1 else None)
    if spec is None or (spec.text or b"").startswith((b"_", b".")):
        return []
    return [Removal(remove_statements(tree, declaration if len(specs) == 1 else spec), STATEMENT_COST)]


def _imported_items(statement: Node) -> Iterator[Node]:
    """Yield the parts of an import statement that bind a name each."""
    match statement.type:
        case "import_statement" | "import_from_statement":
            clause = next((child for child in statement.named_children if child.type == "import_clause"), None)
            if clause is None:
                yield from statement.children_by_field_name("name")
                return
            for part in clause.named_children:
                yield from part.named_children if part.type == "named_imports" else (part,)
        case "use_declaration":
            lists = [node for node in descendants(statement) if node.type == "use_list"]
            argument = statement.child_by_field_name("argument")
            if len(lists) == 1:
                yield from lists[0].named_children
            elif argument and not lists:
                yield argument
        case "namespace_use_declaration":
            group = statement.child_by_field_name("body") or statement
            yield from (child for child in group.named_children if child.type == "namespace_use_clause")
        case _:
            return


def _local_name(item: Node) -> str:
    """Return the name that the file uses for an imported item."""
    name = item.child_by_field_name("alias") or item.child_by_field_name("name") or item
    text = decode(name.text or b"")
    if item.type == "dotted_name" and item.parent and item.parent.type == "import_statement":
        return text.split(".")[0]
    return re.split(r"[.\\]|::|\s", text)[-1]


def _remove_items(tree: SyntaxTree, statement: Node, items: Sequence[Node], unused: Sequence[Node]) -> tuple[Edit, ...]:
    removed_ids = {item.id for item in unused}
    edits: list[Edit] = []
    for parent in {item.parent.id: item.parent for item in items if item.parent}.values():
        siblings = [item for item in items if item.parent == parent]
        remaining = [item for item in siblings if item.id not in removed_ids]
        if not remaining and parent.type == "named_imports":
            removed_ids.add(parent.id)
        elif len(remaining) == 1 and len(siblings) > 1 and statement.type == "use_declaration":
            # As rustc does, the braces are removed too.
            return (Edit(*parent.byte_range, remaining[0].text or b""),)
        elif parent.type != "import_clause":
            edits += _remove_list_items(tree, siblings, removed_ids)
    clause = next((child for child in statement.named_children if child.type == "import_clause"), None)
    return (*edits, *(_remove_list_items(tree, clause.named_children, removed_ids) if clause else ()))


def _remove_list_items(tree: SyntaxTree, items: Sequence[Node], removed_ids: set[int]) -> Iterator[Edit]:
    for item in items:
        if item.id in removed_ids:
            yield remove_list_item(tree, item)
