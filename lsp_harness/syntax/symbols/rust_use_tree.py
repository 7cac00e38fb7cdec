"""The names in a nested import of Rust, such as `use a::{b, c::d as e, f::*}`."""

from collections.abc import Iterator

from tree_sitter import Node

from lsp_harness.text.position import decode


def read_use_tree(data: bytes, node: Node, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the module, the name and the alias of each imported name.

    Args:
        data: The text as UTF-8.
        node: The argument of a `use` declaration.
        prefix: The path before `node`.

    Yields:
        Three strings. The name is `*` for all names of a module, and empty if the path is a single word.
    """

    def text(part: Node | None) -> str:
        return decode(data[part.start_byte : part.end_byte]) if part else ""

    stack = [(node, prefix)]
    while stack:
        node, prefix = stack.pop()
        match node.type:
            case "use_list":
                stack += ((child, prefix) for child in reversed(node.named_children))
            case "scoped_use_list":
                if use_list := node.child_by_field_name("list"):
                    stack.append((use_list, _join_path(prefix, text(node.child_by_field_name("path")))))
            case "use_as_clause":
                path = _join_path(prefix, text(node.child_by_field_name("path")))
                yield (*_split_path(path), text(node.child_by_field_name("alias")))
            case "use_wildcard":
                yield _join_path(prefix, *map(text, node.named_children)), "*", ""
            case "self" if prefix:
                yield (*_split_path(prefix), "")
            case "line_comment" | "block_comment":
                pass
            case _:
                yield (*_split_path(_join_path(prefix, text(node))), "")


def _join_path(*parts: str) -> str:
    return "::".join(part for part in parts if part)


def _split_path(path: str) -> tuple[str, str]:
    module, _, name = path.rpartition("::")
    return (module, name) if module else (name, "")
