"""What a name stands for at each place where it is written: a binding with its scope, a value, a call, a type, a member, a key.

The answer comes from the nodes around one place, so a caller that asks about a few places of a large file pays for those alone.
No types are inferred, and nothing is said of names in strings and comments.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.names.binding_nodes import NON_BINDING_FIELDS, PATTERN_NODES, Binding, binding_of
from lsp_harness.syntax.names.scope_nodes import (
    BLOCK_NODES,
    BLOCK_SCOPED_LANGUAGES,
    CLASS_NODES,
    COMPREHENSION_NODES,
    FUNCTION_NODES,
    IMPORT_NODES,
    KEY_FIELDS,
    NAME_PREFIXES,
    TYPE_FIELDS,
    TYPE_NODES,
)
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import Span, decode, encode

Role = Literal["value", "type", "member", "key", "import", "variable", "parameter", "function", "class"]
ScopeKind = Literal["function", "class", "file"]

ACCESS_OPERATORS = frozenset({".", "?.", "&.", "::", "->", "?->"})
"""What stands before a member."""
NON_ACCESS_OPERATORS: Mapping[str, frozenset[str]] = {
    # it joins strings
    "php": frozenset({"."}),
    # it stands before a type, or the body of a lambda
    **dict.fromkeys(("python", "rust", "java", "csharp", "javascript", "typescript", "tsx", "ruby"), frozenset({"->"})),
}
MACRO_RECEIVER = re.compile(rb"[\w.:]*(?:\(\))?(?=(?:\.|::|->)\s*\Z)")
CALL_SUFFIX = re.compile(rb"\s*(?:::)?(?:<[\w\s,.:<>&'\[\]]{0,100}>)?\s*\(|!\s*[(\[{]")
SUFFIX = re.compile(rb"\s*(?:(?:\?\.|->|::|\.)\s*\w+|\(|\[|=(?!=)|[-+*/%<>&|]=?)?")
PATH_IMPORT_NODES = frozenset({"use_declaration", "import_declaration", "namespace_use_declaration"})
MAX_RECEIVER_BYTES = 40
"""Bytes before a name in which the sign of a member begins."""
MAX_OCCURRENCES = 80
"""Places of one name that are looked at."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at one place.

    `receiver` is the text before a member. For a binding (`binds`), `scope` is where the name may be used and `place` what kind of
    node that is; for any other role they are those of the innermost scope around. `followed` is the text right behind the name.
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
    """The places of a name in the code of a file, or of a part of it; at most `MANY`."""
    word = encode(name)
    pattern = re.compile(rb"(?<![\w\x80-\xff])%s(?![\w\x80-\xff])" % re.escape(word))
    for count, found in enumerate(pattern.finditer(tree.data, *(byte_range or (0, len(tree.data))))):
        if count >= MAX_OCCURRENCES:
            return
        if one := occurrence_at(tree, Span(*found.span())):
            yield one


def occurrence_at(tree: SyntaxTree, span: Span) -> Occurrence | None:
    """What the name in these bytes is; None where they are no name of the code."""
    path = nodes_around(tree.root, *span)
    leaf = path[0]
    if not _is_name(tree, leaf, span):
        return None
    binding, binder = _find_binding(tree, path)
    if binding is None and _ends_import(tree, path, span):
        binding, binder = "import", len(path) - 1
    called = _is_called(tree, path, span)
    followed = SUFFIX.match(tree.data, span.end)
    text = b"".join(followed[0].split()) if followed else b""
    if binding:
        scope, place = _binding_scope(tree, path, binder, binding)
        return Occurrence(span, binding, True, called, scope, place, "", text)
    scope, place = _innermost_scope(tree, path)
    member = _is_member(tree, path)
    if any(node.type in IMPORT_NODES for node in path[1:6]) and not _in_require(path):
        return Occurrence(span, "import", False, called, scope, place, "", text)
    if member:
        return Occurrence(span, "member", False, called, scope, place, _receiver(tree, path, leaf), text)
    if leaf.type == "instance_variable" or leaf.type == "class_variable":
        return Occurrence(span, "member", False, called, scope, place, "@", text)
    role: Role = "key" if _is_key(path) else "type" if _is_type(tree, path) else "value"
    return Occurrence(span, role, False, called, scope, place, "", text)


def scopes_around(tree: SyntaxTree, offset: int) -> list[tuple[Span, ScopeKind]]:
    """The functions and classes around an offset, the innermost first, and the file."""
    found: list[tuple[Span, ScopeKind]] = []
    for node in nodes_around(tree.root, offset, offset):
        if node.type in FUNCTION_NODES:
            found.append((Span(*node.byte_range), "function"))
        elif node.type in CLASS_NODES:
            found.append((Span(*node.byte_range), "class"))
    return [*found, (Span(0, len(tree.data)), "file")]


def class_names_around(tree: SyntaxTree, offset: int) -> list[str]:
    """The names of the classes around an offset, the innermost first."""
    nodes = [node for node in nodes_around(tree.root, offset, offset) if node.type in CLASS_NODES]
    named = (node.child_by_field_name("name") or node.child_by_field_name("type") for node in nodes)
    return [decode(one.text or b"") for one in named if one]


