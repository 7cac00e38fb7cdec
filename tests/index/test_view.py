"""What a name means in a file, through what it imports."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.index.place import Indexed

FILES = {
    "shop/__init__.py": "from .cart import Cart as Cart\nfrom .money import *\n",
    "shop/cart.py": (
        "from .money import Rate\n\n\nclass Cart(Base):\n    limit = 3\n\n    def add(self, item: str,\n            count=1) -> None:\n"
        '        """Put it in."""\n\n    def total(self): ...\n\n\ndef helper(): ...\n'
    ),
    "shop/money.py": "class Rate:\n    def apply(self, x): ...\n\n\ndef convert(x, rate): ...\n",
    "app.py": "import shop\nimport shop.money as m\nfrom shop import Cart, convert as change\nfrom shop.cart import helper\n",
    "other.py": "class Cart: ...\ndef helper(): ...\n",
    "round.py": "from back import thing\n",
    "back.py": "from round import thing\n",
    "go.mod": "module example.org/x\n",
    "geo/circle.go": "package geo\ntype Circle struct {\n\tR float64\n}\n",
    "geo/area.go": "package geo\nfunc (c *Circle) Area() float64 { return 1 }\nfunc use(c Circle) {}\n",
}


@pytest.fixture
def indexed(tmp_path: Path):
    with closing(Indexed(tmp_path, FILES)) as made:
        yield made


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
def test_a_name_means_what_it_is_imported_from(indexed: Indexed, path: str, name: str, expected: list[str]):
    assert [f"{one.path} {one.qualified}" for one in indexed.view.defined(path, name)] == expected


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [("m", "Rate", ["shop/money.py Rate"]), ("shop", "Cart", ["shop/cart.py Cart"]), ("os", "Cart", [])],
)
def test_what_a_module_has(indexed: Indexed, module: str, name: str, expected: list[str]):
    assert [f"{one.path} {one.qualified}" for one in indexed.view.of_module("app.py", module, name)] == expected


def test_a_signature_is_on_one_line(indexed: Indexed):
    [cart] = indexed.view.defined("app.py", "Cart")
    assert cart.bases == ("Base",)
    assert indexed.view.signature(cart) == "class Cart(Base):"
    assert [indexed.view.signature(one) for one in indexed.view.members(cart)] == [
        "limit = 3",
        "def add(self, item: str, count=1) -> None:",
        "def total(self):",
    ]


def test_members_may_be_declared_elsewhere(indexed: Indexed):
    [circle] = indexed.view.defined("geo/area.go", "Circle")
    assert [one.qualified for one in indexed.view.members(circle)] == ["Circle.R", "Circle.Area"]


def test_who_imports_a_file(indexed: Indexed):
    money = indexed.view.file("shop/money.py")
    assert money
    assert indexed.view.importers(money[0]) == ["app.py", "shop/__init__.py", "shop/cart.py"]


def test_search_says_by_which_way_it_found(indexed: Indexed):
    [first, *_] = indexed.search.search("Cart.add")
    assert (first.path, first.symbol, first.kind) == ("shop/cart.py", "Cart.add", "method")
    assert first.reasons == ("name 1", "words 1")
    [first, *_] = indexed.search.search("put something in the cart")
    assert (first.symbol, first.reasons) == ("Cart.add", ("words 1",))
    assert indexed.search.search("the of and") == []
    assert indexed.search.search("") == []
    assert indexed.search.search('"; DROP NEAR(') == []
