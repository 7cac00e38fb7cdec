"""Code that is related to the code to change."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.context.context_inputs import CodeSelection, WorkspaceScope
from lsp_harness.context.lookup.required_imports import extract_declarations, find_required_imports
from lsp_harness.context.sources.index_sources import RelatedCodeSource
from lsp_harness.index.index_executor import DirectExecutor
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import IndexView, T
from lsp_harness.index.query.declaration_uses import find_uses
from lsp_harness.text.position import Span
from tests.context.counting import count_words as count
from tests.context.source_call import make_inputs, read_fragments
from tests.index.place import IndexedFolder
from tests.syntax.markup import Source, parse_marked, parse_tree

SHOP = """\
import json
import os.path
from decimal import Decimal, getcontext as context
from shop.cart import Cart, Item
from shop.keys import *


def price(item: Item) -> Decimal:
    return Decimal(item.price)


class Till:
    def open(self): ...

    def close(self): ...

<|>    def total(self, cart: Cart) -> Decimal:
        self.open()
        return sum(price(item) for item in cart.items())
<|>
"""
FILES = {
    "shop/till.py": SHOP.replace("<|>", ""),
    "shop/cart.py": (
        "class Item:\n    price = 1\n\n\nclass Cart:\n    def items(self) -> list[Item]: ...\n"
        "    def empty(self): ...\n"
    ),
    "shop/keys.py": "KEY = 1\n",
    "app.py": (
        "from shop.till import Till\n\n\ndef main(cart):\n    till = Till()\n    print(till.total(cart))\n"
        "    print(till.total(cart))\n"
    ),
    "tests/test_till.py": (
        "from shop.till import Till\n\n\ndef test_total_of_nothing():\n    assert Till().total([]) == 0\n"
    ),
    "far.py": "def other(bill):\n    return bill.total(1)\n",
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as index:
        yield index


async def find_related(indexed: IndexedFolder, source: Source, budget: int = 1000):
    tree = source.tree
    code = CodeSelection(tree.document, tree, Span(source.start, source.end), "shop/till.py")
    scope = WorkspaceScope(indexed.query)
    return await read_fragments(RelatedCodeSource, make_inputs(code, scope), budget)


async def test_imports_signatures_and_uses_of_a_method(indexed_folder: IndexedFolder):
    fragments = await find_related(indexed_folder, parse_marked("shop/till.py", SHOP))
    assert [(fragment.origin, fragment.reason) for fragment in fragments] == [
        ("shop/till.py", "imports that it uses"),
        ("shop/cart.py", "defines what is used here"),
        ("shop/till.py", "defines what is used here"),
        ("tests/test_till.py", "tests it"),
        ("app.py", "uses it"),
    ]
    imports, cart, till, test, use = (fragment.text for fragment in fragments)
    assert imports == "from decimal import Decimal\nfrom shop.cart import Cart\nfrom shop.keys import *\n"
    assert "class Cart:\n    def items(self) -> list[Item]: ..." in cart
    assert till == "# shop/till.py\ndef price(item: Item) -> Decimal: ...\n    def open(self): ...\n"
    assert test == "# tests/test_till.py:4\ndef test_total_of_nothing():\n    assert Till().total([]) == 0\n"
    assert use == "# app.py:6, in main(cart)\nprint(till.total(cart))\n"


async def test_no_budget_is_passed_and_lines_stay_whole(indexed_folder: IndexedFolder):
    source = parse_marked("shop/till.py", SHOP)
    complete = await find_related(indexed_folder, source)
    lines = {line for fragment in complete for line in fragment.text.splitlines()}
    cost = sum(fragment.tokens for fragment in complete)
    for budget in range(cost + 1):
        fragments = await find_related(indexed_folder, source, budget)
        assert sum(fragment.tokens for fragment in fragments) <= budget
        assert [fragment.tokens for fragment in fragments] == await count([fragment.text for fragment in fragments])
        assert {line for fragment in fragments for line in fragment.text.splitlines()} <= lines
    assert await find_related(indexed_folder, source, 0) == ()


async def test_a_line_with_a_secret_is_not_related(indexed_folder: IndexedFolder):
    text = SHOP.replace("def price(item: Item)", "def price(item: Item, key='sk-proj-" + "a1B2" * 12 + "')")
    fragments = await find_related(indexed_folder, parse_marked("shop/till.py", text))
    assert "sk-proj" not in "".join(fragment.text for fragment in fragments)
    assert "def open" in "".join(fragment.text for fragment in fragments)


def test_uses_are_searched_in_files_that_import_the_declaration(indexed_folder: IndexedFolder):
    symbol = indexed_folder.view.symbols.find_symbol("shop/till.py", "Till.total")
    assert symbol
    assert [(use.path, use.is_in_test) for use in find_uses(indexed_folder.view, symbol)] == [
        ("tests/test_till.py", True),
        ("app.py", False),
    ]
    assert indexed_folder.view.symbols.find_symbol("shop/till.py", "Till.nothing") is None
    assert indexed_folder.view.symbols.find_symbol("nowhere.py", "Till") is None


CALLED = {
    "shop/money.py": "def convert(x):\n    return convert(x)\n\n\ndef other():\n    convert(0)\n",
    "shop/use.py": (
        "from shop.money import convert as turn\n\n\ndef one(convert):\n    convert(1)\n    turn(2)\n    turn(3)\n"
    ),
    "shop/says.py": "import shop.money\n\n# convert(4) is said\nTEXT = 'convert(5)'\n",
    "shop/same.py": "import shop.money\n\n\ndef convert(x): ...\n\n\nconvert(6)\n",
    **{f"shop/more{n}.py": f"from shop.money import convert\n\n\ndef f{n}():\n    convert({n})\n" for n in range(9)},
}


def test_uses_are_places_that_mean_the_declaration(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, CALLED)) as indexed:
        symbol = indexed.view.symbols.find_symbol("shop/money.py", "convert")
        assert symbol
        lines_by_use = {f"{use.path} {use.enclosing}": use.line for use in find_uses(indexed.view, symbol)}
        # of its own file, then of the others, six at most
        assert lines_by_use == {
            "shop/money.py other()": "convert(0)",
            **{f"shop/more{n}.py f{n}()": f"convert({n})" for n in range(5)},
        }
    again = {path: text for path, text in CALLED.items() if "more" not in path}
    with closing(IndexedFolder(tmp_path / "again", again)) as indexed:
        symbol = indexed.view.symbols.find_symbol("shop/money.py", "convert")
        assert symbol
        assert [(use.path, use.line) for use in find_uses(indexed.view, symbol)] == [
            ("shop/money.py", "convert(0)"),
            ("shop/use.py", "turn(2)"),
        ]


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.py", "import a.b, c as d\n<|>a.b.f(d)<|>\n", ["import a.b", "import c as d"]),
        ("a.py", "from m import (\n    x,\n    y as z,\n)\n<|>z()<|>\n", ["from m import y as z"]),
        ("a.py", "import a\n<|>b()<|>\n", []),
        ("a.ts", 'import { a, b } from "m";\nimport c from "n";\n<|>a()<|>\n', ['import { a, b } from "m";']),
        ("a.ts", 'import {\n  a,\n  b,\n} from "m";\n<|>b()<|>\n', ['import {\n  b,\n} from "m";']),
        ("a.go", 'package m\nimport (\n\t"fmt"\n\t"os"\n)\n<|>var x = os.Args<|>\n', ['import (\n\t"os"\n)']),
        ("a.rs", "use a::{b, c};\nuse d::e;\n<|>fn f() { c() }<|>\n", ["use a::{b, c};"]),
        ("A.java", "import a.B;\nimport a.C;\n<|>class D extends C {}<|>\n", ["import a.C;"]),
        ("a.c", '#include "a.h"\n<|>int x;<|>\n', ['#include "a.h"']),
    ],
)
def test_the_imports_that_some_code_needs(path: str, source: str, expected: list[str]):
    parsed = parse_marked(path, source)
    assert find_required_imports(parsed.tree, Span(parsed.start, parsed.end)) == expected


async def test_files_are_parsed_where_no_completion_waits(indexed_folder: IndexedFolder):
    are_slow = list[bool]()

    class Executor(DirectExecutor):
        async def run(self, uri: str, question: Callable[[IndexView], T], default: T, *, is_slow: bool = False) -> T:
            are_slow.append(is_slow)
            return await super().run(uri, question, default)

    source = parse_marked("shop/till.py", SHOP)
    tree, span = source.tree, Span(source.start, source.end)
    code = CodeSelection(tree.document, tree, span, "shop/till.py")
    assert await read_fragments(
        RelatedCodeSource, make_inputs(code, WorkspaceScope(IndexQuery(Executor(indexed_folder.reader)))), 1000
    )
    assert set(are_slow) == {True}


def test_a_declaration_is_extracted_with_only_what_it_needs():
    text = SHOP.replace("<|>", "")
    [extract] = extract_declarations(parse_tree("shop/till.py", text), "shop/till.py", "price")
    assert str(extract) == (
        "from decimal import Decimal\nfrom shop.cart import Item\nfrom shop.keys import *\n\n"
        "def price(item: Item) -> Decimal:\n    return Decimal(item.price)"
    )
    [method] = extract_declarations(parse_tree("a.py", text), "a.py", "Till.open")
    assert (method.line, method.text) == (12, "    def open(self): ...")
    assert extract_declarations(parse_tree("a.py", text), "a.py", "Nothing") == []


def test_a_declaration_is_extracted_from_broken_code():
    text = (
        "import os\n\ndef parse(path):\n    return os.stat(path)\n\n\nclass Broken(:\n"
        "    def f(self) return 1\n\n\ndef x(\n"
    )
    [extract] = extract_declarations(parse_tree("a.py", text), "a.py", "parse")
    assert str(extract) == "import os\n\ndef parse(path):\n    return os.stat(path)"
