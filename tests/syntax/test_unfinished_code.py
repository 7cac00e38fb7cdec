"""Tests that tell unfinished code from code that no continuation makes right."""

import re
from typing import SupportsIndex

import pytest

from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.unfinished_code import adds_error, generate_tails
from lsp_harness.text.edit import Edit
from tests.syntax.markup import parse_marked

PY = "def f(x):\n    <|>\n\n\ndef g():\n    pass\n"
JS = "function f(x) {\n  <|>\n}\n\nfunction g() { return 1; }\n"
TSX = "const a = () => {\n  <|>\n};\n"
GO = "package a\n\nfunc f(x int) int {\n\t<|>\n}\n\nfunc g() {}\n"
RS = "fn f(x: i32) -> i32 {\n    <|>\n}\n\nfn g() {}\n"
JAVA = "class A {\n  int f(int x) {\n    <|>\n  }\n}\n"
C = "int f(int x) {\n  <|>\n}\n"
RB = "def f(x)\n  <|>\nend\n"
LUA = "local function f(x)\n  <|>\nend\n"
SH = "f() {\n  <|>\n}\n"
PHP = "<?php\nfunction f($x) {\n  <|>\n}\n"
JSON = '{\n  "a": 1,\n  <|>\n}\n'

UNFINISHED: dict[tuple[str, str], list[str]] = {
    ("a.py", PY): [
        "return x",
        "x.",
        "for y in range(",
        "for y",
        "for k, v in x.items():\n        print(k",
        "if x:",
        "if x:  # why",
        "if x:\n        return 1\n    else",
        "while True:\n        x +=",
        "x = [1, 2",
        'x = {"a": 1,',
        'x = "abc',
        'x = """abc\n  def',
        'x = f"{x',
        "foo(a, b=",
        "return {k: v for k, v in",
        "[a for a",
        "try:",
        "try:\n        foo()",
        "with open(x) as",
        "x = a if b",
        "x = lambda",
        "def inner",
        "@property",
        "from x import (a,",
        "match x:\n        case 1:",
        "# a note (",
        'raise ValueError(f"a {x}',
    ],
    ("a.js", JS): [
        "return",
        "if (x",
        "if (x)",
        "if (x) {",
        "if (x) { a() } else",
        "for (const y of",
        "for (let i = 0; i < n",
        "const f = (a) =>",
        "foo(() => {",
        "const o = {a: 1,",
        "const s = `abc ${x",
        "try {",
        "do {",
        "switch (x) {\n    case 1",
        "while (x) { if (y",
        "class A { foo(",
        "a ? b",
        "// hm (",
        "/* hm",
    ],
    ("a.tsx", TSX): ["return <div", "return <div><p>{x", "const x: Array<", "interface A {\n x: "],
    ("a.go", GO): [
        "if x > 1 {",
        "if x >",
        "for i := 0; i < 10",
        "x :=",
        "switch x {\n\tcase 1:",
        "go func() {",
        "m := map[string]int{",
        "if err != nil {\n\t\treturn",
        "defer",
        "var y",
    ],
    ("a.rs", RS): [
        "let y =",
        "let mut",
        "let y: Vec<",
        "match x {\n        1 =>",
        "for i in 0..",
        "foo(|a| {",
        'println!("{}',
        "let x = foo(1)",
        "let s = S { a: 1,",
        "fn h<'a>(x: &'a",
        "vec![1,",
    ],
    ("A.java", JAVA): ["for (int i = 0; i < n", "List<", "try {", "int y =", 'String s = "a'],
    ("a.c", C): ["int a[] = {1,", "struct A a = {", "while (x)", "foo(1,"],
    ("a.rb", RB): ["x.each do |y|", "if x", "while x do", "case x\n  when 1", "h = {a: 1,"],
    ("a.lua", LUA): ["if x", "for i = 1", "foo(function()", "repeat", "local t = {a = 1,"],
    ("a.sh", SH): ["if [ -f x ]; then", "for x in a b", "case $x in", 'echo "a', "x=$(ls"],
    ("a.php", PHP): ["foreach ($x as", "$a = [1,", "if ($x > 1) {"],
    ("a.json", JSON): ['"b": [1, ', '"b": {"c', '"b": '],
    # what is around counts
    ("a.py", "foo(<|>)\n"): ["bar(1", "a, b"],
    ("a.py", "foo(<|>"): ["a)", "bar(a,"],
    ("a.py", "x = foo(\n    a,\n    <|>\ny = 1\n"): ["b=["],
    ("a.py", 'x = "ab<|>"\n'): ["c (d"],
    ("a.py", "def f(<|>):\n    pass\n"): ["a, b: int ="],
    ("a.py", "if <|>"): ["x > 1:"],
    ("a.py", "x = = 1\n\ndef f():\n    <|>\n"): ["return foo("],
    ("a.py", 'd = {\n    "a": 1,\n    <|>\n}\n'): ['"b": ['],
    ("a.js", "foo(<|>);\n"): ["a, () => {"],
    ("a.js", "foo(<|>)\n"): ["a), bar(b, baz("],
    ("a.js", "function f() {\n  <|>\n"): ["if (x) {"],
    ("a.js", "if (x) {\n  <|>\n}\n"): ["a();\n} else {\n  foo(", "a();\n} else", "a();\n} else if (x.y"],
    ("a.js", "<|>\nfoo();\n"): ["import x from"],
}
WRONG: dict[tuple[str, str], list[str]] = {
    ("a.py", PY): [
        ")) return",
        "retrun x y",
        "x = (1]",
        "x = = 1",
        "x = 1)",
        "x = 1 2",
        "return x)\n    y = 2",
        "return x\n        y = 1",
        "if x:\n    return",
        "  y = 1\n    z = 2",
        "else:\n        pass",
        "for in x:\n        pass",
        "if x then:",
        "x y z(",
        "}",
    ],
    ("a.js", JS): [
        "}",
        "if (x)) {",
        "const = 1;",
        "foo(]",
        "foo(a b)",
        "retrun x y",
        "return x; }",
        "x = = 1;",
        "const x = {a b}",
    ],
    ("a.go", GO): ["}", "if x > 1 ))", "x := := 1", "return x }", "foo(]", "retrun x y"],
    ("a.rs", RS): ["}", "let = 1;", "let x = (1];", "retrun x y", "let x = 1; }", "foo(a b);"],
    ("A.java", JAVA): ["}", "int = 1;", "foo(];"],
    ("a.c", C): ["}", "int = 1;", "x = = 1;"],
    ("a.rb", RB): ["end", "x = = 1", "foo(]"],
    ("a.lua", LUA): ["end", "x = = 1", ") return"],
    ("a.sh", SH): ["}", ") x", "fi", "done"],
    ("a.php", PHP): ["}", "foo(];"],
    ("a.json", JSON): ["}", '"b" 1'],
    ("a.py", "foo(<|>)\n"): ["a)", "a b"],
    ("a.py", "x = <|>y\n"): ["1 "],
    ("a.py", 'x = "ab<|>"\n'): ['c" d'],
    ("a.py", "x = = 1\n\ndef f():\n    <|>\n"): ["return foo)("],
    ("a.py", "class A:\n    def f(self):\n        <|>\n\n    def g(self): pass\n"): ["x = 1\n            y = 2"],
    ("a.js", "foo(<|>);\n"): ["a);"],
    ("a.js", "if (x) {\n  <|>\n}\n"): ["}", "} )", "a(); } b()"],
}


