"""How an import that nothing uses is taken away: the statement, or one name of it.

Imports that name nothing are there for what they do, and are left alone.
"""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from lsp_harness.syntax.names.scope_nodes import IMPORT_NODES
from lsp_harness.syntax.removal.code_removal import NAME_COST, STATEMENT_COST, Removal, descendants
from lsp_harness.syntax.removal.removed_lines import remove_list_item, remove_statements
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode


def remove_unused_import(tree: SyntaxTree, span: Span, names: Sequence[str]) -> list[Removal]:
    """Of the import statement at a place, the names that are not used; the statement where it has no others."""
    path = nodes_around(tree.root, *span)
    at = next((n for n, node in enumerate(path) if node.type in IMPORT_NODES), None)
    if at is None:
        return []
    statement = path[at]
    if statement.type in ("package_clause", "package_declaration", "namespace_name", "preproc_include"):
        return []
    if tree.language.id == "go":
        return _go_import(tree, path)
    items = [*_imported_items(statement)]
    if not items and statement.type in ("import_declaration", "using_directive"):
        return [Removal(remove_statements(tree, statement), STATEMENT_COST)]
    whole = span.start <= statement.start_byte and span.end >= statement.end_byte - 1
    unused = [one for one in items if _local_name(one) in names]
    if not unused and not whole:
        # some messages name the module too, and mark just the name
        unused = [one for one in items if one.start_byte <= span.start and span.end <= one.end_byte]
    if not items or not (unused or whole):
        return []
    if len(unused) == len(items) or not unused:
        return [Removal(remove_statements(tree, statement), STATEMENT_COST)]
    return [Removal(_remove_items(tree, statement, items, unused), NAME_COST)]


def is_partial_import(tree: SyntaxTree, span: Span) -> bool:
    """Whether a range that begins in an import statement is neither whole statements nor one name in it.

    Tools that do not say the name of an unused import mark the whole statement, several of them, or one name in it.
    """
    statement = next(
        (node for node in nodes_around(tree.root, span.start, span.start) if node.type in IMPORT_NODES), None
    )
    if statement is None:
        return False
    ends = [one.end_byte for one in [statement, *_following_siblings(statement)] if one.type == statement.type]
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
    specs = [one for one in descendants(declaration) if one.type == "import_spec"]
    spec = spec or (specs[0] if len(specs) == 1 else None)
    if spec is None or (spec.text or b"").startswith((b"_", b".")):
        return []
    return [Removal(remove_statements(tree, declaration if len(specs) == 1 else spec), STATEMENT_COST)]


def _imported_items(statement: Node) -> Iterator[Node]:
    """The parts of an import that each bind a name."""
    match statement.type:
        case "import_statement" | "import_from_statement":
            clause = next((one for one in statement.named_children if one.type == "import_clause"), None)
            if clause is None:
                yield from statement.children_by_field_name("name")
                return
            for part in clause.named_children:
                yield from part.named_children if part.type == "named_imports" else (part,)
        case "use_declaration":
            lists = [one for one in descendants(statement) if one.type == "use_list"]
            argument = statement.child_by_field_name("argument")
            if len(lists) == 1:
                yield from lists[0].named_children
            elif argument and not lists:
                yield argument
        case "namespace_use_declaration":
            group = statement.child_by_field_name("body") or statement
            yield from (one for one in group.named_children if one.type == "namespace_use_clause")
        case _:
            return


def _local_name(item: Node) -> str:
    """What the file calls what a part of an import brings in."""
    named = item.child_by_field_name("alias") or item.child_by_field_name("name") or item
    text = decode(named.text or b"")
    if item.type == "dotted_name" and item.parent and item.parent.type == "import_statement":
        return text.split(".")[0]
    return re.split(r"[.\\]|::|\s", text)[-1]


def _remove_items(tree: SyntaxTree, statement: Node, items: Sequence[Node], unused: Sequence[Node]) -> tuple[Edit, ...]:
    gone = {one.id for one in unused}
    edits: list[Edit] = []
    for listed in {one.parent.id: one.parent for one in items if one.parent}.values():
        mine = [one for one in items if one.parent == listed]
        left = [one for one in mine if one.id not in gone]
        if not left and listed.type == "named_imports":
            gone.add(listed.id)
        elif len(left) == 1 and len(mine) > 1 and statement.type == "use_declaration":
            # rustc takes the braces away too
            return (Edit(*listed.byte_range, left[0].text or b""),)
        elif listed.type != "import_clause":
            edits += _remove_list_items(tree, mine, gone)
    clause = next((one for one in statement.named_children if one.type == "import_clause"), None)
    return (*edits, *(_remove_list_items(tree, clause.named_children, gone) if clause else ()))


def _remove_list_items(tree: SyntaxTree, listed: Sequence[Node], gone: set[int]) -> Iterator[Edit]:
    for one in listed:
        if one.id in gone:
            yield remove_list_item(tree, one)
