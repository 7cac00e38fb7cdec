"""Tests of functions, classes and statements around an offset, and of imports."""

import pytest

from lsp_harness.syntax.scope import (
    declared_function,
    enclosing_class,
    enclosing_function,
    find_imports,
    function_at,
    function_text_span,
    statement_at,
)
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from tests.syntax.markup import parse_marked, parse_tree


@pytest.mark.parametrize(
    ("path", "source", "function", "around"),
    [
        ("a.py", "x = <|>1\n", None, None),
        ("a.py", "def f():<|>", "f", None),
        ("a.py", "def f():\n    <|>", "f", None),
        ("a.py", "def f():\n    x = 1\n<|>", None, None),
        ("a.py", "def f():\n    x = 1\n    <|>\ny = 1\n", "f", None),
        ("a.py", "def f():\n    x = 1\n<|>\n    y = 1\n", "f", None),
        ("a.py", "class A:\n    def f(self):\n        x = 1\n    <|>\n", None, "A"),
        ("a.py", "class A:\n    def f(self):\n        x = 1\n        # é<|>\n\n\ny = 1\n", "f", "A"),
        ("a.py", "class A:\n    def f(self):\n        def g():\n            pass\n        <|>\n", "f", "A"),
        ("a.py", "class A:\r\n\tdef f(self):\r\n\t\tx = 1\r\n\t\t<|>\r\n", "f", "A"),
        ("a.py", "async def f():\n    return <|>[lambda x: x]\n", "f", None),
        ("a.js", "function f() { return 1<|> }", "f", None),
        ("a.js", "function f() { return 1 }<|>", None, None),
        ("a.js", "class A { m() { return this.x.map(x => x<|>.y) } }", "m", "A"),
        ("a.js", "const f = x => x<|>.y\n", "f", None),
        ("a.js", "const o = { f: function () { <|> } }\n", "f", None),
        ("a.ts", "interface A { <|>x: number }", None, "A"),
        ("a.tsx", "export const A: X = () => {\n  return <a><|></a>;\n};\n", "A", None),
        ("a.go", "package a\nfunc (c *C) f() { <|> }\n", "f", None),
        ("a.go", "package a\ntype C struct {\n\tx<|> int\n}\n", None, "C"),
        ("a.rs", "impl<T> A for B<T> { fn f(&self) { <|> } }\n", "f", "B<T>"),
        ("A.java", "class A { A(int x) { <|> } }\n", "A", "A"),
        ("a.c", "static int *f(int a) { <|> }\n", "f", None),
        ("a.cpp", "namespace n { class A { int f() const { <|> } }; }\n", "f", "A"),
        ("a.cs", "class A { int F(int a) => <|>a; }\n", "F", "A"),
        ("a.rb", "module M\n  class A\n    def self.f\n      <|>\n    end\n  end\nend\n", "f", "A"),
        ("a.php", "<?php\nclass A { function f() { <|> } }\n", "f", "A"),
        ("a.sh", "f() {\n  <|>:\n}\n", "f", None),
        ("a.lua", "function M.f(a)\n  return <|>a\nend\n", "M.f", None),
    ],
)
def test_the_function_and_class_around_a_cursor_are_found(
    path: str, source: str, function: str | None, around: str | None
):
    src = parse_marked(path, source)
    result, outer = enclosing_function(src.tree, src.start), enclosing_class(src.tree, src.start)
    assert (result and result.name, outer and outer.name) == (function, around)