def check(path: str, source: str, new: str) -> bool:
    src = parse_marked(path, source)
    edit = Edit(src.start, src.end, new.encode())
    after = src.tree.apply_edit(edit, Allowance(BUDGET.text_s))
    assert after is not None
    return adds_error(src.tree, after, (src.start, src.start + len(edit.new)))


def flatten_cases(table: dict[tuple[str, str], list[str]]) -> list[tuple[str, str, str]]:
    return [(path, source, new) for (path, source), texts in table.items() for new in texts]


@pytest.mark.parametrize(("path", "source", "new"), flatten_cases(UNFINISHED))
def test_a_text_that_only_lacks_its_end_is_accepted(path: str, source: str, new: str):
    assert not check(path, source, new)


@pytest.mark.parametrize(("path", "source", "new"), flatten_cases(WRONG))
def test_a_text_that_no_continuation_repairs_is_rejected(path: str, source: str, new: str):
    assert check(path, source, new)


def test_the_text_may_replace_another():
    assert not check("a.py", "def f():\n    return <|>old + 1<|>\n", "new(")
    assert check("a.py", "def f():\n    return <|>old + 1<|>\n", "new)")


def test_data_has_unfinished_ends_too():
    assert not check("a.toml", "a = 1\n<|>\n", "b = [1,")
    assert check("a.toml", "a = 1\n<|>\n", "b = = 1")


class CountingText(str):
    """A text that counts how much of it was read."""

    taken = 0

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        part = super().__getitem__(at)
        self.taken += len(part)
        return part


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a.lua", "t = { name , kind , "),
        ("a.rb", "x y if z "),
        ("a.sh", "echo then if fi a "),
    ],
)
def test_a_long_line_is_read_once_for_all_its_words(path: str, words: str):
    language = language_for("", path)
    assert language
    text = CountingText(words * (800 // len(words)))
    assert list(generate_tails(text, language))
    # the line itself is taken a few times, and the same for each word
    assert text.taken < 5 * len(text) + 200 * len(re.findall(r"\w+", text))


def test_a_long_text_of_python_is_answered_too():
    indent, language = " " * 200_000, language_for("", "a.py")
    assert language
    assert list(generate_tails("for x " * 30_000 + "=", language))
    assert f"\n{indent}def x():" in list(generate_tails(f"{indent}@cache", language, has_body=True))
