"""Tests of name resolution: the declaration that a name means, and the other places that mean it."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.graph.declared_types import find_return_types, find_written_types
from lsp_harness.index.graph.name_resolution import NameUse, SourceText, find_name_at, resolve_name
from lsp_harness.index.graph.reference_search import (
    find_files_with_name,
    find_offsets,
    find_places,
    make_declaration_key,
)
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import decode
from tests.index.place import IndexedFolder
from tests.syntax.markup import parse_tree

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "from .money import Rate, convert\n\n\nclass Base:\n    def close(self): ...\n\n\nclass Cart(Base):\n"
        "    limit = 3\n\n"
        "    def add(self, item):\n        self.limit\n        self.close()\n        convert(item)  # convert this\n\n"
        "    def again(self):\n        def add(): ...\n        add()\n        self.add(1)\n"
    ),
    "shop/money.py": "class Rate:\n    def apply(self, x): ...\n\n\ndef convert(x): ...\n",
    "app.py": (
        "import shop.money as m\nfrom shop.cart import Cart\nfrom shop.money import convert\n\n\nclass Big(Cart):\n"
        "    def go(self):\n        self.close()\n        super().add(2)\n\n\ndef main(cart):\n    cart.again()\n"
        "    m.convert(1)\n"
        "    Cart.limit\n    convert(2)\n    'convert'\n    unknown(3)\n"
    ),
    "other.py": "def convert(y): ...\nconvert(1)\nclass Cart: ...\n",
    "A.java": "class A {\n  int size;\n  int twice() { return size + size(); }\n  int size() { return 1; }\n}\n",
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as result:
        yield result


def parse_file(path: str) -> tuple[SourceText, SyntaxTree]:
    tree = parse_tree(path, FILES[path])
    return SourceText(path, tree.language.id, find_declarations(tree.language, tree.data, tree.root)[0]), tree


def resolve_meaning(indexed: IndexedFolder, path: str, place: str, behind: str = "") -> list[str]:
    """Return the declarations that the last name of `place` means. Search `place` after the text `behind`."""
    text, tree = parse_file(path)
    at = FILES[path].index(place, FILES[path].index(behind)) + len(place)
    name = find_name_at(tree.data, at)
    return (
        [" ".join(make_declaration_key(text, item)) for item in resolve_name(indexed.view, text, name)] if name else []
    )


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
def test_the_meaning_of_a_name(indexed_folder: IndexedFolder, path: str, place: str, expected: list[str]):
    assert resolve_meaning(indexed_folder, path, place) == expected


def find_reference_places(indexed: IndexedFolder, target: tuple[str, str], name: str) -> list[str]:
    items: list[str] = []
    for path, _, _ in find_files_with_name(indexed.reader, name):
        text, tree = parse_file(path)
        items += (
            f"{path}:{tree.document.line_of(at) + 1}" for at in find_offsets(indexed.view, text, tree, name, target)
        )
    return items


def test_references_are_places_with_the_same_meaning_and_not_the_same_name(indexed_folder: IndexedFolder):
    assert find_reference_places(indexed_folder, ("shop/money.py", "convert"), "convert") == [
        "app.py:3",
        "app.py:14",
        "app.py:16",
        "shop/cart.py:1",
        "shop/cart.py:14",
        "shop/money.py:5",
    ]
    assert find_reference_places(indexed_folder, ("other.py", "convert"), "convert") == ["other.py:1", "other.py:2"]


def test_the_references_of_a_member_are_found(indexed_folder: IndexedFolder):
    assert find_reference_places(indexed_folder, ("shop/cart.py", "Base.close"), "close") == [
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
    name_at = find_name_at(f"first\n{line}\n".encode(), 6 + column)
    assert (name_at and (name_at.text, name_at.start - 6, name_at.qualifier)) == expected


TYPED_FILES = {
    "shop/__init__.py": "",
    "shop/till.py": (
        "class Till:\n    def total(self): ...\n\n    def drawer(self) -> 'Drawer': ...\n\n\nclass Drawer:\n"
        "    def close(self): ...\n\n\n"
        "def make(size) -> Till:\n    return Till()\n\n\ndef close(): ...\n"
    ),
    "app.py": (
        "from shop.till import Till as Box, close, make\nimport shop.till as t\n\n\nclass Page:\n    box: Box\n\n"
        "    def __init__(self, other, given: Box):\n        self.own = Box(\n            1\n        )\n"
        "        self.other = other\n"
        "        self.given = given\n\n"
        "    def all(self, rows: list[Box], one: Box | None, two: t.Till, close):\n"
        "        self.box.total()\n        self.own.total()\n        self.other.total()\n        self.given.total()\n"
        "        rows.total()\n        one.total()\n"
        "        two.total()\n        made = make(1)\n        made.total()\n        Box(1)\\\n            .total()\n"
        "        make(2).drawer().close()\n"
        "        rows[0].close()\n        close(3)\n\n\ndef free():\n    till = 1\n    close(4)\n\n\nif free():\n"
        "    till = Box(\n        2\n    )\n    till.total()\n"
    ),
    "far.py": "class Other:\n    def total(self): ...\n\n\ndef close(): ...\n",
}


@pytest.fixture
def indexed_types(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, TYPED_FILES)) as result:
        yield result


def find_meant_lines(indexed: IndexedFolder, target: tuple[str, str], name: str) -> dict[str, bool]:
    """Return line → whether the reference is sure, for the places in `app.py` that mean the target."""
    tree = parse_tree("app.py", TYPED_FILES["app.py"])
    text = SourceText("app.py", "python", find_declarations(tree.language, tree.data, tree.root)[0], tree.data)
    places = find_places(indexed.view, text, tree, name, target)
    return {decode(tree.document.line(tree.document.line_of(at))).strip(): sure for at, _, sure in places}


def test_a_member_is_that_of_the_type_that_is_written(indexed_types: IndexedFolder):
    assert find_meant_lines(indexed_types, ("shop/till.py", "Till.total"), "total") == {
        "self.box.total()": True,
        "self.own.total()": True,
        "self.given.total()": True,
        # nobody says what these are, and there are two of the name
        "self.other.total()": False,
        "rows.total()": False,
        "one.total()": True,
        "two.total()": True,
        "made.total()": True,
        ".total()": True,
        "till.total()": True,
    }
    assert set(find_meant_lines(indexed_types, ("far.py", "Other.total"), "total").values()) == {False}


def test_a_name_behind_a_bracket_or_bound_in_the_function_is_not_the_imported_one(indexed_types: IndexedFolder):
    assert find_meant_lines(indexed_types, ("shop/till.py", "close"), "close") == {
        "from shop.till import Till as Box, close, make": True,
        "close(4)": True,
    }
    assert find_meant_lines(indexed_types, ("shop/till.py", "Drawer.close"), "close") == {
        "make(2).drawer().close()": True,
        "rows[0].close()": False,
    }


WITHIN = {
    "Login.java": "class Login extends Handler {\n  class Handler extends Thread {}\n  void f() { g(); }\n}\n",
    "Login.cs": "class Login : Handler {\n  class Handler : Thread {}\n  void f() { g(); }\n}\n",
    "login.cpp": "class Login : public Handler {\n  class Handler : public Thread {};\n  void f() { g(); }\n};\n",
    "login.rb": "class Login < Handler\n  class Handler < Thread\n  end\n  def f\n    g()\n  end\nend\n",
}


@pytest.mark.parametrize("path", WITHIN)
def test_a_type_that_extends_its_own_member_has_no_other_base(tmp_path: Path, path: str):
    tree = parse_tree(path, WITHIN[path])
    text = SourceText(path, tree.language.id, find_declarations(tree.language, tree.data, tree.root)[0])
    assert [(declaration.name, declaration.bases) for declaration in text.declarations[:2]] == [
        ("Login", ("Handler",)),
        ("Handler", ("Thread",)),
    ]
    name = find_name_at(tree.data, WITHIN[path].index("g()"))
    assert name
    with closing(IndexedFolder(tmp_path, {path: WITHIN[path]})) as result:
        assert resolve_name(result.view, text, name) == []


TYPES_WRITTEN = [
    ("python", "def f(ctx: Context | None): ...", "ctx", [("Context",)]),
    ("python", "till: Optional['shop.Till'] = None", "till", [("shop", "Till")]),
    ("python", "def f(rows: list[Till], x): ...", "rows", [("list",)]),
    ("python", "x = make(Till)", "x", [("make()",)]),
    ("python", "if x == Till(): pass\ndef f(x=Till()): pass", "x", []),
    ("python", "t = Till().open()", "t", [("Till()", "open()")]),
    ("python", "x = m.Till(\n    ')',\n    1,\n)\ny = 2", "x", [("m", "Till()")]),
    ("python", "x = Till() + 1", "x", []),
    ("typescript", "private readonly pool?: Pool;", "pool", [("Pool",)]),
    ("javascript", "const p = new m.Pool(1); f({ p: Other })", "p", [("m", "Pool()")]),
    ("rust", "fn f(a: &'a mut Cart, b: Box<dyn Shape>) {", "a", [("Cart",)]),
    ("rust", "fn f(a: &'a mut Cart, b: Box<dyn Shape>) {", "b", [("Shape",)]),
    ("rust", "let b = grep::Builder::new();", "b", [("grep", "Builder", "new()")]),
    ("go", "func f(rate *money.Rate, b int) { x := &Till{1} }", "rate", [("money", "Rate")]),
    ("go", "func f(rate *money.Rate, b int) { x := &Till{1} }", "x", [("Till()",)]),
    ("java", "void g(List<Item> cart) { return cart; }", "cart", [("List",)]),
    ("cpp", "const Rate& rate = f();", "rate", [("Rate",)]),
    ("php", "function f(?Rate $rate) {}", "rate", [("Rate",)]),
]


@pytest.mark.parametrize(("language", "text", "name", "expected"), TYPES_WRITTEN)
def test_declared_types_are_read_in_each_language(language: str, text: str, name: str, expected: list[tuple[str, ...]]):
    assert find_written_types(text, name, language) == expected


LONG_LINES = [
    ("javascript", "x :" * 100_000, "x"),
    ("java", "A<" * 100_000, "x"),
    ("java", "a.b:" * 100_000, "x"),
    ("python", "x: A" + " " * 100_000 + "b", "x"),
]


@pytest.mark.parametrize(("language", "text", "name"), LONG_LINES)
def test_a_long_line_is_read_once(language: str, text: str, name: str):
    # otherwise each would take minutes
    assert find_written_types(text, name, language) == []


def test_a_long_signature_is_read_once():
    assert find_return_types("A<" * 100_000, "make", "java") == []


def test_values_of_a_name_are_looked_for_once_in_a_long_line(tmp_path: Path):
    source = "def f(b):\n    x" + " :x" * 30_000 + "\n    x = b" + " " * 100_000 + "c\n    x.go()\n"
    function = Declaration("function", "f", 0, len(source), 4, 10, 0, -1, "")
    text = SourceText("a.py", "python", [function], source.encode())
    with closing(IndexedFolder(tmp_path, {})) as result:
        # otherwise this would take minutes
        assert resolve_name(result.view, text, NameUse("go", source.index("go()"), ("x",))) == []


@pytest.mark.parametrize(
    ("language", "signature", "expected"),
    [
        ("python", "def make(a: int) -> Till", [("Till",)]),
        ("python", "def make(a)", []),
        ("typescript", "function make(a: number): Till | undefined", [("Till",)]),
        ("go", "func make(a int) (*money.Till, error)", [("money", "Till")]),
        ("java", "public static Till make(int a)", [("Till",)]),
        ("rust", "fn make(a: u8) -> Box<Till>", [("Till",)]),
    ],
)
def test_the_types_that_a_function_returns(language: str, signature: str, expected: list[tuple[str, ...]]):
    assert find_return_types(signature, "make", language) == expected
