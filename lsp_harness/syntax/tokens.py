"""The tokens of a part of a text, by their meaning for a reader: names, literals, keywords, operators, comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import BYTE_ORDER_MARK
from lsp_harness.text.position import decode

TokenKind = Literal["name", "literal", "keyword", "operator", "separator", "comment"]

SEPARATORS = frozenset("()[]{},;:") | {"'", '"', "`", '"""', "'''"}
"""Tokens that only join or enclose others."""
NAME_NODES = frozenset(
    {"name", "constant", "word", "variable_name", "instance_variable", "class_variable", "global_variable"}
)
"""Types of leaf nodes that are names, besides those whose type contains `identifier`."""
TOKEN_PATTERN = re.compile(r"[\w$\u0080-\U0010ffff]+|['\"`]+|[()\[\]{},;:]|[^\w\s()\[\]{},;:'\"`$]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A leaf of a tree.

    `start` and `end` are byte offsets. Two tokens with the same kind and text mean the same to a reader.
    """

    kind: TokenKind
    text: str
    start: int
    end: int


def read_tokens(tree: SyntaxTree, start: int, end: int) -> list[Token]:
    """Return the tokens that touch the bytes from `start` to `end`, in the order of the text."""
    return [_make_token(tree, node) for node in _leaves(tree.root, start, end)]


def scan_tokens(data: bytes, start: int, end: int) -> list[Token]:
    """Return the tokens of the bytes from `start` to `end` without a tree, for a text that cannot be parsed.

    The tokens are words, runs of quotes, brackets, separators and operators.
    """
    if start == 0 and data.startswith(BYTE_ORDER_MARK):
        start = len(BYTE_ORDER_MARK)
    text = decode(data[start:end])
    tokens: list[Token] = []
    offset, previous_end = start, 0
    for match in TOKEN_PATTERN.finditer(text):
        offset += len(text[previous_end : match.start()].encode("utf-8", "surrogatepass"))
        size = len(match.group().encode("utf-8", "surrogatepass"))
        tokens.append(Token(_find_kind(match.group()), match.group(), offset, offset + size))
        offset, previous_end = offset + size, match.end()
    return tokens


def _find_kind(text: str) -> TokenKind:
    if text[0].isdigit():
        return "literal"
    if text[0].isalpha() or text[0] in "_$" or ord(text[0]) > 127:
        return "name"
    return "separator" if text[0] in SEPARATORS else "operator"


def _leaves(root: Node, start: int, end: int) -> Iterator[Node]:
    # There is no recursion, as a tree may have thousands of levels.
    stack = [root]
    while stack:
        node = stack.pop()
        if node.end_byte < start or node.start_byte > end or node.start_byte == node.end_byte:
            continue
        if node.child_count and "comment" not in node.type:
            stack += reversed(node.children)
        else:
            yield node


def _make_token(tree: SyntaxTree, node: Node) -> Token:
    text = decode(tree.data[node.start_byte : node.end_byte])
    kind: TokenKind
    if "comment" in node.type:
        kind, text = "comment", text.strip()
    elif node.type in ("string_start", "string_end"):
        kind = "separator"
    elif node.is_named:
        kind = "name" if "identifier" in node.type or "primitive" in node.type or node.type in NAME_NODES else "literal"
        if node.type in ("self", "this", "super", "crate") or (kind == "literal" and node.type == text):
            kind = "keyword"
    elif text in SEPARATORS or text.strip("'\"`") == "":
        kind = "separator"
    else:
        kind = "keyword" if text[:1].isalpha() else "operator"
    return Token(kind, text, node.start_byte, node.end_byte)
