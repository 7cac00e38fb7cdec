"""The imports of a name in other files of the workspace."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.context.lookup.required_imports import find_imports
from tests.index.place import IndexedFolder

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "class Cart: ...\n\n\nclass Basket:\n    class Inner: ...\n",
    "shop/till.py": "from .cart import Cart\nimport numpy as np\nfrom math import pi\n",
    "a.py": "from math import pi\nfrom shop.cart import Cart\nimport os\n",
    "b.py": "from numpy import pi\nfrom json import loads as read_json\n",
    "here.py": "from sympy import pi\n",
    "c.ts": 'import { Zebra } from "zoo";\n',
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as made:
        yield made


@pytest.mark.parametrize(
    ("name", "path", "imports"),
    [
        ("pi", "here.py", [("math", "pi", ""), ("numpy", "pi", "")]),
        ("Cart", "here.py", [("shop.cart", "Cart", "")]),
        ("Cart", "shop/here.py", [(".cart", "Cart", ""), ("shop.cart", "Cart", "")]),
        ("np", "here.py", [("numpy", "", "np")]),
        ("os", "here.py", [("os", "", "")]),
        ("read_json", "here.py", [("json", "loads", "read_json")]),
        # nobody imports it
        ("Basket", "here.py", []),
        ("Inner", "here.py", []),
        # another language imports it
        ("Zebra", "here.py", []),
        ("nothing", "here.py", []),
    ],
)
async def test_lines_that_bring_a_name_in(
    indexed_folder: IndexedFolder, name: str, path: str, imports: list[tuple[str, str, str]]
):
    assert await find_imports(indexed_folder.query, "", path, name, "python") == imports


async def test_a_script_imports_a_module_by_a_path_relative_to_its_folder(tmp_path: Path):
    files = {
        "src/a.ts": "import { Cart } from './shop/cart';\n",
        "src/till/b.ts": "",
        "c.go": 'package p\n\nimport s "strings"\n',
    }
    with closing(IndexedFolder(tmp_path, files)) as made:
        known = made.query
        assert await find_imports(known, "", "src/till/b.ts", "Cart", "typescript") == [("../shop/cart", "Cart", "")]
        assert await find_imports(known, "", "src/till/b.js", "Cart", "javascript") == [("../shop/cart", "Cart", "")]
        assert await find_imports(known, "", "b.go", "s", "go") == [("strings", "", "s")]
        # its own imports are none of others, and other languages have others
        assert await find_imports(known, "", "src/a.ts", "Cart", "typescript") == []
        assert await find_imports(known, "", "b.go", "Cart", "go") == []
