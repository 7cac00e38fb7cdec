"""Test sources with `<|>` once (a cursor) or twice (a selection), and golden files with expected results."""

from pathlib import Path
from typing import NamedTuple

from tree_sitter import Parser

from lsp_harness.syntax.grammars import grammar, language_for
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document

MARK = b"<|>"


class Source(NamedTuple):
    tree: SyntaxTree
    start: int
    end: int

    def text(self, span: tuple[int, int] | None) -> str | None:
        return None if span is None else self.tree.data[span[0] : span[1]].decode()


def parse_tree(path: str, text: str) -> SyntaxTree:
    """Parse a text without a time limit. The path decides its language."""
    document, language = Document.from_text(f"file:///{path}", text), language_for("", path)
    assert language is not None
    return SyntaxTree(language, document, Parser(grammar(language)).parse(document.data))


def parse_marked(path: str, text: str) -> Source:
    """Return the tree of a text without its marks, and the byte offsets of the marks."""
    before, *rest = text.encode().split(MARK)
    assert rest, "no <|> in the source"
    start = len(before)
    end = start + len(rest[0]) if len(rest) == 2 else start
    return Source(parse_tree(path, text.replace("<|>", "")), start, end)


def read_fixture(file: Path, heading: str) -> tuple[str, SyntaxTree]:
    """Split a file into its source and the expected results below `heading`.

    Returns:
        The text above the heading, and the tree of the source.
    """
    result = file.read_text("utf-8").split(heading)[0]
    name, source = result.removeprefix("-- ").split(" --\n", 1)
    return result, parse_tree(name, source)


def read_golden(file: Path, result: str, *, update: bool) -> str:
    """Return the expected text of a golden file. With `update`, write `found` to the file first."""
    if update:
        file.write_text(result, "utf-8")
    return file.read_text("utf-8")
