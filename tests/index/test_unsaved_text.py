"""What an index says of texts that are open and were edited: as they are, not as they were saved."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.index_view import View
from lsp_harness.index.unsaved_text import Opened
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from tests.index.place import Indexed

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


def opened(path: str, text: str) -> Opened:
    tree = parse(Document.of(f"file:///{path}", text))
    assert tree
    return Opened(tree.language.id, tree.data, *find_declarations(tree.language, tree.data, tree.root))


def viewed(indexed: Indexed, **texts: str) -> View:
    """With texts that are opened, their paths written with `__` for `/` and `_dot_` for the last dot."""
    named = {path.replace("_dot_", ".").replace("__", "/"): text for path, text in texts.items()}
    return View(indexed.reader, {path: opened(path, text) for path, text in named.items()})


@pytest.fixture
def indexed(tmp_path: Path):
    with closing(Indexed(tmp_path, FILES)) as made:
        yield made


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
def test_what_is_imported_but_not_saved(indexed: Indexed, path: str, text: str, name: str, expected: list[str]):
    view = View(indexed.reader, {path: opened(path, text)})
    assert [f"{one.path} {one.qualified}" for one in view.defined(path, name)] == expected


def test_what_a_module_has_that_is_imported_but_not_saved(indexed: Indexed):
    text = 'package main\n\nimport "example.org/x/geo"\n'
    view = View(indexed.reader, {"main.go": opened("main.go", text)})
    assert [one.qualified for one in view.of_module("main.go", "geo", "Circle")] == ["Circle"]


def test_what_is_declared_but_not_saved(indexed: Indexed):
    text = "import x\n\n\n# of carts\nclass Cart(Base):\n    def total(self, rate: int): ...\n    def tax(self):\n        return 1\n"
    view = viewed(indexed, shop__cart_dot_py=text)
    assert view.defined("app.py", "helper") == []
    assert view.named("helper", 5) == []
    [cart] = [one for one in view.called("Cart") if one.path == "shop/cart.py"]
    assert view.symbol("shop/cart.py", "Cart") == cart
    assert [one.name for one in view.members(cart)] == ["total", "tax"]
    assert view.signature(view.members(cart)[0]) == "def total(self, rate: int):"
    assert view.whole(view.members(cart)[1]) == "    def tax(self):\n        return 1"
    assert view.whole(cart).startswith("# of carts\nclass Cart")
    assert view.body(cart).startswith("class Cart(Base):")
    assert [one.name for one in view.all(cart.file)] == ["Cart", "total", "tax"]
    assert view.data(cart.file) == text.encode()
    assert [one.name for one in view.exported("app.py", "python", "shop.cart")] == ["Cart"]


def test_what_an_opened_text_no_longer_declares_keeps_nothing_else_out(indexed: Indexed):
    assert [one.path for one in indexed.view.named("Cart", 1)] == ["shop/cart.py"]
    view = viewed(indexed, shop__cart_dot_py="\n")
    assert [one.path for one in view.named("Cart", 1)] == ["web/cart.ts"]


def test_a_type_of_other_files_has_what_is_declared_for_it_but_not_saved(indexed: Indexed):
    view = viewed(indexed, geo__area_dot_go="package geo\n\nfunc (c *Circle) Area() float64 { return 1 }\n")
    [circle] = view.called("Circle")
    assert [one.name for one in view.members(circle)] == ["R", "Area"]


def test_a_file_that_was_never_saved_is_imported(indexed: Indexed):
    view = viewed(indexed, shop__new_dot_py="class Fresh: ...\n", app_dot_py="from shop.new import Fresh\n")
    [fresh] = view.defined("app.py", "Fresh")
    assert (fresh.path, fresh.file < -1) == ("shop/new.py", True)


@pytest.mark.parametrize("path", [path for path in FILES if not path.endswith((".mod", ".toml", ".json"))])
def test_an_opened_text_that_is_as_it_was_saved_says_the_same(indexed: Indexed, path: str):
    view = View(indexed.reader, {path: opened(path, FILES[path])})
    (file, _), before = view.file(path) or (0, ""), indexed.view
    symbols = view.all(file)
    assert symbols == before.all(file)
    assert view.imports(file) == before.imports(file)
    for one in symbols:
        assert view.members(one) == before.members(one)
        assert view.signature(one) == before.signature(one)
        assert view.body(one).rstrip("\n") == before.body(one).rstrip("\n")
        assert view.whole(one).rstrip("\n") == before.whole(one).rstrip("\n")
        assert view.before(one) == before.before(one)
        assert view.symbol(path, one.qualified) == before.symbol(path, one.qualified)
