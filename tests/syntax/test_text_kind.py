"""Tests whether a cursor is in code, in a comment or in a string."""

import pytest

from lsp_harness.syntax.text_kind import text_kind_at
from tests.syntax.markup import parse_marked

CODE = [
    ("a.py", "<|>x = 1\n"),
    ("a.py", "x = <|>\n"),
    ("a.py", 'x = "a"<|>\n'),
    ("a.py", 'x = <|>"a"\n'),
    ("a.py", 'x = f"a {b<|>} c"\n'),
    ("a.py", 'x = f"a {b<|>\ny = 1\n'),
    ("a.py", 'x = f"a {b(c<|>\ny = 1\n'),
    ("a.py", 'def f():\n    """Doc."""<|>\n'),
    ("a.py", "# note\n<|>\n"),
    ("a.py", "x = foo(<|>\ny = 1\n"),
    ("a.js", "let a = `x ${y<|>} z`;\n"),
    ("a.js", "let a = `x ${y<|>\nlet b = 1;\n"),
    ("a.js", "/* b */ <|>let x;\n"),
    ("a.js", "let r = <a><|></a>;\n"),
    ("a.rs", "/// doc\n<|>fn f() {}\n"),
    ("a.rs", "fn f<'a>(x: &'a <|>\n"),
    ("a.go", 'package a\nvar s = "x"<|>\n'),
    ("a.rb", 's = "x #{y<|>} z"\n'),
    ("a.rb", 's = "x #{y<|>\n'),
    ("a.sh", 's="$(ls <|>)"\n'),
    ("a.cs", 'class A { string s = $"x {y<|>} z"; }\n'),
    ("a.lua", 'local s = "x" .. <|>\n'),
    ("a.json", '{"a": "b<|>"}'),
    ("a.yaml", 'a: "b<|>"\n'),
    ("a.html", '<a href="x<|>">t</a>\n'),
    ("a.md", "It's <|>\n"),
    ("a.c", "char c = 'a'; <|>int\n"),
]
COMMENT = [
    ("a.py", "# not<|>\n"),
    ("a.py", "x = 1  # because <|>"),
    ("a.js", "// <|>\n"),
    ("a.js", "/* b<|> */\n"),
    ("a.js", "/**\n * <|>\n */\n"),
    ("a.ts", "let x = ( // why<|>\n"),
    ("a.go", "package a\n// F does<|>\nfunc F() {}\n"),
    ("a.rs", "/// doc<|>\nfn f() {}\n"),
    ("a.java", "class A { // c<|>\n}\n"),
    ("a.c", "/* open<|>\nint x;\n"),
    ("a.rb", "# c<|>\n"),
    ("a.php", "<?php\n# c<|>\n"),
    ("a.lua", "-- c<|>\n"),
    ("a.lua", "--[[ c<|> ]]\n"),
    ("a.css", "/* c<|> */ a {}\n"),
    ("a.html", "<!-- c<|> -->\n"),
    ("a.yaml", "# c<|>\n"),
    ("a.toml", "# c<|>\n"),
]
STRING = [
    ("a.py", 'x = "a<|>b"\n'),
    ("a.py", 'x = "<|>"\n'),
    ("a.py", 'x = "hel<|>\ny = 2\n'),
    ("a.py", "x = '<|>\n"),
    ("a.py", 'x = f"a {b} <|>"\n'),
    ("a.py", 'x = f"a {b} c<|>\ny = 1\n'),
    ("a.py", 'def f():\n    """Doc<|>."""\n'),
    ("a.py", 'def f():\n    """Doc it<|>\n    x = 1\n    return "a"\n'),
    ("a.py", 'def f():\n    """Doc it\n    mo<|>\n    x = 1\n    return "a"\n'),
    ("a.py", "log(\"it's <|>\n"),
    ("a.js", 'let a = "hel<|>\nlet b = 1;\n'),
    ("a.js", "let a = `x <|> ${y}`;\n"),
    ("a.js", "import x from './<|>'\n"),
    ("a.js", "let r = /a<|>b/;\n"),
    ("a.go", 'package a\nvar s = "hel<|>\nvar t = 1\n'),
    ("a.go", "package a\nvar s = `ra<|>w`\n"),
    ("a.rs", 'fn f() { let s = "hel<|>\n let x = 1; }\n'),
    ("a.java", 'class A { String s = "x<|>"; }\n'),
    ("a.c", '#include "b<|>.h"\n'),
    ("a.c", 'char *s = "hel<|>\nint x;\n'),
    ("a.cs", 'class A { string s = $"x {y} <|>"; }\n'),
    ("a.rb", 's = "hel<|>\nx = 1\n'),
    ("a.rb", "h = <<~X\n  te<|>xt\nX\n"),
    ("a.php", '<?php\n$s = "x<|> {$y}";\n'),
    ("a.sh", "u='q<|>'\n"),
    ("a.sh", 's="hel<|>\nx=1\n'),
    ("a.lua", 'local s = "hel<|>\nlocal x = 1\n'),
]


@pytest.mark.parametrize(
    ("place", "path", "text"),
    [(place, *case) for place, cases in (("code", CODE), ("comment", COMMENT), ("string", STRING)) for case in cases],
    ids=lambda value: value.replace("\n", "⏎"),
)
def test_a_place_is_in_code_a_comment_or_a_string(place: str, path: str, text: str):
    tree, offset, _ = parse_marked(path, text)
    assert text_kind_at(tree, offset) == place
