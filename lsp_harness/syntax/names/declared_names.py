"""Whether a name that is said to be unknown is declared or imported for the whole file, so that no compiler can miss it.

Only what is evident counts: a finding that holds must not be called outdated. So members, keys and the names of imports are left aside,
and so is a declaration that the language, a namespace or a condition may hide from the place.
"""

from collections.abc import Mapping

from tree_sitter import Node

from lsp_harness.syntax.names.occurrences import Occurrence, Role, find_occurrences, occurrence_at, scopes_around
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import Span

ANY_BINDING: frozenset[Role] = frozenset({"import", "variable", "function", "class"})
VISIBLE_ROLES: Mapping[str, frozenset[Role]] = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "go", "rust"), ANY_BINDING),
    # of an import of these a compiler still says that it is unknown
    "java": frozenset({"class"}),
    "csharp": frozenset({"class"}),
    # functions do not see the variables of the file
    "ruby": frozenset({"function", "class"}),
    "php": frozenset({"function", "class"}),
    # `struct point` is no type `point`
    "c": frozenset({"variable", "function"}),
    "cpp": frozenset({"variable", "function", "class"}),
}
"""Roles of bindings that make a name known in the whole file, by language; others have none."""
ORDERED_LANGUAGES = frozenset({"c", "cpp"})
"""Languages in which a name is known below its declaration alone."""
NAMESPACE_NODES = frozenset({"mod_item", "namespace_definition", "namespace_declaration", "internal_module", "module"})
CONDITIONAL_NODE_PREFIXES = ("preproc_if", "preproc_elif", "preproc_else")
"""Beginnings of the types of nodes whose code may be left out when it is compiled."""


def locate_declaration(span: Span, name: str, tree: SyntaxTree) -> str:
    """Where the name in these bytes is declared or imported; empty where that is not evident."""
    roles = VISIBLE_ROLES.get(tree.language.id, frozenset())
    here = occurrence_at(tree, span) if roles else None
    if here is None or here.is_binding or here.role not in ("value", "type"):
        return ""
    for one in find_occurrences(tree, name):
        if one.is_binding and one.role in roles and _fits(here, one, tree) and _reaches(one, here, tree):
            verb = "imported" if one.role == "import" else "declared"
            return f"`{name}` is {verb} on line {tree.document.line_of(one.span.start) + 1}"
    return _locate_go_package(name, tree) if tree.language.id == "go" else ""


def locate_use(span: Span, name: str, tree: SyntaxTree) -> str:
    """Where the import or the variable in these bytes is used; empty where that is not evident."""
    bound = occurrence_at(tree, span)
    if bound is None or not bound.is_binding or bound.role not in ("import", "variable"):
        return ""
    for one in find_occurrences(tree, name):
        if one.is_binding or one.role not in ("value", "type"):
            continue
        later = span.end < one.span.start < bound.scope.end
        if bound.role == "import" or (later and _is_read(one, tree)):
            return f"`{name}` is used on line {tree.document.line_of(one.span.start) + 1}"
    return ""


def _is_read(one: Occurrence, tree: SyntaxTree) -> bool:
    """Whether a name is surely read at its place, and not only set or counted up."""
    behind = tree.data[one.span.end :].lstrip()[:1]
    return behind not in (b"=", b",", b":", b"+", b"-", b"*", b"/", b"|", b"&", b"?", b"<", b">", b"%")


def _locate_go_package(name: str, tree: SyntaxTree) -> str:
    """Where a package is imported whose name is the last part of its path; empty where none is."""
    _, brought = find_declarations(tree.language, tree.data, tree.root)
    found = next((one for one in brought if not one.alias and one.module.rpartition("/")[2] == name), None)
    return f"`{name}` is imported on line {tree.document.line_of(found.start) + 1}" if found else ""


def _fits(here: Occurrence, binding: Occurrence, tree: SyntaxTree) -> bool:
    """Whether a binding is of the kind that the place needs."""
    if binding.role == "import":
        return True
    if here.role == "type":
        return binding.role == "class"
    return binding.role != "class" or tree.language.id in ("javascript", "java", "csharp", "ruby", "php")


def _reaches(binding: Occurrence, here: Occurrence, tree: SyntaxTree) -> bool:
    """Whether the place is where the binding is known."""
    if binding.scope_kind != "file" or not binding.scope.start <= here.span.start < binding.scope.end:
        return False
    if tree.language.id in ORDERED_LANGUAGES and binding.span.start > here.span.start:
        return False
    if binding.role == "import" and scopes_around(tree, binding.span.start)[0][1] != "file":
        return False
    path = nodes_around(tree.root, *binding.span)
    if any(_is_conditional(node, tree) for node in path):
        return False
    return _namespace_starts(path) == _namespace_starts(nodes_around(tree.root, *here.span))


def _is_conditional(node: Node, tree: SyntaxTree) -> bool:
    before = node.prev_named_sibling
    attribute = tree.data[before.start_byte : before.end_byte] if before and before.type == "attribute_item" else b""
    return node.type.startswith(CONDITIONAL_NODE_PREFIXES) or b"cfg" in attribute


def _namespace_starts(path: list[Node]) -> list[int]:
    """Where the namespaces around a place begin."""
    return [node.start_byte for node in path if node.parent is not None and node.type in NAMESPACE_NODES]
