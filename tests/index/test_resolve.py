"""What a name at a place means, and where else that is meant."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.references import key, occurring, referring
from lsp_harness.index.resolve import Text, meant, name_at
from lsp_harness.syntax.declarations import declared
from lsp_harness.syntax.tree import SyntaxTree
from tests.index.place import Indexed
from tests.syntax.markup import tree_of

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "from .money import Rate, convert\n\n\nclass Base:\n    def close(self): ...\n\n\nclass Cart(Base):\n    limit = 3\n\n"
        "    def add(self, item):\n        self.limit\n        self.close()\n        convert(item)  # convert this\n\n"
        "    def again(self):\n        def add(): ...\n        add()\n        self.add(1)\n"
    ),
    "shop/money.py": "class Rate:\n    def apply(self, x): ...\n\n\ndef convert(x): ...\n",
    "app.py": (
        "import shop.money as m\nfrom shop.cart import Cart\nfrom shop.money import convert\n\n\nclass Big(Cart):\n"
        "    def go(self):\n        self.close()\n        super().add(2)\n\n\ndef main(cart):\n    cart.again()\n    m.convert(1)\n"
        "    Cart.limit\n    convert(2)\n    'convert'\n    unknown(3)\n"
    ),
    "other.py": "def convert(y): ...\nconvert(1)\nclass Cart: ...\n",
    "A.java": "class A {\n  int size;\n  int twice() { return size + size(); }\n  int size() { return 1; }\n}\n",
}


@pytest.fixture
def indexed(tmp_path: Path):
    with closing(Indexed(tmp_path, FILES)) as made:
        yield made


def text_of(path: str) -> tuple[Text, SyntaxTree]:
    tree = tree_of(path, FILES[path])
    return Text(path, tree.language.id, declared(tree.language, tree.data, tree.root)[0]), tree


def means(indexed: Indexed, path: str, place: str, behind: str = "") -> list[str]:
    """What the last name of `place` means, `behind` some text of the file."""
    text, tree = text_of(path)
    at = FILES[path].index(place, FILES[path].index(behind)) + len(place)
    name = name_at(tree.data, at)
    return [" ".join(key(text, one)) for one in meant(indexed.view, text, name)] if name else []


@pytest.mark.parametrize(
    ("path", "place", "expected"),
    [
        ("shop/cart.py", "self.limit", ["shop/cart.py Cart.limit"]),
        ("shop/cart.py", "self.close", ["shop/cart.py Base.close"]),
        ("shop/cart.py", "        add", ["shop/cart.py Cart.again.add"]),
        ("shop/cart.py", "self.add", ["shop/cart.py Cart.add"]),
        ("shop/cart.py", "        convert", ["shop/money.py convert"]),
        ("shop/cart.py", "class Cart", ["shop/cart.py Cart"]),
        ("app.py", "self.close", ["shop/cart.py Base.close"]),
        ("app.py", "super().add", ["shop/cart.py Cart.add"]),
        ("app.py", "m.convert", ["shop/money.py convert"]),
        ("app.py", "Cart.limit", ["shop/cart.py Cart.limit"]),
        ("app.py", "    convert", ["shop/money.py convert"]),
        ("app.py", "class Big(Cart", ["shop/cart.py Cart"]),
        # behind something whose type nobody knows: the only one of that name
        ("app.py", "cart.again", ["shop/cart.py Cart.again"]),
        ("app.py", "unknown", []),
        ("other.py", "\nconvert", ["other.py convert"]),
        ("A.java", "return size", ["A.java A.size", "A.java A.size"]),
    ],
)
def test_what_a_name_means(indexed: Indexed, path: str, place: str, expected: list[str]):
    assert means(indexed, path, place) == expected


def references(indexed: Indexed, target: tuple[str, str], name: str) -> list[str]:
    found: list[str] = []
    for path in occurring(indexed.reader, name):
        text, tree = text_of(path)
        found += (f"{path}:{tree.document.line_of(at) + 1}" for at in referring(indexed.view, text, tree, name, target))
    return found


def test_references_are_where_it_is_meant_and_not_where_it_is_called_so(indexed: Indexed):
    assert references(indexed, ("shop/money.py", "convert"), "convert") == [
        "app.py:3",
        "app.py:14",
        "app.py:16",
        "shop/cart.py:1",
        "shop/cart.py:14",
        "shop/money.py:5",
    ]
    assert references(indexed, ("other.py", "convert"), "convert") == ["other.py:1", "other.py:2"]


def test_references_of_a_member(indexed: Indexed):
    assert references(indexed, ("shop/cart.py", "Base.close"), "close") == [
        "app.py:8",
        "shop/cart.py:5",
        "shop/cart.py:13",
    ]


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("a.b().c", 7, ("c", 6, ("a", "b()"))),
        ("x = größe.wert", 10, ("größe", 4, ())),
        ("p->q::r", 7, ("r", 6, ("p", "q"))),
        ("a + b", 2, None),
        ("name", 4, ("name", 0, ())),
        ("name", 0, ("name", 0, ())),
        ("1 + 2", 1, None),
    ],
)
def test_the_name_that_a_cursor_is_in(line: str, column: int, expected: tuple[str, int, tuple[str, ...]] | None):
    found = name_at(f"first\n{line}\n".encode(), 6 + column)
    assert (found and (found.text, found.start - 6, found.before)) == expected