def _is_name(tree: SyntaxTree, leaf: Node, span: Span) -> bool:
    if leaf.child_count or "string" in leaf.type or "comment" in leaf.type or leaf.type in ("jsx_text", "text"):
        return False
    if leaf.end_byte != span.end:
        return False
    before = tree.data[leaf.start_byte : span.start]
    return leaf.is_named and (not before or before in NAME_PREFIXES)


def _find_binding(tree: SyntaxTree, path: list[Node]) -> tuple[Binding | None, int]:
    """What the name is bound as, and the place in the path of the node that binds it."""
    language = tree.language.id
    for n, parent in enumerate(path[1:], 1):
        node = path[n - 1]
        if kind := binding_of(language, parent, node, path[0]):
            return kind, n
        if parent.type == "import_specifier" and parent.child_by_field_name("alias") not in (None, node):
            return None, 0
        other = ("key",) if parent.type == "pair_pattern" else NON_BINDING_FIELDS
        if parent.type not in PATTERN_NODES or any(parent.child_by_field_name(field) == node for field in other):
            return None, 0
    return None, 0


def _ends_import(tree: SyntaxTree, path: list[Node], span: Span) -> bool:
    """Whether it is the last name of a path that is imported, by which the file knows what it imports."""
    if tree.language.id not in ("java", "rust", "php") or not any(node.type in PATH_IMPORT_NODES for node in path[1:8]):
        return False
    behind = tree.data[span.end : span.end + 8].lstrip()
    return not behind.startswith((b".", b"::", b"\\", b"as ", b"{"))


def _binding_scope(tree: SyntaxTree, path: list[Node], binder: int, kind: Binding) -> tuple[Span, ScopeKind]:
    language = tree.language.id
    blocks = language in BLOCK_SCOPED_LANGUAGES and path[binder].type != "variable_declaration"
    own = path[binder].type in FUNCTION_NODES | CLASS_NODES and kind in ("function", "class")
    # the declarator of a C function is in the node of the function
    inner = kind == "function" and any(node.type == "function_declarator" for node in path[:binder])
    for node in path[binder + own :]:
        if node.type in FUNCTION_NODES and not (inner and node.type == "function_definition"):
            return Span(*node.byte_range), "function"
        if node.type in CLASS_NODES:
            return Span(*node.byte_range), "class"
        # those of a block of Ruby are the block's
        if kind == "parameter" and not (language == "ruby" and node.type in ("block", "do_block")):
            continue
        if (
            node.type in COMPREHENSION_NODES
            or (language == "ruby" and node.type == "block")
            or (blocks and node.type in BLOCK_NODES)
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


def _in_require(path: list[Node]) -> bool:
    return any(node.type in ("call_expression", "call") for node in path[1:4])


def _is_member(tree: SyntaxTree, path: list[Node]) -> bool:
    """Whether the token before a name is the sign of a member."""
    for node in path:
        before = node.prev_sibling
        while before and before.is_extra:
            before = before.prev_sibling
        if before:
            last = before.children[-1] if before.children and not before.is_named else before
            return last.type in ACCESS_OPERATORS and last.type not in NON_ACCESS_OPERATORS.get(tree.language.id, ())
        if node.start_byte < path[0].start_byte:
            return False
    return False


def _receiver(tree: SyntaxTree, path: list[Node], leaf: Node) -> str:
    """The text before the sign of a member; empty where the tree does not say it."""
    for node in path:
        if node.type == "token_tree":
            # the arguments of a macro of Rust are no more than tokens
            found = MACRO_RECEIVER.search(
                tree.data, max(node.start_byte, leaf.start_byte - MAX_RECEIVER_BYTES), leaf.start_byte
            )
            return decode(found[0]) if found else ""
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
        # a command of Ruby has no brackets
        return parent.child_by_field_name("method") == path[0] and parent.child_by_field_name("arguments") is not None
    return parent.type in ("decorator", "jsx_opening_element", "jsx_self_closing_element")


def _is_key(path: list[Node]) -> bool:
    for n, parent in enumerate(path[1:4], 1):
        if fields := KEY_FIELDS.get(parent.type):
            field = fields[0]
            return (
                parent.child_by_field_name(field) == path[n - 1]
                if field
                else next(iter(parent.named_children), None) == path[n - 1]
            )
        if parent.type != "literal_element":
            return path[0].type in ("hash_key_symbol", "property_identifier")
    return False


def _is_type(tree: SyntaxTree, path: list[Node]) -> bool:
    if path[0].type in ("type_identifier", "primitive_type", "predefined_type"):
        return True
    for n, parent in enumerate(path[1:5], 1):
        if parent.type in TYPE_NODES:
            return True
        fields: Mapping[str, tuple[str, ...]] = TYPE_FIELDS
        if any(parent.child_by_field_name(field) == path[n - 1] for field in fields.get(tree.language.id, ())):
            return True
        if parent.type not in ("generic_name", "attribute", "subscript", "qualified_name", "binary_operator"):
            return False
    return False
