"""Trees that are deeper than Python's stack: nothing that walks one may end in a RecursionError."""

import random
from collections.abc import Callable, Sized

import pytest
from tree_sitter import Node

from lsp_harness.syntax.outline import build_outline
from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.scope import enclosing_class, enclosing_function, find_imports, statement_at
from lsp_harness.syntax.symbols.declared_text import read_declarations
from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
from lsp_harness.syntax.symbols.name_uses import find_references
from lsp_harness.syntax.syntax_errors import find_faults, find_new_faults
from lsp_harness.syntax.text_kind import text_kind_at
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.syntax.unfinished_code import adds_error
from lsp_harness.text.edit import Edit
from tests.syntax.markup import Source, parse_marked, parse_tree
from tests.syntax.random_edits import list_sources

DEEP = 1_100
WRONG = b" , ,= 2"

SOURCES = {
    "joined.js": "x = [a<|>] " + '+ "b" ' * DEEP + ";\n",
    "nested.json": '{"a": ' * DEEP + "1<|>" + "}" * DEEP,
    "called.py": "f(" * DEEP + "1<|>" + ")" * DEEP + "\n",
    "blocks.c": "void f(void) {\n" + "{\n" * DEEP + "a(1<|>);\n" + "}\n" * (DEEP + 1),
    "guards.h": "#ifdef A\n" * DEEP + "int a<|>;\n" + "#endif\n" * DEEP,
    "header.js": "function f(a = 1,\n  b = " + "[" * DEEP + "1<|>" + "]" * DEEP + ") {\n  return 1;\n}\n",
    "imported.rs": "use a::{" + "b::{" * DEEP + "c<|>" + "}" * (DEEP + 1) + ";\n",
    "classes.java": "class A {\n" * DEEP + "int a<|>;\n" + "}\n" * DEEP,
}
ASKED: dict[str, Callable[[SyntaxTree, int], object]] = {
    "find_faults": lambda tree, at: find_faults(tree),
    "build_outline": lambda tree, at: build_outline(tree),
    "declared": lambda tree, at: read_declarations(tree.language, tree.data),
    "text_kind_at": text_kind_at,
    "find_references": lambda tree, at: find_references(tree),
    "function": enclosing_function,
    "class": enclosing_class,
    "find_imports": lambda tree, at: find_imports(tree),
    "statement": lambda tree, at: statement_at(tree, at, at),
}


@pytest.fixture(scope="module", params=SOURCES)
def deep_source(request: pytest.FixtureRequest) -> Source:
    return parse_marked(request.param, SOURCES[request.param])


@pytest.fixture(scope="module")
def broken_tree(deep_source: Source) -> SyntaxTree:
    tree = deep_source.tree.apply_edit(Edit(deep_source.start, deep_source.start, WRONG), Allowance(BUDGET.text_s))
    assert tree is not None
    return tree


@pytest.mark.parametrize("asked", ASKED)
def test_a_deep_tree_answers_as_before_when_a_fault_is_added(deep_source: Source, broken_tree: SyntaxTree, asked: str):
    answer, later = (ASKED[asked](tree, deep_source.start) for tree in (deep_source.tree, broken_tree))
    assert type(answer) is type(later)
    if isinstance(answer, Sized) and isinstance(later, Sized):
        assert len(later) - len(answer) == (1 if asked == "find_faults" else 0)


def test_the_edit_that_broke_a_deep_tree_is_found(deep_source: Source, broken_tree: SyntaxTree):
    assert adds_error(deep_source.tree, broken_tree, (deep_source.start, deep_source.start + len(WRONG)))
    assert find_new_faults(deep_source.tree, broken_tree, [Edit(deep_source.start, deep_source.start, WRONG)])


def test_declarations_of_a_deep_tree_follow_its_edits(deep_source: Source):
    incremental_declarations = IncrementalDeclarations(deep_source.tree)
    list(incremental_declarations.list_declarations(deep_source.tree))
    edit = Edit(deep_source.start, deep_source.start, b"2")
    after = deep_source.tree.document.apply_edit(edit, 2)
    tree = deep_source.tree.update(deep_source.tree.document, edit, after)
    assert tree is not None
    incremental_declarations.record_edit(deep_source.tree.document, edit, after)
    assert list(incremental_declarations.list_declarations(tree)) == read_declarations(tree.language, tree.data)[0]


def test_a_very_deep_place_is_found_in_one_descent():
    deep = 100_000
    source = parse_marked("a.js", "[" * deep + "1<|>" + "]" * deep)
    assert text_kind_at(source.tree, source.start) == "code"
    assert len(nodes_around(source.tree.root, source.start, source.start)) > deep


@pytest.mark.parametrize(("name", "text"), list(list_sources()))
def test_the_nodes_around_a_place_are_the_parents_of_the_node_there(name: str, text: str):
    half, rng = len(text) // 2, random.Random(1)
    for written in (text, f"{text[:half]} ( = {text[half:]}"):
        tree = parse_tree(name, written)
        for start in rng.choices(range(len(tree.data)), k=20):
            end = min(len(tree.data), start + rng.choice((1, 2, 5)))
            node, parents = tree.root.descendant_for_byte_range(start, end), list[Node]()
            while node:
                parents.append(node)
                node = node.parent
            assert nodes_around(tree.root, start, end) == parents
