"""What other languages declare, by the queries that tree-sitter-language-pack has for them ("tags"), where there is a grammar
and no query of ours.

Tags name what is declared and say around where: no imports, no bases, and not where a signature ends. One that does not fit
the grammar that is installed says nothing, and the language is read by its lines.
"""

from collections.abc import Iterator
from threading import Lock
from typing import Literal

from tree_sitter import Node, Query, QueryCursor, QueryError

from lsp_harness.syntax.languages import LANGUAGES, Language, grammar

DeclarationSource = Literal["queries", "tags", "lines"]
"""By what we know the declarations of a language: queries of ours, tags, or not at all."""
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
"""`@definition.X` → our kind; others are left out."""
DEFINITION = "definition."

_built: dict[Language, Query | None] = {}
_building = Lock()


def declaration_source(language: Language) -> DeclarationSource:
    """By what the declarations of a language that we can parse are known."""
    if language.queries:
        return "queries"
    return "tags" if load_tags_query(language) else "lines"


def load_tags_query(language: Language) -> Query | None:
    """The tags of a language that has no queries of ours; None where there are none, or they do not fit the grammar."""
    # of what comes with us and has none (JSON, HTML, …) the pack has none either, and it takes a tenth of a second to import
    if language.queries or language in LANGUAGES:
        return None
    if language not in _built:
        # as our own queries: built once, and never dropped
        with _building:
            if language not in _built:
                _built[language] = _build_query(language)
    return _built[language]


def _build_query(language: Language) -> Query | None:
    import tree_sitter_language_pack as pack

    source = pack.get_tags_query(language.id)
    try:
        return Query(grammar(language), source) if source else None
    except QueryError:
        return None


def tag_matches(
    language: Language, root: Node, within: tuple[int, int] | None = None
) -> Iterator[dict[str, list[Node]]]:
    """What is declared in a tree, or touches the bytes `within`, as our own queries capture it: each name once, with the
    smallest node that is said of it."""
    found = load_tags_query(language)
    if found is None:
        return
    named: dict[int, tuple[str, Node, Node]] = {}
    for _, nodes in QueryCursor(found).matches(root):
        kind, node = _definition_node(nodes)
        if node is None or "name" not in nodes:
            continue
        name = nodes["name"][0]
        # some say of what is declared only the part behind its name
        while node.start_byte > name.start_byte and node.parent:
            node = node.parent
        old = named.get(name.start_byte)
        if old is None or _size(node) < _size(old[1]):
            named[name.start_byte] = kind, node, name
    taken: set[int] = set()
    for at in sorted(named):
        kind, node, name = named[at]
        if node.id in taken and name.parent:
            # of what stands in a class some only say the class
            node = name.parent
        taken.add(node.id)
        if within and (node.end_byte < within[0] or node.start_byte > within[1]):
            continue
        body = _body(node)
        yield {kind: [node], "name": [name]} | ({"body": [body]} if body else {})


def _definition_node(nodes: dict[str, list[Node]]) -> tuple[str, Node | None]:
    for capture, [node, *_] in nodes.items():
        if capture.startswith(DEFINITION) and (kind := KINDS.get(capture.removeprefix(DEFINITION))):
            return kind, node
    return "", None


def _size(node: Node) -> int:
    return node.end_byte - node.start_byte


def _body(node: Node) -> Node | None:
    """What stands behind the signature, by the names that grammars have for it; in the node, or in its first part."""
    for one in (node, *node.named_children):
        if body := one.child_by_field_name("body"):
            return body
    return next((one for one in node.named_children if one.type.endswith(("body", "block"))), None)
