"""Tests of the chunks of a file: their borders, and that no text is lost."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.index.builder.chunks import MAX_CHUNK_LINES, split_chunks
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_name
from tests.syntax.markup import parse_tree

SOURCE = '''"""Doc."""
import os

LIMIT = 1


# leads
# to it
@decorated
def first(a):
    def inner():
        pass
    return inner


class Circle(Shape):
    """Doc."""
    x = 1

    def area(self):
        return 1

    # about the rest
    y = 2

    def rest(self): ...


print(first)
'''


def cut(name: str, source: str) -> list[tuple[str, str]]:
    tree = parse_tree(name, source)
    declarations, _ = find_declarations(tree.language, tree.data, tree.root)
    return [
        (qualified_name(declarations, declarations[n]) if n >= 0 else "", tree.data[start:end].decode())
        for n, start, end in split_chunks(tree.data, declarations)
    ]


def test_a_chunk_is_a_whole_function_or_a_class_without_its_methods():
    assert [(name, " ".join(text.split())) for name, text in cut("a.py", SOURCE)] == [
        ("", '"""Doc.""" import os LIMIT = 1'),
        ("first", "# leads # to it @decorated def first(a): def inner(): pass return inner"),
        ("Circle", 'class Circle(Shape): """Doc.""" x = 1'),
        ("Circle.area", "def area(self): return 1"),
        ("Circle", "# about the rest y = 2"),
        ("Circle.rest", "def rest(self): ..."),
        ("", "print(first)"),
    ]


def test_signatures_without_bodies_stay_together():
    source = "interface Shape {\n  int area();\n  int size();\n  default int both() { return 1; }\n}\n"
    assert [name for name, _ in cut("A.java", source)] == ["Shape", "Shape.both", "Shape"]


def test_a_long_declaration_is_cut_at_an_empty_line():
    body = "".join(f"    x = {n}\n" + "\n" * (n == 70) for n in range(200))
    pieces = cut("a.py", f"def long():\n{body}")
    assert [name for name, _ in pieces] == ["long"] * 3
    assert pieces[0][1].endswith("x = 70\n\n")
    assert all(text.count("\n") <= MAX_CHUNK_LINES for _, text in pieces)
    assert "".join(text for _, text in pieces) == f"def long():\n{body}"


LINES_OF_CODE = [
    "def f():\n",
    "    pass\n",
    "class A:\n",
    "    def g(self):\n",
    "        return 1\n",
    "\n",
    "# c\n",
    "x = 1\n",
    "@d\n",
]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(LINES_OF_CODE), max_size=60))
def test_chunks_lose_only_blank_lines(lines: list[str]):
    tree = parse_tree("a.py", "".join(lines))
    declarations, _ = find_declarations(tree.language, tree.data, tree.root)
    chunks = split_chunks(tree.data, declarations)
    at = 0
    for _, start, end in chunks:
        assert start >= at
        assert not tree.data[at:start].strip()
        assert tree.data[start:end].strip()
        at = end
    assert not tree.data[at:].strip()
