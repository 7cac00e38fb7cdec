"""Tests of the meaning of a name in a file, with the imports of that file."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_search import SearchRequest
from lsp_harness.store.database import DatabaseReader, Row
from tests.index.place import IndexedFolder

FILES = {
    "shop/__init__.py": "from .cart import Cart as Cart\nfrom .money import *\n",
    "shop/cart.py": (
        "from .money import Rate\n\n\nclass Cart(Base):\n    limit = 3\n\n    def add(self, item: str,\n"
        "            count=1) -> None:\n"
        '        """Put it in."""\n\n    def total(self): ...\n\n\ndef helper(): ...\n'
    ),
    "shop/money.py": "class Rate:\n    def apply(self, x): ...\n\n\ndef convert(x, rate): ...\n",
    "app.py": (
        "import shop\nimport shop.money as m\nfrom shop import Cart, convert as change\nfrom shop.cart import helper\n"
    ),
    "other.py": "class Cart: ...\ndef helper(): ...\n",
    "round.py": "from back import thing\n",
    "back.py": "from round import thing\n",
    "go.mod": "module example.org/x\n",
    "geo/circle.go": "package geo\ntype Circle struct {\n\tR float64\n}\n",
    "geo/area.go": "package geo\nfunc (c *Circle) Area() float64 { return 1 }\nfunc use(c Circle) {}\n",
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as result:
        yield result


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("app.py", "helper", ["shop/cart.py helper"]),
        ("app.py", "Cart", ["shop/cart.py Cart"]),
        ("app.py", "change", ["shop/money.py convert"]),
        ("app.py", "convert", []),
        ("shop/cart.py", "Rate", ["shop/money.py Rate"]),
        ("app.py", "Rate", []),
        ("round.py", "thing", []),
        ("nowhere.py", "Cart", []),
        ("geo/area.go", "Circle", ["geo/circle.go Circle"]),
    ],
)
def test_a_name_means_the_imported_declaration(
    indexed_folder: IndexedFolder, path: str, name: str, expected: list[str]
):
    assert [
        f"{definition.path} {definition.qualified}" for definition in indexed_folder.view.find_definitions(path, name)
    ] == expected


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [("m", "Rate", ["shop/money.py Rate"]), ("shop", "Cart", ["shop/cart.py Cart"]), ("os", "Cart", [])],
)
def test_names_of_a_module(indexed_folder: IndexedFolder, module: str, name: str, expected: list[str]):
    assert [
        f"{module_member.path} {module_member.qualified}"
        for module_member in indexed_folder.view.find_module_member("app.py", module, name)
    ] == expected


def test_a_signature_is_on_one_line(indexed_folder: IndexedFolder):
    [cart] = indexed_folder.view.find_definitions("app.py", "Cart")
    assert cart.bases == ("Base",)
    assert indexed_folder.view.texts.read_signature(cart) == "class Cart(Base):"
    assert [
        indexed_folder.view.texts.read_signature(member) for member in indexed_folder.view.symbols.find_members(cart)
    ] == [
        "limit = 3",
        "def add(self, item: str, count=1) -> None:",
        "def total(self):",
    ]


def test_members_may_be_declared_elsewhere(indexed_folder: IndexedFolder):
    [circle] = indexed_folder.view.find_definitions("geo/area.go", "Circle")
    assert [member.qualified for member in indexed_folder.view.symbols.find_members(circle)] == [
        "Circle.R",
        "Circle.Area",
    ]


def test_symbols_of_one_name_are_sorted_by_path(tmp_path: Path):
    files = {f"{name}.py": "def run(): ...\n\n\nclass Job:\n    def run(self): ...\n" for name in "cab"}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        view = indexed.view
        assert [item.path for item in view.symbols.find_by_name("Job", 2)] == ["a.py", "b.py"]
        assert [(item.path, item.kind) for item in view.symbols.find_by_name("run", 3)] == [
            *(("a.py", kind) for kind in ("function", "method")),
            ("b.py", "function"),
        ]
        # what is of another kind does not count
        assert [item.path for item in view.symbols.find_by_name("run", 3, {"method"})] == ["a.py", "b.py", "c.py"]


def test_symbols_of_another_language_are_not_found(tmp_path: Path):
    files = {f"{name}.py": "class Job: ...\n" for name in "abc"} | {"z.ts": "export class Job {}\n"}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        assert [item.path for item in indexed.view.symbols.find_by_name("Job", 1, {"class"}, "typescript")] == ["z.ts"]


def test_the_importers_of_a_file_are_found(indexed_folder: IndexedFolder):
    money = indexed_folder.view.symbols.find_file("shop/money.py")
    assert money
    assert indexed_folder.view.imports.find_importers(money[0]) == ["app.py", "shop/__init__.py", "shop/cart.py"]


def test_a_search_hit_has_the_reasons_why_it_was_found(indexed_folder: IndexedFolder):
    [first, *_] = indexed_folder.search.search(SearchRequest("Cart.add"))
    assert (first.path, first.symbol, first.kind) == ("shop/cart.py", "Cart.add", "method")
    assert first.reasons == ("name 1", "words 1")
    [first, *_] = indexed_folder.search.search(SearchRequest("put something in the cart"))
    assert (first.symbol, first.reasons) == ("Cart.add", ("words 1",))
    assert indexed_folder.search.search(SearchRequest("the of and")) == []
    assert indexed_folder.search.search(SearchRequest("")) == []
    assert indexed_folder.search.search(SearchRequest('"; DROP NEAR(')) == []


OTHERS = {
    "cs/Money.cs": "namespace Shop.Money { class Rate { class Inner {} } }\n",
    "web/Page.cs": "using Shop.Money;\nusing M = Shop.Money.Rate;\nnamespace Shop.Web { class Page {} }\n",
    "web/more/Other.cs": "namespace Shop.Web { class Other {} }\n",
    "far/Far.cs": "namespace Far { class Page {} }\n",
    "a/money.h": "int convert(int x);\n",
    "a/main.c": '#include "money.h"\n',
    "shop/Rate.java": "package shop;\nclass Rate {}\n",
    "web/Page.java": "package web;\nimport shop.Rate;\nclass Page {}\n",
    "lib/rate.rb": "class Rate\nend\n",
    "lib/page.rb": 'require_relative "rate"\n',
    "Shop/Rate.php": "<?php\nnamespace Shop;\nclass Rate {}\n",
    "php/Page.php": "<?php\nnamespace Web;\nuse Shop\\Rate;\nuse Shop\\Rate as R;\n",
    "php/Other.php": "<?php\nnamespace Web;\nclass Other {}\n",
    "src/button.tsx": "export default function Button() {}\nfunction other() {}\n",
    "src/app.tsx": 'import Button from "./button";\nimport * as other from "./button";\n',
    "py/convert.py": "def convert(): ...\n",
    "py/use.py": "import convert\n",
}


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("web/Page.cs", "Rate", ["cs/Money.cs Shop.Money.Rate"]),
        ("web/Page.cs", "M", ["cs/Money.cs Shop.Money.Rate"]),
        ("web/Page.cs", "Inner", []),
        ("web/Page.cs", "Other", ["web/more/Other.cs Shop.Web.Other"]),
        ("web/more/Other.cs", "Page", ["web/Page.cs Shop.Web.Page"]),
        ("web/more/Other.cs", "Rate", []),
        ("a/main.c", "convert", ["a/money.h convert"]),
        ("web/Page.java", "Rate", ["shop/Rate.java Rate"]),
        ("lib/page.rb", "Rate", ["lib/rate.rb Rate"]),
        ("php/Page.php", "Rate", ["Shop/Rate.php Rate"]),
        ("php/Page.php", "R", ["Shop/Rate.php Rate"]),
        ("php/Page.php", "Other", ["php/Other.php Other"]),
        ("src/app.tsx", "Button", ["src/button.tsx Button"]),
        # a module of this name, not what it has
        ("py/use.py", "convert", []),
    ],
)
def test_a_name_in_languages_that_import_in_other_ways(tmp_path: Path, path: str, name: str, expected: list[str]):
    with closing(IndexedFolder(tmp_path, OTHERS)) as result:
        assert [
            f"{definition.path} {definition.qualified}" for definition in result.view.find_definitions(path, name)
        ] == expected


def test_files_that_reach_a_file_and_over_how_many_imports(indexed_folder: IndexedFolder):
    def reaching(path: str, far: int) -> list[str]:
        file = indexed_folder.view.symbols.find_file(path)
        assert file is not None
        dependents = indexed_folder.view.imports.find_dependents([file[0]], far)
        return sorted(
            path for path in FILES if (here := indexed_folder.view.symbols.find_file(path)) and here[0] in dependents
        )

    assert reaching("shop/money.py", 0) == ["shop/money.py"]
    assert reaching("shop/money.py", 1) == ["app.py", "shop/__init__.py", "shop/cart.py", "shop/money.py"]
    assert reaching("round.py", 100) == ["back.py", "round.py"]


class CountingLinks(DatabaseReader):
    """An import table that counts its questions."""

    asked = 0

    def rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Row]:
        self.asked += 1
        return super().rows(sql, arguments)


C = {f"{n}.h": "".join(f'#include "{other}.h"\n' for other in range(12) if other != n) for n in range(12)}
SHARP = {
    f"N{n}.cs": "".join(f"using N{other};\n" for other in range(12) if other != n)
    + f"namespace N{n} {{ class A{n} {{}} }}\n"
    for n in range(12)
}
RUBY = {f"r{n}.rb": "".join(f'require_relative "r{other}"\n' for other in range(12) if other != n) for n in range(12)}


@pytest.mark.parametrize(("files", "most"), [(C, 60), (SHARP, 30), (RUBY, 60)])
def test_a_cycle_of_imports_is_followed_only_a_few_times(tmp_path: Path, files: dict[str, str], most: int):
    first = next(iter(files))
    with closing(IndexedFolder(tmp_path, files)) as result, closing(CountingLinks(result.reader.path)) as reader:
        file = IndexView(reader).symbols.find_file(first)
        assert file is not None
        assert len(IndexView(reader).imports.read_imports(file[0])) == 11
        reader.asked = 0
        assert IndexView(reader).find_definitions(first, "unknown") == []
        assert 11 < reader.asked <= most
        file = IndexView(reader).symbols.find_file(first)
        assert file
        reader.asked = 0
        assert IndexView(reader).find_visible(file[0], "unknown") == []
        assert 11 < reader.asked <= most


def test_an_imported_namespace_does_not_include_the_imports_of_its_files(tmp_path: Path):
    files = {
        "page/Page.cs": "using Web;\nclass Page { Rate rate; }\n",
        "web/Web.cs": "using Shop;\nnamespace Web { class Till : Rate {} }\n",
        "shop/Shop.cs": "namespace Shop { class Rate {} }\n",
    }
    with closing(IndexedFolder(tmp_path, files)) as result:
        web = result.view.symbols.find_file("web/Web.cs")
        assert web
        assert result.view.find_definitions("page/Page.cs", "Rate") == []
        assert [item.qualified for item in result.view.find_definitions("page/Page.cs", "Till")] == ["Web.Till"]
        assert [item.path for item in result.view.find_visible(web[0], "Rate")] == ["shop/Shop.cs"]
