"""The place of a sign that an edit puts into a text: what it is in, and what stands beside it."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.syntax.tree import SyntaxTree

LOOK_BYTES = 120

WORD_BEFORE, WORD_AFTER = re.compile(rb"(\$?\w+)\s*\Z"), re.compile(rb"\s*(\$?\w+)")


@dataclass(frozen=True, slots=True)
class SignPlace:
    """A sign in a tree. `nodes`: what it is in, the innermost first; `replaced`: whether it took the place of another sign."""

    tree: SyntaxTree
    start: int
    end: int
    nodes: tuple[Node, ...]
    replaced: bool

    @property
    def language(self) -> str:
        return self.tree.language.id

    @property
    def parent(self) -> Node:
        return self.nodes[0]

    @property
    def before(self) -> bytes:
        return self.tree.data[max(0, self.start - LOOK_BYTES) : self.start]

    @property
    def after(self) -> bytes:
        return self.tree.data[self.end : self.end + LOOK_BYTES]

    def within(self, kind: str) -> int:
        """The first of `nodes` whose kind matches; -1 if none does."""
        return next((n for n, node in enumerate(self.nodes) if re.search(kind, node.type)), -1)

    def outside(self, at: int) -> str:
        return self.nodes[at + 1].type if at + 1 < len(self.nodes) else ""

    def times(self, word: bytes) -> int:
        """How often the text has a word."""
        return len(re.findall(rb"(?<![\w$])%s(?!\w)" % re.escape(word), self.tree.data))


def is_written_before(sign: SignPlace, word: bytes) -> bool:
    return len(re.findall(rb"(?<![\w$.])%s(?!\w)" % re.escape(word), sign.tree.data[: sign.start])) > 1
