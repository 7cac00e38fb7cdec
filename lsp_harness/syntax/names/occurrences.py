"""The occurrences of a name and the role of each: a binding with its scope, a value, a type, a member or a key.

The role is derived from the nodes around the occurrence, so that a few look-ups in a large file are cheap. Types are
not inferred. Names in strings and comments are no occurrences.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from lsp_harness.languages.traits import Binding
from lsp_harness.syntax.names.binding_nodes import (
    BLOCK_NODES,
    CLASS_NODES,
    COMPREHENSION_NODES,
    FUNCTION_NODES,
    IMPORT_NODES,
    KEY_FIELDS,
    NAME_PREFIXES,
    NON_BINDING_FIELDS,
    PATTERN_NODES,
    TYPE_NODES,
    binding_of,
)
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import Span, decode, encode

Role = Literal["value", "type", "member", "key", "import", "variable", "parameter", "function", "class"]
ScopeKind = Literal["function", "class", "file"]

ACCESS_OPERATORS = frozenset({".", "?.", "&.", "::", "->", "?->"})
"""Tokens before the name of a member."""
MACRO_RECEIVER = re.compile(rb"[\w.:]*(?:\(\))?(?=(?:\.|::|->)\s*\Z)")
CALL_SUFFIX = re.compile(rb"\s*(?:::)?(?:<[\w\s,.:<>&'\[\]]{0,100}>)?\s*\(|!\s*[(\[{]")
SUFFIX = re.compile(rb"\s*(?:(?:\?\.|->|::|\.)\s*\w+|\(|\[|=(?!=)|[-+*/%<>&|]=?)?")
PATH_IMPORT_NODES = frozenset({"use_declaration", "import_declaration", "namespace_use_declaration"})
MAX_RECEIVER_BYTES = 40
"""How far before a name its receiver is searched for in the arguments of a Rust macro."""
MAX_OCCURRENCES = 80
"""Maximum number of occurrences of one name that are examined."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a name.

    Attributes:
        span: The bytes of the name.
        role: How the name is used, or for a binding as what it is bound.
        is_binding: Whether the name is bound here.
        is_called: Whether the name is called here.
        scope: For a binding the bytes in which the name is visible, otherwise the bytes of the innermost scope.
        scope_kind: The kind of `scope`.
        receiver: The text before the access operator of a member; `@` for an instance or class variable of Ruby.
        suffix: The operator or bracket right behind the name, with the name of a member that follows, without blanks.
    """

    span: Span
    role: Role
    is_binding: bool
    is_called: bool
    scope: Span
    scope_kind: ScopeKind
    receiver: str = ""
    suffix: bytes = b""


def find_occurrences(tree: SyntaxTree, name: str, byte_range: Span | None = None) -> Iterator[Occurrence]:
    """Yield the occurrences of a name in the code of a file, or of a byte range of it; at most `MAX_OCCURRENCES`."""
    word = encode(name)
    # a name may follow the byte order mark
    pattern = re.compile(rb"(?:(?<![\w\x80-\xff])|(?<=\A\xef\xbb\xbf))%s(?![\w\x80-\xff])" % re.escape(word))
    for count, match in enumerate(pattern.finditer(tree.data, *(byte_range or (0, len(tree.data))))):
        if count >= MAX_OCCURRENCES:
            return
        if occurrence := occurrence_at(tree, Span(*match.span())):
            yield occurrence


def occurrence_at(tree: SyntaxTree, span: Span) -> Occurrence | None:
    """Return the occurrence at the given bytes, or None if they are not a name in the code."""
    path = nodes_around(tree.root, *span)
    leaf = path[0]
    if not _is_name(tree, leaf, span):
        return None
    binding, binder = _find_binding(tree, path)
    if binding is None and _ends_import(tree, path, span):
        binding, binder = "import", len(path) - 1
    is_called = _is_called(tree, path, span)
    match = SUFFIX.match(tree.data, span.end)
    suffix = b"".join(match[0].split()) if match else b""
    if binding:
        scope, scope_kind = _binding_scope(tree, path, binder, binding)
        return Occurrence(span, binding, True, is_called, scope, scope_kind, "", suffix)
    scope, scope_kind = _innermost_scope(tree, path)
    role: Role
    receiver = ""
    if any(node.type in IMPORT_NODES for node in path[1:6]) and not _is_in_require(path):
        role = "import"
    elif _is_member(tree, path):
        role, receiver = "member", _read_receiver(tree, path, leaf)
    elif leaf.type == "instance_variable" or leaf.type == "class_variable":
        role, receiver = "member", "@"
    else:
        role = "key" if _is_key(path) else "type" if _is_type(tree, path) else "value"
    return Occurrence(span, role, False, is_called, scope, scope_kind, receiver, suffix)


def scopes_around(tree: SyntaxTree, offset: int) -> list[tuple[Span, ScopeKind]]:
    """Return the functions and classes around a byte offset, the innermost first, and the file as the last."""
    scopes: list[tuple[Span, ScopeKind]] = []
    for node in nodes_around(tree.root, offset, offset):
        if node.type in FUNCTION_NODES:
            scopes.append((Span(*node.byte_range), "function"))
        elif node.type in CLASS_NODES:
            scopes.append((Span(*node.byte_range), "class"))
    return [*scopes, (Span(0, len(tree.data)), "file")]


def class_names_around(tree: SyntaxTree, offset: int) -> list[str]:
    """Return the names of the classes around a byte offset, the innermost first."""
    nodes = [node for node in nodes_around(tree.root, offset, offset) if node.type in CLASS_NODES]
    names = (node.child_by_field_name("name") or node.child_by_field_name("type") for node in nodes)
    return [decode(name.text or b"") for name in names if name]


def _is_name(tree: SyntaxTree, leaf: Node, span: Span) -> bool:
    if leaf.child_count or "string" in leaf.type or "comment" in leaf.type or leaf.type in ("jsx_text", "text"):
        return False
    if leaf.end_byte != span.end:
        return False
    before = tree.data[leaf.start_byte : span.start]
    return leaf.is_named and (not before or before in NAME_PREFIXES)


def _find_binding(tree: SyntaxTree, path: list[Node]) -> tuple[Binding | None, int]:
    """Return the kind of binding of a name, and the index in the path of the node that binds it."""
    traits = tree.language.names
    for index, parent in enumerate(path[1:], 1):
        node = path[index - 1]
        if kind := binding_of(traits, parent, node, path[0]):
            return kind, index
        if parent.type == "import_specifier" and parent.child_by_field_name("alias") not in (None, node):
            return None, 0
        excluded = ("key",) if parent.type == "pair_pattern" else NON_BINDING_FIELDS
        if parent.type not in PATTERN_NODES or any(parent.child_by_field_name(field) == node for field in excluded):
            return None, 0
    return None, 0


def _ends_import(tree: SyntaxTree, path: list[Node], span: Span) -> bool:
    """Return whether a name is the last part of an imported path, which is the name that the file uses."""
    if not tree.language.names.paths_bind_last_part or not any(node.type in PATH_IMPORT_NODES for node in path[1:8]):
        return False
    next_bytes = tree.data[span.end : span.end + 8].lstrip()
    return not next_bytes.startswith((b".", b"::", b"\\", b"as ", b"{"))


def _binding_scope(tree: SyntaxTree, path: list[Node], binder: int, kind: Binding) -> tuple[Span, ScopeKind]:
    has_block_functions = tree.language.names.has_block_functions
    is_block_scoped = tree.language.names.is_block_scoped and path[binder].type != "variable_declaration"
    is_definition = path[binder].type in FUNCTION_NODES | CLASS_NODES and kind in ("function", "class")
    # The declarator of a C function is inside of the node of that function, which is not its scope.
    is_c_function = kind == "function" and any(node.type == "function_declarator" for node in path[:binder])
    for node in path[binder + is_definition :]:
        if node.type in FUNCTION_NODES and not (is_c_function and node.type == "function_definition"):
            return Span(*node.byte_range), "function"
        if node.type in CLASS_NODES:
            return Span(*node.byte_range), "class"
        # The scope of a parameter is a function. In Ruby it may also be a block.
        if kind == "parameter" and not (has_block_functions and node.type in ("block", "do_block")):
            continue
        if (
            node.type in COMPREHENSION_NODES
            or (has_block_functions and node.type == "block")
            or (is_block_scoped and node.type in BLOCK_NODES)
        ):
            return Span(*node.byte_range), "function"
    return Span(0, len(tree.data)), "file"


def _innermost_scope(tree: SyntaxTree, path: list[Node]) -> tuple[Span, ScopeKind]:
    for node in path:
        if node.type in FUNCTION_NODES:
            return Span(*node.byte_range), "function"
        if node.type in CLASS_NODES:
            return Span(*node.byte_range), "class"
    return Span(0, len(tree.data)), "file"


def _is_in_require(path: list[Node]) -> bool:
    return any(node.type in ("call_expression", "call") for node in path[1:4])


def _is_member(tree: SyntaxTree, path: list[Node]) -> bool:
    """Return whether the token before a name is an access operator."""
    for node in path:
        before = node.prev_sibling
        while before and before.is_extra:
            before = before.prev_sibling
        if before:
            last = before.children[-1] if before.children and not before.is_named else before
            return last.type in ACCESS_OPERATORS and last.type not in tree.language.names.non_access_operators
        if node.start_byte < path[0].start_byte:
            return False
    return False


def _read_receiver(tree: SyntaxTree, path: list[Node], leaf: Node) -> str:
    """Return the text before the access operator of a member, or an empty string if the tree does not show it."""
    for node in path:
        if node.type == "token_tree":
            # The tree of the arguments of a Rust macro holds single tokens only.
            start = max(node.start_byte, leaf.start_byte - MAX_RECEIVER_BYTES)
            match = MACRO_RECEIVER.search(tree.data, start, leaf.start_byte)
            return decode(match[0]) if match else ""
        if node.start_byte < leaf.start_byte:
            first = next(iter(node.children), None)
            return decode(first.text or b"") if first and first.end_byte <= leaf.start_byte else ""
    return ""


def _is_called(tree: SyntaxTree, path: list[Node], span: Span) -> bool:
    if CALL_SUFFIX.match(tree.data, span.end):
        return True
    parent = path[1] if len(path) > 1 else None
    if parent is None:
        return False
    if parent.type == "call":
        # In Ruby a call may have arguments without brackets.
        return parent.child_by_field_name("method") == path[0] and parent.child_by_field_name("arguments") is not None
    return parent.type in ("decorator", "jsx_opening_element", "jsx_self_closing_element")


def _is_key(path: list[Node]) -> bool:
    for index, parent in enumerate(path[1:4], 1):
        if fields := KEY_FIELDS.get(parent.type):
            [field] = fields
            key = parent.child_by_field_name(field) if field else next(iter(parent.named_children), None)
            return key == path[index - 1]
        if parent.type != "literal_element":
            return path[0].type in ("hash_key_symbol", "property_identifier")
    return False


def _is_type(tree: SyntaxTree, path: list[Node]) -> bool:
    if path[0].type in ("type_identifier", "primitive_type", "predefined_type"):
        return True
    fields = tree.language.names.type_fields
    for index, parent in enumerate(path[1:5], 1):
        if parent.type in TYPE_NODES:
            return True
        if any(parent.child_by_field_name(field) == path[index - 1] for field in fields):
            return True
        if parent.type not in ("generic_name", "attribute", "subscript", "qualified_name", "binary_operator"):
            return False
    return False
