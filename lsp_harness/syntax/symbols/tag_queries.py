"""Declarations of languages without queries in `grammars/queries`, by the tag queries of tree-sitter-language-pack.

A tag query captures the name of a declaration and roughly its extent. It knows no imports, no bases and no end of the
signature. If it does not fit the installed grammar, it is not used, and the text of the language is only split into
lines.
"""

from collections.abc import Iterator
from threading import Lock
from typing import Literal

from tree_sitter import Node, Query, QueryCursor, QueryError

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.syntax.grammars import grammar, has_language_pack

DeclarationSource = Literal["queries", "tags", "lines"]
"""The source of the declarations of a language: its queries here, its tag query, or nothing but the lines of the
text."""
KINDS = {
    "class": "class",
    "constant": "constant",
    "constructor": "constructor",
    "enum": "enum",
    "enum_variant": "member",
    "field": "field",
    "function": "function",
    "interface": "interface",
    "macro": "macro",
    "method": "method",
    "module": "module",
    "namespace": "namespace",
    "object": "class",
    "operator": "function",
    "property": "property",
    "protocol": "interface",
    "struct": "struct",
    "trait": "interface",
    "type": "type",
    "variable": "variable",
}
"""The kind of a declaration by the X of its capture `@definition.X`. Other captures are ignored."""
DEFINITION = "definition."

_tag_queries: dict[LanguageSpec, Query | None] = {}
_build_lock = Lock()


def declaration_source(language: LanguageSpec) -> DeclarationSource:
    """Return the source of the declarations of a language that can be parsed."""
    if language.queries:
        return "queries"
    return "tags" if load_tags_query(language) else "lines"


def load_tags_query(language: LanguageSpec) -> Query | None:
    """Return the tag query of a language without queries here, or None if there is none that fits the grammar."""
    # The pack has no tag queries for the shipped languages without queries (JSON, HTML, …). Importing it takes 0.1 s.
    if language.queries or language in shipped_languages() or not has_language_pack():
        return None
    if language not in _tag_queries:
        # As in `tree_query`, a query is built once and never freed, because tree-sitter crashes when some are freed.
        with _build_lock:
            if language not in _tag_queries:
                _tag_queries[language] = _build_query(language)
    return _tag_queries[language]


def _build_query(language: LanguageSpec) -> Query | None:
    import tree_sitter_language_pack as pack

    source = pack.get_tags_query(language.id)
    try:
        return Query(grammar(language), source) if source else None
    except QueryError:
        return None


def tag_matches(
    language: LanguageSpec, root: Node, byte_range: tuple[int, int] | None = None
) -> Iterator[dict[str, list[Node]]]:
    """Yield the declarations of a tree with the capture names of the queries in `grammars/queries`.

    Each name is yielded once, with the smallest node that the tag query reports for it.

    Args:
        language: The language of the tree.
        root: The root of the tree.
        byte_range: If given, only declarations that touch these bytes are yielded.
    """
    query = load_tags_query(language)
    if query is None:
        return
    by_name: dict[int, tuple[str, Node, Node]] = {}
    for _, nodes in QueryCursor(query).matches(root):
        kind, node = _definition_node(nodes)
        if node is None or "name" not in nodes:
            continue
        name = nodes["name"][0]
        # Some tag queries capture only the part behind the name.
        while node.start_byte > name.start_byte and node.parent:
            node = node.parent
        old = by_name.get(name.start_byte)
        if old is None or _node_size(node) < _node_size(old[1]):
            by_name[name.start_byte] = kind, node, name
    used_nodes: set[int] = set()
    for name_start in sorted(by_name):
        kind, node, name = by_name[name_start]
        if node.id in used_nodes and name.parent:
            # For a member of a class some tag queries capture the node of the class.
            node = name.parent
        used_nodes.add(node.id)
        if byte_range and (node.end_byte < byte_range[0] or node.start_byte > byte_range[1]):
            continue
        body = _find_body(node)
        yield {kind: [node], "name": [name]} | ({"body": [body]} if body else {})


def _definition_node(nodes: dict[str, list[Node]]) -> tuple[str, Node | None]:
    for capture, [node, *_] in nodes.items():
        if capture.startswith(DEFINITION) and (kind := KINDS.get(capture.removeprefix(DEFINITION))):
            return kind, node
    return "", None


def _node_size(node: Node) -> int:
    return node.end_byte - node.start_byte


def _find_body(node: Node) -> Node | None:
    """Return the body of a declaration: a field or a child with a usual name, in the node or in one of its children."""
    for parent in (node, *node.named_children):
        if body := parent.child_by_field_name("body"):
            return body
    return next((child for child in node.named_children if child.type.endswith(("body", "block"))), None)
