"""The place of a sign that an edit puts into a text: the nodes around it and the text beside it."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.tree import SyntaxTree

LOOK_BYTES = 120
"""Number of bytes before and after a sign that the rules examine."""

WORD_BEFORE, WORD_AFTER = re.compile(rb"(\$?\w+)\s*\Z"), re.compile(rb"\s*(\$?\w+)")


@dataclass(frozen=True, slots=True)
class SignPlace:
    """A sign in a text.

    Attributes:
        tree: The tree of the text.
        start: The byte offset at which the sign starts.
        end: The byte offset at which it ends.
        nodes: The nodes that contain the sign, the innermost first.
        is_replacement: Whether the sign took the place of another sign.
    """

    tree: SyntaxTree
    start: int
    end: int
    nodes: tuple[Node, ...]
    is_replacement: bool

    @property
    def language(self) -> LanguageSpec:
        return self.tree.language

    @property
    def parent(self) -> Node:
        return self.nodes[0]

    @property
    def text_before(self) -> bytes:
        return self.tree.data[max(0, self.start - LOOK_BYTES) : self.start]

    @property
    def text_after(self) -> bytes:
        return self.tree.data[self.end : self.end + LOOK_BYTES]

    def find_ancestor(self, kind: str) -> int:
        """Return the index of the first of `nodes` whose type matches the expression `kind`, or -1."""
        return next((n for n, node in enumerate(self.nodes) if re.search(kind, node.type)), -1)

    def parent_type(self, position: int) -> str:
        """Return the type of the node around the node `position`, or an empty text."""
        return self.nodes[position + 1].type if position + 1 < len(self.nodes) else ""

    def count_word(self, word: bytes) -> int:
        """Return how often the text has a word."""
        return len(re.findall(rb"(?<![\w$])%s(?!\w)" % re.escape(word), self.tree.data))


def occurs_before(sign: SignPlace, word: bytes) -> bool:
    """Return whether a word occurs in the text before the sign, apart from the word beside it."""
    return len(re.findall(rb"(?<![\w$.])%s(?!\w)" % re.escape(word), sign.tree.data[: sign.start])) > 1
