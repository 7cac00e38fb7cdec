"""Tests of the choice of the test that is shown whole for a declaration."""

import re
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.context.context_inputs import CodeSelection, WorkspaceScope
from lsp_harness.context.sources.index_sources import RelatedCodeSource
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query import related_tests
from lsp_harness.index.symbol_table import SymbolTable
from lsp_harness.text.position import Span
from tests.context.counting import count_words as count
from tests.context.source_call import make_inputs, read_fragments
from tests.index.place import IndexedFolder
from tests.syntax.markup import parse_marked

TILL = "class Till:\n<|>    def total(self, cart):\n        return sum(cart)\n<|>"
WHOLE = '''\
from shop.till import Till


def test_opens():
    till = Till()
    assert till.total([1]) == 1


class TestTotal:
    @pytest.mark.parametrize("n", [1, 2])
    def test_total_of_some(self, n):
        """Of one, and of two."""
        cart = [1] * n
        assert Till().total(cart) == n


def test_long():
    assert Till().total([]) == 0
%s'''
FILES = {
    "shop/till.py": TILL.replace("<|>", ""),
    "tests/test_till.py": WHOLE % "    print(1)\n" * 1,
    "tests/test_other.py": 'def test_sum_is_right():\n    assert page("/total") == "3"\n',
    "app.py": "from shop.till import Till\n\n\ndef main(cart):\n    print(Till().total(cart))\n",
}
NAMED = '''\
# tests/test_till.py:11
@pytest.mark.parametrize("n", [1, 2])
def test_total_of_some(self, n):
    """Of one, and of two."""
    cart = [1] * n
    assert Till().total(cart) == n
'''


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as index:
        yield index


async def find_related(indexed: IndexedFolder, budget: int = 1000, failing: AbstractSet[str] = frozenset()):
    source = parse_marked("shop/till.py", TILL)
    code = CodeSelection(source.tree.document, source.tree, Span(source.start, source.end), "shop/till.py")
    scope = WorkspaceScope(indexed.query, failing)
    return await read_fragments(RelatedCodeSource, make_inputs(code, scope), budget)


async def test_the_test_named_after_a_declaration_is_shown_whole_and_once(indexed_folder: IndexedFolder):
    fragments = await find_related(indexed_folder)
    [complete, *lines] = [fragment for fragment in fragments if fragment.reason == "tests it"]
    assert complete.text == NAMED
    assert [fragment.text.split("\n")[0] for fragment in lines] == ["# tests/test_till.py:6, in test_opens()"]
    assert [fragment.origin for fragment in fragments if fragment.reason == "uses it"] == ["app.py"]


async def test_without_room_for_the_whole_test_its_head_and_one_line_are_shown(indexed_folder: IndexedFolder):
    [cost] = await count([NAMED])
    for budget in range(int(cost / 0.4) - 2, int(cost / 0.4) + 4):
        texts = [fragment.text for fragment in await find_related(indexed_folder, budget)]
        assert (NAMED in texts) == (int(budget * 0.4) >= cost)
        assert sum("cart = [1] * n" in text for text in texts) == (NAMED in texts)
    texts = [fragment.text for fragment in await find_related(indexed_folder, 40)]
    assert any(re.match(r"# tests/test_till\.py:\d+, in test_", text) for text in texts)


async def test_a_failing_test_is_shown_before_all_others(indexed_folder: IndexedFolder):
    fragments = await find_related(indexed_folder, failing={"test_opens"})
    assert [(fragment.origin, fragment.reason) for fragment in fragments][:1] == [("tests/test_till.py", "fails")]
    assert "till = Till()\n" in fragments[0].text
    # also one that never names what is changed
    fragments = await find_related(indexed_folder, failing={"test_sum_is_right"})
    assert [fragment.reason for fragment in fragments if fragment.origin == "tests/test_other.py"] == ["fails"]
    fragments = await find_related(indexed_folder, failing={"TestTotal::test_total_of_some[2]"})
    assert [fragment.text for fragment in fragments if fragment.reason == "fails"] == [NAMED]


def test_a_test_is_not_shown_for_its_own_change_under_any_of_its_names(indexed_folder: IndexedFolder):
    view = IndexView(indexed_folder.reader)
    [symbol] = view.symbols.find_by_name("test_total_of_some", 4)
    for name in (
        "test_total_of_some",
        "TestTotal::test_total_of_some[2]",
        "tests.test_till.TestTotal.test_total_of_some",
    ):
        assert related_tests.find_related_test(view, symbol, (), {name}) is None


def test_only_the_failing_tests_with_similar_names_are_looked_up(indexed_folder: IndexedFolder):
    looked: list[str] = []

    class CountingSymbols(SymbolTable):
        def find_by_name(self, name: str, limit: int, kinds: Collection[str] = (), language: str = ""):
            looked.append(name)
            return super().find_by_name(name, limit, kinds, language)

    view = IndexView(indexed_folder.reader)
    view.symbols = CountingSymbols(indexed_folder.reader, {})
    [symbol] = view.symbols.find_by_name("total", 1)
    many = {f"test_a_{n}" for n in range(3000)}
    test = related_tests.find_related_test(view, symbol, (), many | {"test_total_of_some"})
    assert test
    assert test.name == "test_total_of_some"
    assert len(looked) == 1 + related_tests.MAX_FAILING_TESTS


async def test_a_failing_function_outside_of_test_files_and_a_secret_are_not_shown(tmp_path: Path):
    token = "ghp_" + "a" * 36
    files = FILES | {"tests/test_other.py": f'def test_sum_is_right():\n    assert page("{token}")\n'}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        fragments = await find_related(indexed, failing={"test_sum_is_right", "main"})
        assert [fragment.origin for fragment in fragments if fragment.reason == "fails"] == ["tests/test_other.py"]
        assert token not in "".join(fragment.text for fragment in fragments)
