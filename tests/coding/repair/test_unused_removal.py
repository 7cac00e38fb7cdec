"""Removal of unused code. Code that may have an effect stays."""

import pytest

from tests.coding.repair.requests import make_all_repairs, make_request

IMPORTS = [
    ("a.py", "import <|>os<|>\nimport sys\n\nprint(sys)\n", "`os` imported but unused", "import sys\n\nprint(sys)\n"),
    # the gap that is left is no wider than the gaps that were there
    (
        "a.py",
        '"""Doc."""\n\nimport <|>os<|>\n\n\ndef f(): ...\n',
        "`os` imported but unused",
        '"""Doc."""\n\n\ndef f(): ...\n',
    ),
    ("a.py", "import <|>os<|>\n\nx = 1\n", "`os` imported but unused", "x = 1\n"),
    ("a.py", "from a import b, <|>c<|>\n\nprint(b)\n", "`a.c` imported but unused", "from a import b\n\nprint(b)\n"),
    (
        "a.py",
        "from a import (\n    <|>b<|>,\n    c,\n)\n\nprint(c)\n",
        "`a.b` imported but unused",
        "from a import (\n    c,\n)\n\nprint(c)\n",
    ),
    ("a.py", "def f():\n    import <|>os<|>\n", "`os` imported but unused", "def f():\n    pass\n"),
    ("a.py", "import a.b as <|>c<|>, d\n\nd()\n", "`a.b` imported but unused", "import d\n\nd()\n"),
    (
        "a.ts",
        "import A, { <|>b<|> } from 'x';\nA();\n",
        "'b' is declared but its value is never read.",
        "import A from 'x';\nA();\n",
    ),
    (
        "a.ts",
        "import <|>A<|>, { b } from 'x';\nb();\n",
        "'A' is declared but its value is never read.",
        "import { b } from 'x';\nb();\n",
    ),
    ("a.ts", "import * as <|>a<|> from 'x';\nf();\n", "'a' is declared but its value is never read.", "f();\n"),
    ("a.js", "const <|>fs<|> = require('fs');\nf();\n", "'fs' is assigned a value but never used.", "f();\n"),
    (
        "a.go",
        'package p\n\nimport (\n\t"fmt"\n\t<|>"os"<|>\n)\n\nvar x = fmt.Sprint()\n',
        '"os" imported and not used',
        'package p\n\nimport (\n\t"fmt"\n)\n\nvar x = fmt.Sprint()\n',
    ),
    ("a.rs", "use a::{b, <|>c<|>};\n\nfn f() { b() }\n", "unused import: `c`", "use a::b;\n\nfn f() { b() }\n"),
    (
        "a.rs",
        "use a::{b, <|>c<|>, d};\n\nfn f() { b(); d() }\n",
        "unused import: `c`",
        "use a::{b, d};\n\nfn f() { b(); d() }\n",
    ),
    (
        "A.java",
        "import <|>java.util.List<|>;\nimport java.util.Map;\n\nclass A { Map m; }\n",
        "The import java.util.List is never used",
        "import java.util.Map;\n\nclass A { Map m; }\n",
    ),
    (
        "a.cs",
        "using System;\n<|>using System.Linq;<|>\n\nclass A { }\n",
        "Unnecessary using directive.",
        "using System;\n\nclass A { }\n",
    ),
    ("a.php", "<?php\nuse A\\<|>B<|>;\nuse A\\C;\n\nnew C();\n", "Unused import 'B'", "<?php\nuse A\\C;\n\nnew C();\n"),
    ("a.php", "<?php\nuse A\\{<|>B<|>, C};\n\nnew C();\n", "Unused import 'B'", "<?php\nuse A\\{C};\n\nnew C();\n"),
]

