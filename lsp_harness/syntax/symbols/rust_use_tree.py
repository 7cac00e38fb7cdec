"""The names in a tree of imports, as Rust has them: `use a::{b, c::d as e, f::*}`."""

from collections.abc import Iterator

from tree_sitter import Node

from lsp_harness.text.position import decode


def read_use_tree(data: bytes, node: Node, within: str = "") -> Iterator[tuple[str, str, str]]:
    """(module, name, alias) of each; the name of all of a module is `*`, that of a module itself is empty."""

    def text(part: Node | None) -> str:
        return decode(data[part.start_byte : part.end_byte]) if part else ""

    waiting = [(node, within)]
    while waiting:
        node, within = waiting.pop()
        match node.type:
            case "use_list":
                waiting += ((each, within) for each in reversed(node.named_children))
            case "scoped_use_list":
                if found := node.child_by_field_name("list"):
                    waiting.append((found, _join_path(within, text(node.child_by_field_name("path")))))
            case "use_as_clause":
                path = _join_path(within, text(node.child_by_field_name("path")))
                yield (*_split_path(path), text(node.child_by_field_name("alias")))
            case "use_wildcard":
                yield _join_path(within, *map(text, node.named_children)), "*", ""
            case "self" if within:
                yield (*_split_path(within), "")
            case "line_comment" | "block_comment":
                pass
            case _:
                yield (*_split_path(_join_path(within, text(node))), "")


def _join_path(*parts: str) -> str:
    return "::".join(part for part in parts if part)


def _split_path(path: str) -> tuple[str, str]:
    module, _, name = path.rpartition("::")
    return (module, name) if module else (name, "")
