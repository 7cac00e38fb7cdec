"""A parsed source file, as a light tree that knows parents and field names."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as default
from functools import cached_property

from tree_sitter import TreeCursor

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.syntax_errors import find_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document

WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(eq=False)
class Item:
    """A node of the syntax tree."""

    type: str
    start: int
    end: int
    field: str
    parent: "Item | None"
    data: bytes
    children: list["Item"] = default(default_factory=list["Item"])

    @property
    def text(self) -> str:
        return self.data[self.start : self.end].decode()

    def child(self, name: str) -> "Item | None":
        """Return the first child in a field."""
        return next((child for child in self.children if child.field == name), None)

    def named(self) -> list["Item"]:
        """Return the children that are not punctuation."""
        return [child for child in self.children if re.match(r"\w", child.type)]

    def walk(self) -> Iterator["Item"]:
        """Yield this node and all nodes below it, in the order of the text."""
        waiting: list[Item] = [self]
        while waiting:
            item = waiting.pop()
            yield item
            waiting += reversed(item.children)

    def ancestor(self, *types: str) -> "Item | None":
        """Return the innermost node around this one that has one of these types."""
        item = self.parent
        while item and item.type not in types:
            item = item.parent
        return item


class Code:
    """A text in a language that can be parsed."""

    def __init__(self, language: str, data: bytes) -> None:
        found = language_for(language, "")
        if found is None:
            raise ValueError(f"no grammar for {language}")
        self.language: LanguageSpec = found
        self.data = data

    @cached_property
    def document(self) -> Document:
        return Document.from_text("file:///text", self.data, language=self.language.id)

    @cached_property
    def tree(self) -> SyntaxTree:
        tree = parse(self.document)
        if tree is None:
            raise ValueError("the text cannot be parsed")
        return tree

    @cached_property
    def root(self) -> Item:
        return _make_items(self.tree.root.walk(), self.data)

    @cached_property
    def items(self) -> list[Item]:
        return list(self.root.walk())

    @cached_property
    def leaves(self) -> list[Item]:
        return [item for item in self.items if not item.children and item.end > item.start]

    @cached_property
    def words(self) -> Counter[str]:
        """Count every word of the text, comments and strings included."""
        return Counter(WORD.findall(self.data.decode()))

    @property
    def broken(self) -> bool:
        """Return whether the syntax is wrong. For Python, its compiler is asked as well."""
        if find_faults(self.tree):
            return True
        return self.language.id == "python" and find_python_fault(self.data) is not None

    def line_of(self, offset: int) -> tuple[int, int]:
        """Start and end of the line of an offset, the line end included."""
        start = self.data.rfind(b"\n", 0, offset) + 1
        end = self.data.find(b"\n", offset)
        return start, len(self.data) if end < 0 else end + 1

    def alone(self, item: Item) -> bool:
        """Return whether nothing else is on the line of a node."""
        start, end = self.line_of(item.start)
        return self.data[start:end].strip() == self.data[item.start : item.end]


def _make_items(cursor: TreeCursor, data: bytes) -> Item:
    # no recursion: real code is nested deeply
    def item(parent: Item | None) -> Item:
        node = cursor.node
        assert node
        made = Item(node.type, node.start_byte, node.end_byte, cursor.field_name or "", parent, data)
        if parent:
            parent.children.append(made)
        return made

    root = here = item(None)
    while True:
        if cursor.goto_first_child():
            here = item(here)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent() or here.parent is None:
                return root
            here = here.parent
        here = item(here.parent)
