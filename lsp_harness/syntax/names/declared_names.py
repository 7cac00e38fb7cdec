"""Checks whether a diagnostic about an unknown or unused name is outdated: the file declares or uses the name.

Only evident cases count, as a valid diagnostic must not be called outdated. Members, keys and the names in import
statements are left out. So are declarations that may be invisible at the place because of the language, a namespace or
conditional compilation.
"""

from tree_sitter import Node

from lsp_harness.syntax.names.occurrences import Occurrence, find_occurrences, occurrence_at, scopes_around
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import Span

NAMESPACE_NODES = frozenset({"mod_item", "namespace_definition", "namespace_declaration", "internal_module", "module"})
CONDITIONAL_NODE_PREFIXES = ("preproc_if", "preproc_elif", "preproc_else")
"""Prefixes of the types of nodes whose code is compiled conditionally."""


def locate_declaration(span: Span, name: str, tree: SyntaxTree) -> str:
    """Return a clause that says where the file declares or imports a name, or an empty string if that is not evident.

    Args:
        span: The bytes of the use that a diagnostic reports as unknown.
        name: The name at these bytes.
        tree: The tree of the file.
    """
    roles = tree.language.names.visible_roles
    use = occurrence_at(tree, span) if roles else None
    if use is None or use.is_binding or use.role not in ("value", "type"):
        return ""
    for binding in find_occurrences(tree, name):
        if not binding.is_binding or binding.role not in roles:
            continue
        if _fits(use, binding, tree) and _is_visible(binding, use, tree):
            verb = "imported" if binding.role == "import" else "declared"
            return f"`{name}` is {verb} on line {tree.document.line_of(binding.span.start) + 1}"
    return _locate_package(name, tree) if tree.language.imports.packages_name_themselves else ""


def locate_use(span: Span, name: str, tree: SyntaxTree) -> str:
    """Return a clause that says where an import or a variable is used, or an empty string if that is not evident.

    Args:
        span: The bytes of the binding that a diagnostic reports as unused.
        name: The name at these bytes.
        tree: The tree of the file.
    """
    binding = occurrence_at(tree, span)
    if binding is None or not binding.is_binding or binding.role not in ("import", "variable"):
        return ""
    for use in find_occurrences(tree, name):
        if use.is_binding or use.role not in ("value", "type"):
            continue
        is_later = span.end < use.span.start < binding.scope.end
        if binding.role == "import" or (is_later and _is_read(use, tree)):
            return f"`{name}` is used on line {tree.document.line_of(use.span.start) + 1}"
    return ""


def _is_read(use: Occurrence, tree: SyntaxTree) -> bool:
    """Return whether a name is certainly read, not just assigned or incremented."""
    next_byte = tree.data[use.span.end :].lstrip()[:1]
    return next_byte not in (b"=", b",", b":", b"+", b"-", b"*", b"/", b"|", b"&", b"?", b"<", b">", b"%")


def _locate_package(name: str, tree: SyntaxTree) -> str:
    """Say where a package is imported whose path ends with a name; empty if there is none."""
    _, imports = find_declarations(tree.language, tree.data, tree.root)
    match = next(
        (package for package in imports if not package.alias and package.module.rpartition("/")[2] == name), None
    )
    return f"`{name}` is imported on line {tree.document.line_of(match.start) + 1}" if match else ""


def _fits(use: Occurrence, binding: Occurrence, tree: SyntaxTree) -> bool:
    """Return whether a binding is of the kind that a use needs, a type or a value."""
    if binding.role == "import":
        return True
    if use.role == "type":
        return binding.role == "class"
    return binding.role != "class" or tree.language.names.types_are_values


def _is_visible(binding: Occurrence, use: Occurrence, tree: SyntaxTree) -> bool:
    """Return whether a binding of the file is certainly visible at a use."""
    if binding.scope_kind != "file" or not binding.scope.start <= use.span.start < binding.scope.end:
        return False
    if tree.language.names.must_declare_above and binding.span.start > use.span.start:
        return False
    if binding.role == "import" and scopes_around(tree, binding.span.start)[0][1] != "file":
        return False
    path = nodes_around(tree.root, *binding.span)
    if any(_is_conditional(node, tree) for node in path):
        return False
    return _namespace_starts(path) == _namespace_starts(nodes_around(tree.root, *use.span))


def _is_conditional(node: Node, tree: SyntaxTree) -> bool:
    before = node.prev_named_sibling
    attribute = tree.data[before.start_byte : before.end_byte] if before and before.type == "attribute_item" else b""
    return node.type.startswith(CONDITIONAL_NODE_PREFIXES) or b"cfg" in attribute


def _namespace_starts(path: list[Node]) -> list[int]:
    """Return the start bytes of the namespaces in a path of nodes."""
    return [node.start_byte for node in path if node.parent is not None and node.type in NAMESPACE_NODES]