def test_a_scope_has_the_start_of_its_body():
    src = parse_marked("a.py", "@d\ndef f(a,\n      b):\n    retu<|>rn 1\n")
    result = enclosing_function(src.tree, src.start)
    assert result is not None
    assert src.text((result.start, result.body_start)) == "def f(a,\n      b):\n    "
    assert src.text((result.body_start, result.end)) == "return 1"


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "a.py",
            "class A:\n    # why\n    @d\n    def f(self):\n        <|>x = 1\n\n    y = 1\n",
            "    # why\n    @d\n    def f(self):\n        x = 1",
        ),
        ("a.py", "x = 1  # not this\ndef f():\n    <|>pass\n", "def f():\n    pass"),
        ("a.py", "# nor this\n\ndef f():\n    <|>pass\n", "def f():\n    pass"),
        (
            "a.js",
            "/** d */\nexport const f = () => {\n  <|>a();\n};\n",
            "/** d */\nexport const f = () => {\n  a();\n};",
        ),
        ("a.rs", "mod m {\n    /// d\n    #[test]\n    fn f() { <|> }\n}\n", "    /// d\n    #[test]\n    fn f() {  }"),
        ("a.cpp", "template <class T>\nT f(T a) { <|>return a; }\n", "template <class T>\nT f(T a) { return a; }"),
        ("a.go", "package a\n\n// d\nfunc f() { <|> }\n", "// d\nfunc f() {  }"),
        ("a.py", "x = <|>1\n", None),
    ],
)
def test_a_function_is_copied_with_its_comments_and_decorators(path: str, source: str, expected: str | None):
    src = parse_marked(path, source)
    assert src.text(function_text_span(src.tree, src.start)) == expected


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.py", "if <|>x<|>:\n    y\nelse:\n    z\n", "if x:"),
        ("a.py", "if x:\n    <|>y<|>\nelse:\n    z\n", "y"),
        ("a.py", "if x:\n    y\nelif <|>q<|>:  # c\n    z\n", "elif q:"),
        ("a.py", "if x: y<|>\n", "y"),
        ("a.py", "try:\n    a\nexcept <|>E<|> as e:\n    b\n", "except E as e:"),
        ("a.py", "@d\ndef f(a,\n      <|>b<|>):\n    y\n", "def f(a,\n      b):"),
        ("a.py", "@<|>d<|>\ndef f(a):\n    y\n", "@d\ndef f(a):"),
        ("a.py", "<|>def f(a):\n    y<|>\n", "def f(a):\n    y"),
        ("a.py", "x = foo(1,\n        <|>b<|>)\n", "x = foo(1,\n        b)"),
        ("a.py", "a = 1; <|>b<|> = 2\n", "b = 2"),
        ("a.py", "def g():\n    x = = <|>1<|>\n    return\n", "x = = 1"),
        ("a.py", "def f():\n    return x   <|>\n", "return x"),
        ("a.py", "\n<|>\nx\n", None),
        ("a.py", "# only<|> a comment\n", "# only a comment"),
        ("a.js", "function f(<|>a<|>) {\n  return 1\n}\n", "function f(a) {"),
        ("a.js", "if (x) return <|>a<|>;\n", "return a;"),
        ("a.js", "list.map(<|>a<|> => {\n  foo()\n});\n", "list.map(a => {"),
        ("a.js", "try {\n  a()\n} catch (<|>e<|>) {\n  b()\n}\n", "catch (e) {"),
        ("a.js", "switch (x) {\n  case <|>y<|>:\n    b()\n}\n", "case y:\n    b()"),
        ("a.go", "package a\nfunc f() {\n\tfor i := range <|>x<|> {\n\t\ta()\n\t}\n}\n", "for i := range x {"),
        ("a.go", "package a\nfunc f() {\n\tx, err := <|>g<|>()\n}\n", "x, err := g()"),
        ("a.rs", "fn f() {\n    match <|>x<|> {\n        1 => a,\n    }\n}\n", "match x {"),
        ("a.rs", "fn f() {\n    let y = <|>x<|>;\n}\n", "let y = x;"),
        ("A.java", "class A {\n  int f() {\n    return <|>x<|>;\n  }\n}\n", "return x;"),
        ("a.c", "int f() {\n  while (<|>x<|>) {\n    y();\n  }\n}\n", "while (x) {"),
        ("a.rb", "def f\n  if <|>x<|>\n    y\n  end\nend\n", "if x"),
        ("a.lua", "if <|>x<|> then\n  y()\nend\n", "if x then"),
        ("a.sh", "while <|>x<|>; do\n  y\ndone\n", "while x; do"),
        ("a.php", "<?php\nforeach (<|>$x<|> as $y) {\n  z();\n}\n", "foreach ($x as $y) {"),
    ],
)
def test_the_statement_of_a_range_is_found(path: str, source: str, expected: str | None):
    src = parse_marked(path, source)
    assert src.text(statement_at(src.tree, src.start, src.end)) == expected


def test_imports_are_those_of_the_file():
    source = (
        "import a\nfrom b import (\n    c,\n)\ntry:\n    import d\nexcept E:\n    pass\n\ndef f():\n    for x in y:\n"
        "        import e\n"
    )
    tree = parse_tree("a.py", source)
    assert [source[start:end] for start, end in find_imports(tree)] == [
        "import a",
        "from b import (\n    c,\n)",
        "import d",
    ]
    source = '#include <a.h>\r\n#include "b.h"\r\nint x;\r\n'
    assert [source[start:end] for start, end in find_imports(parse_tree("a.c", source))] == [
        "#include <a.h>",
        '#include "b.h"',
    ]


FUNCTIONS = """export const area = (r: number) => r * r;
const outer = async (a: number) => {
  const inner = (b: number) => {
    return b;
  };
  return inner(a);
};
class Box {
  /** Grows. */
  grow = (k: number) => {
    return k;
  };
  @bound stop() {}
}
const table = { run: (a) => a };
exports.go = function (q) { return q; };
"""


@pytest.mark.parametrize(
    ("line", "name", "first"),
    [
        (0, "area", "export const area"),
        (2, "inner", "  const inner"),
        (5, "outer", "const outer"),
        (9, "grow", "  /** Grows. */"),
        (14, "run", "run: (a)"),
        (15, "exports.go", "exports.go"),
    ],
)
def test_an_assigned_function_is_the_one_at_its_declaration(line: int, name: str, first: str) -> None:
    tree = parse(Document.from_text("file:///a.ts", FUNCTIONS))
    assert tree
    start = tree.document.line_starts[line] + (FUNCTIONS.splitlines()[line].index("run") if name == "run" else 0)
    function, span = function_at(tree, start), function_text_span(tree, start)
    assert function
    assert span
    assert function.name == name
    assert decode(tree.data[slice(*span)]).startswith(first)


def test_the_declared_function_is_that_of_the_name_and_not_the_one_around_it() -> None:
    tree = parse(Document.from_text("file:///a.ts", FUNCTIONS))
    assert tree
    inner = declared_function(tree, FUNCTIONS.index("inner"))
    assert inner
    assert inner.name == "inner"
    assert declared_function(tree, FUNCTIONS.index("table")) is None


def test_a_decorator_belongs_to_its_function() -> None:
    tree = parse(Document.from_text("file:///a.py", "@cached\ndef f(a):\n    return a\n"))
    assert tree
    function = function_at(tree, 0)
    assert function
    assert function.name == "f"
