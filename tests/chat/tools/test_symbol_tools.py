"""Tests of the tools that find and change symbols."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_harness.chat.tool import CallContext
from lsp_harness.chat.tools.symbol_edit_tools import fit_indentation
from tests.chat.tools.surroundings import ToolWorkspace
from tests.index.place import IndexedFolder

CART = '''"""Carts."""

from functools import cached_property


class Cart:
    """A cart."""

    rate = 2

    def __init__(self, items):
        self.items = items

    @cached_property
    def total(self):
        return sum(self.items)

    # counts the items
    def count(self):
        return len(self.items)


def build(items):
    return Cart(items)
'''
USE = "from cart import build\n\n\ndef main():\n    return build([1]).total\n"
FILES = {"cart.py": CART, "use.py": USE}


@pytest.fixture
def tool_workspace(tmp_path: Path) -> ToolWorkspace:
    root = tmp_path / "bare"
    root.mkdir()
    return ToolWorkspace(root, {**FILES})


@pytest.fixture
def indexed_workspace(tmp_path: Path) -> Iterator[ToolWorkspace]:
    index = IndexedFolder(tmp_path / "index", FILES)
    yield ToolWorkspace(tmp_path / "w", {**FILES}, index.query)
    index.close()


@pytest.mark.parametrize("name", ["Cart/total", "Cart.total", "total", "Cart::total", "/Cart/total", "total()"])
async def test_the_code_of_a_symbol_is_found_by_its_name_path(
    tool_workspace: ToolWorkspace, indexed_workspace: ToolWorkspace, name: str
):
    body = "14\t    @cached_property\n15\t    def total(self):\n16\t        return sum(self.items)"
    code = f"cart.py:14-16 method Cart.total\n{body}"
    assert await tool_workspace.text("find_symbol", name=name) == code
    assert await tool_workspace.text("find_symbol", name=name, path="cart.py") == code
    assert await indexed_workspace.text("find_symbol", name=name) == code


async def test_the_current_text_wins_over_an_outdated_index(indexed_workspace: ToolWorkspace):
    (indexed_workspace.root / "cart.py").write_text("\n\ndef build(items):\n    return items\n")
    assert await indexed_workspace.text("find_symbol", name="build") == (
        "cart.py:3-4 function build\n3\tdef build(items):\n4\t    return items"
    )
    assert await indexed_workspace.error("find_symbol", name="Cart/total") == (
        "there is no symbol Cart/total in the workspace; the most similar names are: total"
    )


async def test_many_symbols_are_listed_without_code(tool_workspace: ToolWorkspace):
    for number in range(5):
        (tool_workspace.root / f"m{number}.py").write_text("def same():\n    pass\n")
    assert await tool_workspace.text("find_symbol", name="same") == "\n".join(
        f"m{n}.py:1-2 function same" for n in range(5)
    )
    assert (await tool_workspace.error("replace_symbol_body", path="cart.py", name="same", text="x")).startswith(
        "cart.py has no symbol same; its symbols are: Cart, Cart.rate"
    )


async def test_the_symbols_of_a_file_are_listed_without_those_in_functions(tool_workspace: ToolWorkspace):
    assert (await tool_workspace.text("symbol_overview", path="cart.py")).split("\n") == [
        "cart.py",
        "6-20 class Cart",
        "  9 field rate",
        "  11-12 method __init__",
        "  14-16 method total",
        "  19-20 method count",
        "23-24 function build",
    ]
    (tool_workspace.root / "a.txt").write_text("text\n")
    assert "so its symbols are not known; work with its text" in await tool_workspace.error(
        "symbol_overview", path="a.txt"
    )


async def test_the_uses_of_a_symbol_are_found_by_the_index(indexed_workspace: ToolWorkspace):
    assert await indexed_workspace.text("find_references", name="build") == (
        "2 uses of cart.py:23-24 function build\nuse.py:1: from cart import build\nuse.py:5: return build([1]).total"
    )


@pytest.mark.process
async def test_without_an_index_the_uses_are_found_by_the_name(tool_workspace: ToolWorkspace):
    text = await tool_workspace.text("find_references", name="build", path="cart.py")
    assert text.startswith("Lines with the name build (the index does not know cart.py:23-24 function build):\n")
    assert "use.py:5: return build([1]).total" in text


@pytest.mark.process
async def test_a_definition_is_replaced_and_its_decorator_stays(tool_workspace: ToolWorkspace):
    result = await tool_workspace.run(
        "replace_symbol_body", path="cart.py", name="Cart/total", text="def total(self):\n    return 0"
    )
    assert tool_workspace.read("cart.py") == CART.replace("return sum(self.items)", "return 0")
    assert result.text == "cart.py was changed in lines 15-16."
    assert tool_workspace.kept == [(tool_workspace.root / "cart.py", CART.encode())]
    await tool_workspace.run(
        "replace_symbol_body",
        path="cart.py",
        name="Cart/total",
        text="    @property\n    def total(self):\n        return 0",
        accept_findings=True,
    )
    assert tool_workspace.read("cart.py") == CART.replace("return sum(self.items)", "return 0").replace(
        "@cached_property\n", "@property\n"
    )


@pytest.mark.process
async def test_code_is_inserted_beside_a_symbol_with_the_blank_lines_of_its_neighbours(tool_workspace: ToolWorkspace):
    await tool_workspace.run(
        "insert_before_symbol", path="cart.py", name="Cart/count", text="def first(self):\n    return 1\n"
    )
    await tool_workspace.run(
        "insert_after_symbol", path="cart.py", name="Cart/count", text="def last(self):\n    return 2"
    )
    await tool_workspace.run("insert_before_symbol", path="cart.py", name="build", text="def make():\n    return 3")
    await tool_workspace.run("insert_after_symbol", path="cart.py", name="build", text="def end():\n    return 4")
    await tool_workspace.run("insert_after_symbol", path="cart.py", name="Cart/rate", text="limit = 3")
    assert tool_workspace.read("cart.py") == (
        CART.replace("    # counts", "    def first(self):\n        return 1\n\n    # counts")
        .replace("len(self.items)\n", "len(self.items)\n\n    def last(self):\n        return 2\n")
        .replace("def build", "def make():\n    return 3\n\n\ndef build")
        .replace("rate = 2\n", "rate = 2\n\n    limit = 3\n")
        + "\n\ndef end():\n    return 4\n"
    )


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "text", "replacement", "expected"),
    [
        (
            "a.rs",
            "struct A;\n\nimpl A {\n    #[inline]\n    /// Doc.\n    fn one(&self) -> i32 {\n        1\n    }\n}\n",
            ("insert_before_symbol", "one", "fn zero(&self) -> i32 {\n    0\n}"),
            (
                "struct A;\n\nimpl A {\n    fn zero(&self) -> i32 {\n        0\n    }\n\n"
                "    #[inline]\n    /// Doc.\n    fn one(&self) -> i32 {\n        1\n    }\n}\n"
            ),
        ),
        (
            "a.go",
            "package a\n\nfunc One() int {\n\treturn 1\n}\n",
            ("replace_symbol_body", "One", "func One() int {\n    if x {\n        return 2\n    }\n    return 1\n}"),
            "package a\n\nfunc One() int {\n\tif x {\n\t\treturn 2\n\t}\n\treturn 1\n}\n",
        ),
        (
            "a.ts",
            "class A {\n    one(): number {\n        return 1;\n    }\n}\nexport function two() {\n    return 2;\n}\n",
            ("replace_symbol_body", "A/one", "one(): number {\n        return 11;\n    }"),
            "class A {\n    one(): number {\n        return 11;\n    }\n}\nexport function two() {\n    return 2;\n}\n",
        ),
        (
            "a.ts",
            "export function two() {\n    return 2;\n}\n",
            ("replace_symbol_body", "two", "export function two() {\n    return 22;\n}"),
            "export function two() {\n    return 22;\n}\n",
        ),
        (
            "a.py",
            "class A:\r\n    def one(self):\r\n        return 1\r\n",
            ("insert_after_symbol", "one", "def two(self):\n    return 2"),
            "class A:\r\n    def one(self):\r\n        return 1\r\n\r\n    def two(self):\r\n        return 2\r\n",
        ),
    ],
    ids=["rust", "go", "typescript", "export", "returns"],
)  # fmt: skip
async def test_edits_at_symbols_work_in_other_languages(
    tmp_path: Path, name: str, text: str, replacement: tuple[str, str, str], expected: str
):
    desk = ToolWorkspace(tmp_path, {name: text})
    tool, symbol, code = replacement
    await desk.run(tool, path=name, name=symbol, text=code)
    assert desk.read(name) == expected


async def test_an_edit_at_a_symbol_that_breaks_the_syntax_is_refused(tool_workspace: ToolWorkspace):
    message = await tool_workspace.error(
        "replace_symbol_body", path="cart.py", name="build", text="def build(items:\n    return 1"
    )
    assert message.startswith("nothing was written: the edit adds a syntax error to cart.py")
    assert tool_workspace.read("cart.py") == CART


async def test_an_edit_needs_one_symbol_and_some_code(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "two.py").write_text("class A:\n    def f(self): ...\n\n\nclass B:\n    def f(self): ...\n")
    assert await tool_workspace.error("insert_after_symbol", path="two.py", name="f", text="x = 1") == (
        "f is the name of 2 symbols; give a path and Class/name:\ntwo.py:2-2 method A.f\ntwo.py:6-6 method B.f"
    )
    assert (
        await tool_workspace.error("insert_after_symbol", path="two.py", name="A/f", text=" \n")
        == '"text" is empty; give the code'
    )
    assert (await tool_workspace.error("find_symbol", name="/")).startswith('"name" is empty')


@pytest.mark.parametrize(
    ("text", "indentation", "fitted"),
    [
        ("def f():\n    return 1", "    ", "    def f():\n        return 1"),
        ("    def f():\n        return 1", "    ", "    def f():\n        return 1"),
        ("def f():\n        return 1", "    ", "    def f():\n        return 1"),
        ("f() {\n        return 1\n    }", "    ", "    f() {\n        return 1\n    }"),
        ("\n\n  x = 1\n\n  y = 2\n\n", "", "x = 1\n\ny = 2"),
        ('  x = """\nraw\n"""', "    ", '    x = """\nraw\n"""'),
        ("x", "\t", "\tx"),
    ],
)
def test_the_indentation_of_code_is_fitted(text: str, indentation: str, fitted: str):
    assert "\n".join(fit_indentation(text, indentation)) == fitted


@pytest.mark.process
async def test_the_index_learns_which_files_tools_have_changed(indexed_workspace: ToolWorkspace):
    assert indexed_workspace.index
    await indexed_workspace.run("edit", path="use.py", old="[1]", new="[2]")
    await indexed_workspace.run("create", path="new.py", text="def fresh(): ...")
    await indexed_workspace.run("insert_after_symbol", path="new.py", name="fresh", text="def other(): ...")
    names = [path.name for path in indexed_workspace.index.refreshed]
    assert names == ["use.py", "new.py", "new.py"]


async def test_the_answer_has_the_progress_and_the_state_of_the_index(indexed_workspace: ToolWorkspace):
    assert indexed_workspace.index
    indexed_workspace.index.remark = "the index is not complete yet"
    heard: list[str] = []
    context = CallContext("c", heard.append)
    found = await indexed_workspace.tools["find_symbol"].run({"name": "build"}, context)
    used = await indexed_workspace.tools["find_references"].run({"name": "build"}, context)
    assert found.text.endswith("(the index is not complete yet)")
    assert used.text.endswith("(the index is not complete yet)")
    assert set(heard) == {"indexing: 1 of 2 files\n"}
    # the index is not asked about a file that is named
    heard.clear()
    await indexed_workspace.tools["find_symbol"].run({"name": "build", "path": "cart.py"}, context)
    assert heard == []


async def test_symbol_tools_hide_files_that_a_rule_denies(tmp_path: Path):
    index = IndexedFolder(tmp_path / "index", FILES)
    desk = ToolWorkspace(tmp_path / "w", {**FILES}, index.query, can_read=lambda path, tool: path.name != "use.py")
    assert await desk.error("find_symbol", name="main") == (
        "main is only in files that the rules of this session do not allow to read"
    )
    uses = await desk.text("find_references", name="build")
    assert "use.py" not in uses
    assert "1 file was left out" in uses
    index.close()


# -- rules of the session
@pytest.mark.parametrize("has_index", [True, False])
async def test_symbols_of_files_that_a_rule_hides_are_not_called_missing(tmp_path: Path, *, has_index: bool):
    files = {**FILES, "private.py": "def hidden_total():\n    return 1\n"}
    index = IndexedFolder(tmp_path / "index", files)

    def hide(path: Path, tool: str) -> bool:
        return path.name != "private.py"

    desk = ToolWorkspace(tmp_path / "w", {**files}, index.query if has_index else None, can_read=hide)
    try:
        assert await desk.error("find_symbol", name="hidden_total") == (
            "hidden_total is only in files that the rules of this session do not allow to read"
        )
        assert "hidden_total" not in await desk.error("find_symbol", name="hidden_tota")
    finally:
        index.close()
