"""Tests of the relations between declarations."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.graph.indexed_source import Sources
from lsp_harness.index.graph.symbol_graph import (
    MAX_FILES,
    Edge,
    SymbolGraph,
    build_graph,
    find_import_cycles,
    find_usages,
)
from tests.index.place import IndexedFolder

PYTHON = {
    "shop/__init__.py": "from .money import convert as exchange\n",
    "shop/money.py": (
        "import json\n\n\nclass Rate:\n    def apply(self, x): ...\n\n\ndef convert(x):\n    return json.loads(x)\n"
    ),
    "shop/cart.py": (
        "from shop.money import Rate, convert as turn\n\n\n"
        "class Base:\n    def close(self): ...\n\n\n"
        "class Cart(Base, Rate):\n"
        "    def total(self, convert):\n        self.close()\n        self.add(convert(1))\n        return turn(2)\n\n"
        "    def add(self, x):\n        x.unknown()\n        x.apply(1)\n        print(self.total(x))\n"
    ),
    "app.py": (
        "import shop\nfrom shop import cart\n\n\ndef main():\n    shop.exchange(1)\n"
        "    return cart.Cart().total(2)\n\n\nmain()\n"
    ),
    "tests/test_cart.py": (
        "from shop.cart import Cart\nfrom app import main\nfrom shop.money import convert\n\n\n"
        "def test_total(cart):\n    made = Cart()\n    made.total(1)\n    cart.total(2)\n\n\ndef test_main():\n"
        "    main()\n\n\n"
        "def test_convert():\n    assert convert(1)\n"
    ),
    # the same names, which nothing leads to
    "far.py": (
        "class Cart:\n    def total(self): ...\n\n\ndef convert(x): ...\n\n\ndef other(bill):\n    convert(1)\n"
        "    bill.total(Cart())\n"
    ),
    "one.py": "import two\n",
    "two.py": "from three import x\nimport one\n",
    "three.py": "import one\nx = 1\n",
}
SCRIPT = {
    "src/money.ts": (
        "export function convert(x: number): number { return x; }\nexport class Rate { apply(x: number) {} }\n"
    ),
    "src/index.ts": 'export { convert as exchange } from "./money";\nexport * from "./cart";\n',
    "src/cart.ts": (
        'import { convert as turn, Rate } from "./money";\n'
        "export class Cart extends Rate implements Shape {\n"
        "  private rate: Rate = new Rate();\n"
        "  total(convert: (x: number) => number) {\n    this.rate.apply(convert(1));\n    return turn(2);\n  }\n"
        "  twice() { return this.total(turn) + this.total(String); }\n}\n"
    ),
    "src/app.tsx": (
        'import { exchange, Cart } from "./index";\nexport class Shop {\n  constructor(private cart: Cart) {}\n'
        "  go() { return this.cart.total(1); }\n}\nexport const Page = () => {\n  const cart = new Cart();\n"
        "  return <p>{exchange(cart.total(1))}</p>;\n};\n"
    ),
    "src/cart.test.ts": 'import { Cart } from "./cart";\ntest("a", () => {\n  new Cart().twice();\n});\n',
    "src/far.ts": "function convert(x: number) {}\nconvert(1);\nclass Cart { total() {} }\n",
}
GO = {
    "go.mod": "module example.org/shop\n",
    "money/money.go": (
        "package money\n\ntype Rate struct{}\n\nfunc (r *Rate) Apply(x int) int { return x }\n\n"
        "func Convert(x int) int { return x }\n"
    ),
    "cart/cart.go": (
        'package cart\n\nimport m "example.org/shop/money"\n\ntype Cart struct {\n\tm.Rate\n\trate *m.Rate\n}\n\n'
        "func (c *Cart) Total(rate *m.Rate) int {\n\treturn rate.Apply(m.Convert(helper(1)))\n}\n"
    ),
    "cart/helper.go": "package cart\n\nfunc helper(x int) int { return x }\n",
    "cart/cart_test.go": "package cart\n\nfunc TestHelper(t *testing.T) {\n\thelper(2)\n}\n",
    "far/far.go": (
        "package far\n\nfunc Convert(x int) int { return helper(x) }\n\nfunc helper(x int) int { return Convert(x) }\n"
    ),
}
OTHERS = {
    "Shop/Money.cs": (
        "namespace Shop.Money;\n"
        "public class Rate { public static int Convert(int x) { return x; } public int Apply() => 1; }\n"
    ),
    "Web/Page.cs": (
        "using Shop.Money;\nnamespace Web { class Page : Rate { int Go() "
        "{ var rate = new Rate(); return Rate.Convert(rate.Apply()); } } }\n"
    ),
    "Web/Far.cs": (
        "namespace Other { class Rate { public static int Convert(int x) { return x; } } class Q { int Go() "
        "{ return Rate.Convert(2); } } }\n"
    ),
    "a/money.h": "int convert(int x);\n",
    "a/money.c": '#include "money.h"\nint convert(int x) { return x; }\n',
    "a/main.c": '#include "money.h"\nint main(void) { return convert(1); }\n',
    "b/far.c": "static int convert(int x) { return x; }\nint other(void) { return convert(2); }\n",
    "java/shop/Rate.java": (
        "package shop;\npublic class Rate { public Rate(int x) {} static int convert(int x) { return x; } int apply() "
        "{ return 1; } }\n"
    ),
    "java/web/Page.java": (
        "package web;\nimport shop.Rate;\n"
        "class Page extends Rate { int go(Rate rate) { return Rate.convert(rate.apply()) + apply(); } Page() "
        "{ new Rate(1); } }\n"
    ),
    "lib/rate.rb": "class Rate\n  def apply\n    1\n  end\nend\n",
    "lib/page.rb": (
        'require_relative "rate"\nclass Page < Rate\n  def go\n    rate = Rate.new\n    rate.apply\n    apply\n  end\n'
        "end\n"
    ),
    "php/Shop/Rate.php": (
        "<?php\nnamespace Shop;\n"
        "class Rate { public function __construct() {} public static function convert() {} public function apply() {} "
        "}\n"
    ),
    "php/Page.php": (
        "<?php\nnamespace Web;\nuse Shop\\Rate;\n"
        "class Page extends Rate { function go(Rate $rate) { $rate->apply(); Rate::convert(); return new Rate(); } }\n"
    ),
    "src/lib.rs": (
        "mod money;\nuse crate::money::{self, Rate};\n"
        "pub fn go(rate: &Rate) -> i32 { rate.apply() + money::convert(1) + Rate::new().apply() }\n"
    ),
    "src/money.rs": (
        "pub struct Rate;\npub trait Shape {}\nimpl Shape for Rate {}\nimpl Rate {\n    pub fn new() -> Rate { Rate }\n"
        "    pub fn apply(&self) -> i32 { 1 }\n}\npub fn convert(x: i32) -> i32 { x }\n"
    ),
}


def graph_of(folder: Path, files: dict[str, str], path: str, name: str) -> SymbolGraph:
    with closing(IndexedFolder(folder, files)) as indexed:
        symbol = indexed.view.symbols.find_symbol(path, name)
        assert symbol
        return build_graph(indexed.view, symbol)


def format_edges(edges: tuple[Edge, ...]) -> list[str]:
    """Format each edge as the command line prints it."""
    return [
        f"{edge.path}:{edge.line + 1} {edge.name}"
        + f" through {edge.through}" * bool(edge.through)
        + " ?" * (not edge.is_certain)
        for edge in edges
    ]


def test_callers_are_found_under_any_name_of_a_function(tmp_path: Path):
    result = graph_of(tmp_path, PYTHON, "shop/money.py", "convert")
    assert format_edges(result.called_by) == ["app.py:6 main", "shop/cart.py:12 Cart.total"]
    assert format_edges(result.calls) == ["shop/money.py:9 json.loads ?"]
    assert format_edges(result.tests) == [
        "tests/test_cart.py:17 test_convert",
        "tests/test_cart.py:8 test_total through Cart.total",
        "tests/test_cart.py:13 test_main through main",
    ]
    assert result.imported_by == ("shop/__init__.py", "shop/cart.py", "tests/test_cart.py")


def test_calls_of_a_method_through_its_object_are_found_or_marked_as_unsure(tmp_path: Path):
    result = graph_of(tmp_path, PYTHON, "shop/cart.py", "Cart.total")
    assert format_edges(result.calls) == [
        "shop/cart.py:5 Base.close",
        "shop/cart.py:14 Cart.add",
        "shop/cart.py:11 convert ?",
        "shop/money.py:8 convert",
    ]
    assert format_edges(result.called_by) == ["app.py:7 main", "shop/cart.py:17 Cart.add"]
    assert format_edges(result.tests) == [
        "tests/test_cart.py:8 test_total",
        # of two that are called so
        "tests/test_cart.py:9 test_total ?",
        "tests/test_cart.py:13 test_main through main",
    ]
    inner = graph_of(tmp_path / "again", PYTHON, "shop/cart.py", "Cart.add")
    assert format_edges(inner.calls) == [
        "shop/cart.py:15 x.unknown ?",
        "shop/cart.py:16 x.apply ?",
        "shop/cart.py:17 print ?",
        "shop/cart.py:9 Cart.total",
    ]
    assert format_edges(inner.called_by) == ["shop/cart.py:11 Cart.total"]


def test_the_bases_and_subclasses_of_a_type_are_found(tmp_path: Path):
    result = graph_of(tmp_path, PYTHON, "shop/cart.py", "Cart")
    assert format_edges(result.inherits) == ["shop/cart.py:4 Base", "shop/money.py:4 Rate"]
    assert format_edges(result.called_by) == ["app.py:7 main"]
    base = graph_of(tmp_path / "again", PYTHON, "shop/money.py", "Rate")
    assert format_edges(base.inherited_by) == ["shop/cart.py:8 Cart"]
    assert (base.inherits, base.calls) == ((), ())


def test_cycles_of_imports(tmp_path: Path):
    assert graph_of(tmp_path, PYTHON, "three.py", "x").cycles == (("three.py", "one.py", "two.py", "three.py"),)
    assert graph_of(tmp_path / "again", PYTHON, "shop/cart.py", "Cart").cycles == ()
    two = {
        "a.py": "import b\nimport c\nx = 1\n",
        "b.py": "import a\n",
        "c.py": "import d\n",
        "d.py": "import a\nimport d\n",
    }
    assert graph_of(tmp_path / "more", two, "a.py", "x").cycles == (
        ("a.py", "b.py", "a.py"),
        ("a.py", "c.py", "d.py", "a.py"),
    )


def test_a_cycle_whose_file_disappears_is_no_cycle(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, PYTHON)) as result:
        file = result.view.symbols.find_file("one.py")
        assert file
        assert [*find_import_cycles(result.view, file[0])]
        result.writer.execute("DELETE FROM files WHERE path = 'two.py'")
        assert [*find_import_cycles(result.view, file[0])] == []


def test_callers_are_found_among_many_files_with_the_same_name(tmp_path: Path):
    others = {f"a/n{n:03}.py": "convert(1)\n" for n in range(MAX_FILES + 20)}
    files = {**others, "z/money.py": "def convert(x): ...\n", "z/use.py": "from z.money import convert\nconvert(1)\n"}
    assert format_edges(graph_of(tmp_path, files, "z/money.py", "convert").called_by) == ["z/use.py:2 "]


def test_callers_in_importing_files_come_first(tmp_path: Path):
    call = "class A{0} {{ void f() {{ Rate.convert(); }} }}\n"
    files = {
        **{f"a/A{n}.java": "package a;\n" + call.format(n) for n in range(12)},
        "money/Rate.java": "package money;\npublic class Rate { public static void convert() {} }\n",
        "money/ABeside.java": "package money;\n" + call.format("Beside"),
        "web/APage.java": "package web;\nimport money.Rate;\n" + call.format("Page"),
    }
    with closing(IndexedFolder(tmp_path, files)) as result:
        rate = result.view.symbols.find_symbol("money/Rate.java", "Rate.convert")
        assert rate
        usages = find_usages(Sources(result.view), rate, 3)
        assert {item.source.text.path for item in usages} == {"money/ABeside.java", "web/APage.java"}


def test_calls_are_found_in_typescript(tmp_path: Path):
    result = graph_of(tmp_path, SCRIPT, "src/money.ts", "convert")
    assert format_edges(result.called_by) == ["src/app.tsx:8 Page", "src/cart.ts:6 Cart.total"]
    total = graph_of(tmp_path / "2", SCRIPT, "src/cart.ts", "Cart.total")
    assert format_edges(total.calls) == [
        "src/money.ts:2 Rate.apply",
        "src/cart.ts:5 convert ?",
        "src/money.ts:1 convert",
    ]
    assert format_edges(total.called_by) == ["src/app.tsx:4 Shop.go", "src/app.tsx:8 Page", "src/cart.ts:8 Cart.twice"]
    assert format_edges(total.tests) == ["src/cart.test.ts:3  through Cart.twice"]
    cart = graph_of(tmp_path / "3", SCRIPT, "src/cart.ts", "Cart")
    assert format_edges(cart.inherits) == ["src/money.ts:2 Rate", "src/cart.ts:2 Shape ?"]
    assert format_edges(cart.called_by) == ["src/app.tsx:7 Page"]
    assert format_edges(cart.tests) == ["src/cart.test.ts:3 "]


def test_go(tmp_path: Path):
    result = graph_of(tmp_path, GO, "money/money.go", "Convert")
    assert format_edges(result.called_by) == ["cart/cart.go:11 Cart.Total"]
    total = graph_of(tmp_path / "2", GO, "cart/cart.go", "Cart.Total")
    assert format_edges(total.calls) == [
        "money/money.go:5 Rate.Apply",
        "money/money.go:7 Convert",
        "cart/helper.go:3 helper",
    ]
    rate = graph_of(tmp_path / "3", GO, "money/money.go", "Rate")
    assert format_edges(rate.inherited_by) == ["cart/cart.go:6 Cart"]
    assert format_edges(graph_of(tmp_path / "4", GO, "cart/cart.go", "Cart").inherits) == ["money/money.go:3 Rate"]
    helper = graph_of(tmp_path / "5", GO, "cart/helper.go", "helper")
    assert (format_edges(helper.called_by), format_edges(helper.tests)) == (
        ["cart/cart.go:11 Cart.Total"],
        ["cart/cart_test.go:4 TestHelper"],
    )


@pytest.mark.parametrize(
    ("path", "name", "calls", "called_by"),
    [
        ("Shop/Money.cs", "Rate.Convert", [], ["Web/Page.cs:2 Web.Page.Go"]),
        (
            "Web/Page.cs",
            "Web.Page.Go",
            ["Shop/Money.cs:2 Rate", "Shop/Money.cs:2 Rate.Convert", "Shop/Money.cs:2 Rate.Apply"],
            [],
        ),
        ("a/money.c", "convert", [], ["a/main.c:2 main"]),
        ("a/money.h", "convert", [], ["a/main.c:2 main"]),
        ("java/shop/Rate.java", "Rate.apply", [], ["java/web/Page.java:3 Page.go"]),
        ("java/shop/Rate.java", "Rate.Rate", [], ["java/web/Page.java:3 Page.Page"]),
        ("java/shop/Rate.java", "Rate.convert", [], ["java/web/Page.java:3 Page.go"]),
        ("lib/rate.rb", "Rate.apply", [], ["lib/page.rb:5 Page.go", "lib/page.rb:6 Page.go"]),
        ("lib/rate.rb", "Rate", [], ["lib/page.rb:4 Page.go"]),
        ("lib/page.rb", "Page.go", ["lib/rate.rb:1 Rate", "lib/rate.rb:2 Rate.apply"], []),
        (
            "php/Page.php",
            "Page.go",
            ["php/Shop/Rate.php:3 Rate.apply", "php/Shop/Rate.php:3 Rate.convert", "php/Shop/Rate.php:3 Rate"],
            [],
        ),
        ("php/Shop/Rate.php", "Rate.__construct", [], ["php/Page.php:4 Page.go"]),
        ("src/money.rs", "Rate.apply", [], ["src/lib.rs:3 go"]),
        ("src/lib.rs", "go", ["src/money.rs:6 Rate.apply", "src/money.rs:8 convert", "src/money.rs:5 Rate.new"], []),
    ],
)
def test_calls_are_found_in_other_languages(
    tmp_path: Path, path: str, name: str, calls: list[str], called_by: list[str]
):
    result = graph_of(tmp_path, OTHERS, path, name)
    assert (format_edges(result.calls), format_edges(result.called_by)) == (calls, called_by)


def test_the_chunks_of_a_file_give_its_exact_text(tmp_path: Path):
    text = (
        '"""Doc."""\nimport os\n\n   \n\ndef f(): ...\n\n    \n\n@deco\ndef g():\n    f()\n\n\nclass A:\n'
        "    x = f()\n\n    def m(self):\n        f()\n  \n\n\nf()\n"
    )
    with closing(IndexedFolder(tmp_path, {"a.py": text})) as indexed:
        source = Sources(indexed.view).load("a.py")
        assert source
        for word in ("import", "def f", "@deco", "def g", "x =", "m(self)"):
            at = text.index(word)
            assert source.tree.data.startswith(word.encode(), at)
            assert source.find_line(at) == text.count("\n", 0, at)
        at = text.rindex("f()")
        assert (source.tree.data[at:], source.find_line(at)) == (b"f()\n", 22)
        assert Sources(indexed.view).load("nowhere.py") is None