VARIABLES = [
    (
        "a.py",
        "def f():\n    <|>x<|> = 3\n    return 1\n",
        "Local variable `x` is assigned to but never used",
        "def f():\n    return 1\n",
    ),
    (
        "a.py",
        "def f():\n    <|>x<|> = g()\n    return 1\n",
        "Local variable `x` is assigned to but never used",
        "def f():\n    g()\n    return 1\n",
    ),
    (
        "a.py",
        "async def f():\n    <|>x<|>: int = await g()\n",
        "Local variable `x` is assigned to but never used",
        "async def f():\n    await g()\n",
    ),
    (
        "a.py",
        "def f():\n    try:\n        g()\n    except E as <|>e<|>:\n        pass\n",
        "Local variable `e` is assigned to but never used",
        "def f():\n    try:\n        g()\n    except E:\n        pass\n",
    ),
    (
        "a.py",
        "def f():\n    with g() as <|>h<|>:\n        k()\n",
        "Local variable `h` is assigned to but never used",
        "def f():\n    with g():\n        k()\n",
    ),
    (
        "a.py",
        "def f():\n    <|>x<|>, y = g()\n    return y\n",
        "Unpacked variable `x` is never used",
        "def f():\n    _x, y = g()\n    return y\n",
    ),
    (
        "a.ts",
        "function f() {\n  const <|>x<|> = g();\n  return 1;\n}\n",
        "'x' is declared but its value is never read.",
        "function f() {\n  g();\n  return 1;\n}\n",
    ),
    (
        "a.ts",
        "const { a, <|>b<|> } = f();\na();\n",
        "'b' is declared but its value is never read.",
        "const { a } = f();\na();\n",
    ),
    # a name beside the rest keeps it out of the rest
    ("a.ts", "const { <|>b<|>, ...a } = f();\na();\n", "'b' is declared but its value is never read.", None),
    # the other places that set it go too
    ("a.js", "let <|>x<|> = 1;\nf();\nx = 2;\n", "'x' is assigned a value but never used.", "f();\n"),
    ("a.js", "let <|>x<|> = 1;\nx = g();\n", "'x' is assigned a value but never used.", None),
    (
        "a.go",
        "package p\n\nfunc f() {\n\t<|>x<|> := g()\n\th()\n}\n",
        "declared and not used: x",
        "package p\n\nfunc f() {\n\tg()\n\th()\n}\n",
    ),
    (
        "a.go",
        "package p\n\nfunc f() {\n\t<|>x<|> := 1\n\th()\n}\n",
        "declared and not used: x",
        "package p\n\nfunc f() {\n\th()\n}\n",
    ),
    (
        "a.go",
        "package p\n\nfunc f() {\n\t<|>x<|>, y := g()\n\th(y)\n}\n",
        "declared and not used: x",
        "package p\n\nfunc f() {\n\t_, y := g()\n\th(y)\n}\n",
    ),
    (
        "a.go",
        "package p\n\nfunc f() {\n\t_, <|>x<|> := g()\n}\n",
        "declared and not used: x",
        "package p\n\nfunc f() {\n\t_, _ = g()\n}\n",
    ),
    (
        "a.go",
        "package p\n\nfunc f() {\n\tfor i, <|>v<|> := range x {\n\t\th(i)\n\t}\n}\n",
        "declared and not used: v",
        "package p\n\nfunc f() {\n\tfor i := range x {\n\t\th(i)\n\t}\n}\n",
    ),
    (
        "a.rs",
        "fn f() {\n    let <|>x<|> = g();\n    h()\n}\n",
        "unused variable: `x`",
        "fn f() {\n    let _x = g();\n    h()\n}\n",
    ),
    ("a.rs", "fn f() {\n    let <|>x<|> = 5;\n    h()\n}\n", "unused variable: `x`", "fn f() {\n    h()\n}\n"),
    ("a.rs", "fn f(<|>x<|>: u8) {}\n", "unused variable: `x`", "fn f(_x: u8) {}\n"),
    (
        "a.rs",
        "fn f() {\n    let mut <|>x<|> = g();\n    h(x)\n}\n",
        "variable does not need to be mutable",
        "fn f() {\n    let x = g();\n    h(x)\n}\n",
    ),
    (
        "A.java",
        "class A {\n    void f() {\n        int <|>x<|> = g();\n        h();\n    }\n}\n",
        "The value of the local variable x is not used",
        "class A {\n    void f() {\n        g();\n        h();\n    }\n}\n",
    ),
    (
        "a.cs",
        "class A {\n    void F() {\n        int <|>x<|> = 3;\n        H();\n    }\n}\n",
        "The variable 'x' is assigned but its value is never used",
        "class A {\n    void F() {\n        H();\n    }\n}\n",
    ),
    (
        "a.php",
        "<?php\nfunction f() {\n    $<|>x<|> = 1;\n    return 2;\n}\n",
        "Unused variable '$x'.",
        "<?php\nfunction f() {\n    return 2;\n}\n",
    ),
    ("a.rb", "def f\n  <|>x<|> = 1\n  2\nend\n", "Useless assignment to variable - `x`.", "def f\n  2\nend\n"),
    (
        "a.c",
        "void f(void) {\n  int <|>x<|> = 3, y = 2;\n  g(y);\n}\n",
        "unused variable 'x'",
        "void f(void) {\n  int y = 2;\n  g(y);\n}\n",
    ),
    # a function is nobody's variable
    ("a.py", "def <|>f<|>(): ...\n", "`f` is not accessed", None),
]

UNREACHABLE = [
    (
        "a.py",
        "def f():\n    return 1\n    <|>y = 2<|>\n    g()\n\n\nh()\n",
        "Code is unreachable",
        "def f():\n    return 1\n\n\nh()\n",
    ),
    (
        "a.ts",
        "function f() {\n  return 1;\n  <|>y();<|>\n  z();\n}\n",
        "Unreachable code detected.",
        "function f() {\n  return 1;\n}\n",
    ),
    # a function is seen from above
    ("a.js", "function f() {\n  return g();\n  <|>function g() {}<|>\n}\n", "Unreachable code.", None),
    (
        "a.go",
        "package p\n\nfunc f() int {\n\tfor {\n\t\tcontinue\n\t\t<|>g()<|>\n\t}\n}\n",
        "unreachable code",
        "package p\n\nfunc f() int {\n\tfor {\n\t\tcontinue\n\t}\n}\n",
    ),
    (
        "a.rs",
        "fn f() -> u8 {\n    return 1;\n    <|>g();<|>\n}\n",
        "unreachable statement",
        "fn f() -> u8 {\n    return 1;\n}\n",
    ),
]
ALL = [*IMPORTS, *VARIABLES, *UNREACHABLE]


@pytest.mark.parametrize(
    ("path", "marked", "message", "after"), ALL, ids=[f"{n}-{row[0]}" for n, row in enumerate(ALL)]
)
async def test_unused_code_is_removed(path: str, marked: str, message: str, after: str | None):
    repairs = await make_all_repairs(make_request(path, marked, message))
    assert [text for text, _ in repairs][:1] == ([after] if after is not None else [])


async def test_an_import_without_names_is_not_removed():
    for path, marked in (
        ("a.ts", "<|>import './x';<|>\n"),
        ("a.go", 'package p\n\nimport <|>_ "x"<|>\n'),
        ("a.c", "<|>#include <x.h><|>\n"),
    ):
        assert await make_all_repairs(make_request(path, marked, "unused import")) == []
