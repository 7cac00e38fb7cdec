"""Tests of an index with open, edited texts: it answers from the text in the editor, not from the saved file."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from tests.index.place import IndexedFolder

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": '# of carts\nclass Cart:\n    def total(self): ...\n\n\ndef helper():\n    """Say."""\n',
    "shop/money.py": "from .cart import helper\n\n\ndef convert(x, rate): ...\n",
    "app.py": "from shop.cart import helper\n",
    "go.mod": "module example.org/x\n",
    "geo/circle.go": "package geo\n\ntype Circle struct {\n\tR float64\n}\n",
    "main.go": "package main\n",
    "Cargo.toml": '[package]\nname = "my-x"\n',
    "src/lib.rs": "mod util;\n",
    "src/util.rs": "pub struct Point { x: i32 }\n",
    "src/other.rs": "\n",
    "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["web/*"]}}}',
    "web/cart.ts": "export class Cart { total() {} }\n",
    "web/index.ts": "export { Cart } from './cart'\n",
    "web/inner/page.ts": "\n",
    "Shop/Till.cs": "namespace Shop;\npublic class Till { public void Ring() {} }\n",
    "App.cs": "class App {}\n",
}


def make_unsaved_text(path: str, text: str) -> UnsavedText:
    tree = parse(Document.from_text(f"file:///{path}", text))
    assert tree
    return UnsavedText(tree.language.id, tree.data, *find_declarations(tree.language, tree.data, tree.root))


def make_view_with_unsaved_texts(indexed: IndexedFolder, **texts: str) -> IndexView:
    """Return a view with unsaved texts, whose paths have `__` for `/` and `_dot_` for the last dot."""
    named = {path.replace("_dot_", ".").replace("__", "/"): text for path, text in texts.items()}
    return IndexView(indexed.reader, {path: make_unsaved_text(path, text) for path, text in named.items()})


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as result:
        yield result


@pytest.mark.parametrize(
    ("path", "text", "name", "expected"),
    [
        ("app.py", "from shop.cart import helper, Cart\n", "Cart", ["shop/cart.py Cart"]),
        ("app.py", "from shop.cart import helper\nfrom shop import money as m\n", "helper", ["shop/cart.py helper"]),
        ("app.py", "import shop\n", "helper", []),
        ("app.py", "from shop.money import helper as h\n", "h", ["shop/cart.py helper"]),
        ("shop/new.py", "from .money import convert\n", "convert", ["shop/money.py convert"]),
        ("main.go", 'package main\n\nimport "example.org/x/geo"\n', "geo", []),
        ("geo/area.go", "package geo\n\nfunc use(c Circle) {}\n", "Circle", ["geo/circle.go Circle"]),
        ("src/other.rs", "use crate::util::Point;\n", "Point", ["src/util.rs Point"]),
        ("web/inner/page.ts", "import { Cart } from '..'\n", "Cart", ["web/cart.ts Cart"]),
        ("web/inner/page.ts", "import { Cart } from '@/cart'\n", "Cart", ["web/cart.ts Cart"]),
        ("App.cs", "using Shop;\nclass App {}\n", "Till", ["Shop/Till.cs Till"]),
    ],
)
def test_names_that_are_imported_but_not_saved(
    indexed_folder: IndexedFolder, path: str, text: str, name: str, expected: list[str]
):
    view = IndexView(indexed_folder.reader, {path: make_unsaved_text(path, text)})
    assert [f"{definition.path} {definition.qualified}" for definition in view.find_definitions(path, name)] == expected


def test_names_of_a_module_are_found_by_an_unsaved_import(indexed_folder: IndexedFolder):
    text = 'package main\n\nimport "example.org/x/geo"\n'
    view = IndexView(indexed_folder.reader, {"main.go": make_unsaved_text("main.go", text)})
    assert [module_member.qualified for module_member in view.find_module_member("main.go", "geo", "Circle")] == [
        "Circle"
    ]


def test_names_that_are_declared_but_not_saved(indexed_folder: IndexedFolder):
    text = (
        "import x\n\n\n# of carts\nclass Cart(Base):\n    def total(self, rate: int): ...\n    def tax(self):\n"
        "        return 1\n"
    )
    view = make_view_with_unsaved_texts(indexed_folder, shop__cart_dot_py=text)
    assert view.find_definitions("app.py", "helper") == []
    assert view.symbols.find_by_name("helper", 5) == []
    [cart] = [item for item in view.symbols.find_qualified("Cart") if item.path == "shop/cart.py"]
    assert view.symbols.find_symbol("shop/cart.py", "Cart") == cart
    assert [item.name for item in view.symbols.find_members(cart)] == ["total", "tax"]
    assert view.texts.read_signature(view.symbols.find_members(cart)[0]) == "def total(self, rate: int):"
    assert view.texts.read_with_comments(view.symbols.find_members(cart)[1]) == "    def tax(self):\n        return 1"
    assert view.texts.read_with_comments(cart).startswith("# of carts\nclass Cart")
    assert view.texts.read_body(cart).startswith("class Cart(Base):")
    assert [item.name for item in view.symbols.list_symbols(cart.file)] == ["Cart", "total", "tax"]
    assert view.texts.read_file(cart.file) == text.encode()
    assert [item.name for item in view.find_module_symbols("app.py", "python", "shop.cart")] == ["Cart"]


def test_a_name_that_is_no_longer_declared_does_not_use_up_the_limit(indexed_folder: IndexedFolder):
    assert [item.path for item in indexed_folder.view.symbols.find_by_name("Cart", 1)] == ["shop/cart.py"]
    view = make_view_with_unsaved_texts(indexed_folder, shop__cart_dot_py="\n")
    assert [item.path for item in view.symbols.find_by_name("Cart", 1)] == ["web/cart.ts"]


def test_a_type_has_the_members_that_are_declared_but_not_saved(indexed_folder: IndexedFolder):
    view = make_view_with_unsaved_texts(
        indexed_folder, geo__area_dot_go="package geo\n\nfunc (c *Circle) Area() float64 { return 1 }\n"
    )
    [circle] = view.symbols.find_qualified("Circle")
    assert [member.name for member in view.symbols.find_members(circle)] == ["R", "Area"]


def test_a_file_that_was_never_saved_is_imported(indexed_folder: IndexedFolder):
    view = make_view_with_unsaved_texts(
        indexed_folder, shop__new_dot_py="class Fresh: ...\n", app_dot_py="from shop.new import Fresh\n"
    )
    [fresh] = view.find_definitions("app.py", "Fresh")
    assert (fresh.path, fresh.file < -1) == ("shop/new.py", True)


@pytest.mark.parametrize("path", [path for path in FILES if not path.endswith((".mod", ".toml", ".json"))])
def test_an_opened_text_without_changes_gives_the_same_answers(indexed_folder: IndexedFolder, path: str):
    view = IndexView(indexed_folder.reader, {path: make_unsaved_text(path, FILES[path])})
    (file, _), before = view.symbols.find_file(path) or (0, ""), indexed_folder.view
    symbols = view.symbols.list_symbols(file)
    assert symbols == before.symbols.list_symbols(file)
    assert view.imports.read_imports(file) == before.imports.read_imports(file)
    for symbol in symbols:
        assert view.symbols.find_members(symbol) == before.symbols.find_members(symbol)
        assert view.texts.read_signature(symbol) == before.texts.read_signature(symbol)
        assert view.texts.read_body(symbol).rstrip("\n") == before.texts.read_body(symbol).rstrip("\n")
        assert view.texts.read_with_comments(symbol).rstrip("\n") == before.texts.read_with_comments(symbol).rstrip(
            "\n"
        )
        assert view.texts.read_line_start(symbol) == before.texts.read_line_start(symbol)
        assert view.symbols.find_symbol(path, symbol.qualified) == before.symbols.find_symbol(path, symbol.qualified)
