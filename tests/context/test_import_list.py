"""Names that can go into a list of imports. They come from the index, without the model."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.context.lookup.import_list import complete_import_list, find_import_list
from lsp_harness.index.query.symbol_lookup import find_exported_names
from tests.index.place import IndexedFolder
from tests.syntax.markup import parse_marked

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "CART_LIMIT = 3\n\n\nclass Cart: ...\n\n\nclass Item: ...\n\n\ndef empty(cart): ...\n\n\n"
        "def total(cart): ...\n\n\ndef _hidden(): ...\n"
    ),
    "shop/here.py": "",
    "src/here.ts": "",
    "src/cart.ts": (
        "export class Cart {}\nexport class Item {}\nexport function emptyCart(): void {}\nconst secret = 1;\n"
        "function hidden() {}\n"
    ),
    "crates/shop/Cargo.toml": '[package]\nname = "shop"\n',
    "crates/shop/src/lib.rs": "",
    "crates/shop/src/here.rs": "",
    "crates/shop/src/cart.rs": (
        "pub struct Cart;\npub struct Item;\nimpl Cart {}\npub fn empty_cart() {}\npub fn total_of() {}\n"
        "fn hidden() {}\n"
    ),
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as made:
        yield made


def put_in(indexed: IndexedFolder, path: str, text: str) -> str:
    source = parse_marked(path, text)
    names = find_import_list(source.tree, source.start)
    if names is None:
        return ""
    exported = find_exported_names(indexed.view, path, source.tree.language.id, names.module)
    return complete_import_list(names, exported, path, source.tree, source.start)


CASES = {
    "what is used and missing, a line each": (
        "shop/here.py",
        "from .cart import (\n    Cart,\n    <|>\n)\n\nx = Cart(Item(), total(1))\n",
        "Item,\n    total,",
    ),
    "only what comes between its neighbours": (
        "shop/here.py",
        "from .cart import (\n    Cart,\n    <|>\n    total,\n)\n\nx = Cart(Item(), total(empty(1)))\n",
        "Item,\n    empty,",
    ),
    "constants before classes, where the list has it so": (
        "shop/here.py",
        "from .cart import (\n    <|>\n    Cart,\n    empty,\n)\n\nx = CART_LIMIT, Cart, empty(), total()\n",
        "CART_LIMIT,",
    ),
    "a line that is not indented yet": (
        "shop/here.py",
        "from .cart import (\n    Cart,\n<|>\n)\n\nx = Cart(Item())\n",
        "    Item,",
    ),
    "on one line": ("shop/here.py", "from .cart import Cart, <|>\n\nx = Cart(Item(), total(1))\n", "Item, total"),
    "right behind a comma": ("shop/here.py", "from .cart import Cart,<|>\n\nx = Cart(Item())\n", " Item"),
    "a statement that has just been begun": ("shop/here.py", "from .cart import <|>\n\nx = Item()\n", "Item"),
    "the rest of a name": ("shop/here.py", "from .cart import Cart, It<|>\n\nx = Item(), total(1)\n", "em"),
    "nothing is missing": ("shop/here.py", "from .cart import Cart, <|>\n\nx = Cart()\n", ""),
    "only a comment has it": ("shop/here.py", "from .cart import Cart, <|>\n\n# Item\nx = Cart()\n", ""),
    "a variable of that name": ("shop/here.py", "from .cart import Cart, <|>\n\ntotal = 3\nx = Cart(total)\n", ""),
    "it is declared here": ("shop/here.py", "from .cart import Cart, <|>\n\nclass Item: ...\nx = Cart(Item())\n", ""),
    "what is handed on, one at a time": (
        "shop/here.py",
        "from .cart import (  # noqa: F401\n    Cart,\n    <|>\n)\n",
        "Item,",
    ),
    "what a package hands on": (
        "shop/__init__.py",
        "from .cart import (\n    Cart,\n    <|>\n    total,\n)\n",
        "Item,",
    ),
    "what is private is not handed on": ("shop/__init__.py", "from .cart import (\n    total,\n    <|>\n)\n", ""),
    "behind something else": ("shop/here.py", "from .cart import Cart as <|>\n\nx = Item()\n", ""),
    "before a name": ("shop/here.py", "from .cart import <|>Cart\n\nx = Item()\n", ""),
    "in no import": ("shop/here.py", "print(<|>)\nItem()\n", ""),
    "TypeScript": (
        "src/here.ts",
        "import {\n  Cart,\n  <|>\n} from './cart';\n\nconst x: Item = emptyCart(new Cart());\n",
        "Item,\n  emptyCart,",
    ),
    "TypeScript on one line": ("src/here.ts", "import { Cart, <|> } from './cart';\n\nnew Item();\n", "Item"),
    "TypeScript, an export": ("src/here.ts", "export {\n  Cart,\n  <|>\n} from './cart';\n", "Item,"),
    "Rust, several names a line": (
        "crates/shop/src/here.rs",
        (
            "use crate::{\n    cart::{\n        Cart,\n        <|>\n    },\n};\n\n"
            "fn f(i: Item) { empty_cart(); total_of(); }\n"
        ),
        "Item, empty_cart, total_of,",
    ),
    "Rust, one more of the module before": (
        "crates/shop/src/here.rs",
        "use crate::{\n    cart::Cart,\n    <|>\n};\n\nfn f(i: Item) {}\n",
        "cart::Item,",
    ),
    "Rust, a pub use": (
        "crates/shop/src/lib.rs",
        "pub use crate::cart::{\n    Cart,\n    <|>\n};\n",
        "Item, empty_cart, total_of,",
    ),
    "a language without such lists": ("here.go", 'import "shop/<|>"\n', ""),
}


@pytest.mark.parametrize("case", CASES)
def test_missing_imports_of_a_list_are_proposed(indexed_folder: IndexedFolder, case: str):
    path, text, expected = CASES[case]
    assert put_in(indexed_folder, path, text) == expected


def test_a_list_is_read_off_the_text():
    source = parse_marked("shop/here.py", "from .cart import (\n    Cart,  # the first\n    It<|>\n    total,\n)\n")
    import_list = find_import_list(source.tree, source.start)
    assert import_list is not None
    assert (import_list.module, import_list.before, import_list.after, import_list.typed) == (
        ".cart",
        ("Cart",),
        ("total",),
        "It",
    )
