"""Tests of names that the code below uses without a binding."""

import pytest

from lsp_harness.syntax.names.unbound_names import find_missing_names
from tests.syntax.markup import parse_marked

PARAMETERS = "def f(\n    <|>\n):\n    return one + two\n"
LINE = "    pass\n"
RUST = """\
use std::fs;
use crate::util::helper;

fn f(x: Option<u8>) -> u8 {
    <|>
    fs::read(1); u32::MAX; g(helper);
    assert!(x.iter().all(|c| c > 1));
    if let Some(mut e) = x { e } else { total }
}
"""
FILE = """\
import one
from m import two as three

four, five = 1, 2


def f():
    <|>
    six(one, three, four, five, Seven)


@one
def six(): ...
class Seven: ...
"""
CASES = {
    "a variable": ("a.py", "def f(a):\n    <|>\n    return a + total\n", ("total",)),
    "the first that is used is the first": (
        "a.py",
        "def f():\n    <|>\n    g(two, one)\n\n\ndef g(): ...\n",
        ("two", "one"),
    ),
    "parameters": ("a.py", PARAMETERS, ("one", "two")),
    "a function in a function": ("a.py", "def f():\n    <|>\n    return inner(3)\n", ("inner",)),
    "half a word of it": ("a.py", "def f():\n    tot<|>\n    return total\n", ("total",)),
    "what another function calls its own": (
        "a.py",
        "def f():\n    <|>\n    return total\n\n\ndef g(total):\n    return total\n",
        ("total",),
    ),
    "what a class calls its own": (
        "a.py",
        "class A:\n    total: int\n\n    def f(self):\n        <|>\n        return total\n",
        ("total",),
    ),
    "in a comment, a string and of something else": (
        "a.py",
        'def f(self):\n    """The total."""\n    # a total\n    self.total = "total"\n    <|>\n    return total\n',
        ("total",),
    ),
    "bound above": ("a.py", "def f():\n    total = 1\n    <|>\n    return total\n", ()),
    "on the line": ("a.py", "def f():\n    total = <|>\n    return total\n", ()),
    "bound below": (
        "a.py",
        "def f():\n    <|>\n    for one in 1, 2:\n        print(one)\n    with x() as y:\n        y\n",
        ("x",),
    ),
    "read before it is bound": (
        "a.py",
        "def f(xs):\n    <|>\n    for x in xs:\n        low += x\n        if low > 0:\n            low = 0\n",
        ("low",),
    ),
    "read in a condition before it is bound": (
        "a.py",
        "def f(xs):\n    <|>\n    for x in xs:\n        if best is None:\n            best = x\n    return best\n",
        ("best",),
    ),
    "read by its own first assignment": ("a.py", "def f():\n    <|>\n    total = total + 1\n", ("total",)),
    "read in a block that need not run": (
        "a.py",
        "def f(xs):\n    <|>\n    for x in xs:\n        if x:\n            print(last)\n        last = x\n",
        (),
    ),
    "read by a function that runs later": (
        "a.py",
        "def f():\n    <|>\n    g = lambda: total\n    total = 1\n    return g\n",
        (),
    ),
    "of a comprehension": ("a.py", "def f(xs):\n    <|>\n    return [x + 1 for x in xs]\n", ()),
    "in the function around": (
        "a.py",
        "def f():\n    total = 1\n\n    def g():\n        <|>\n        return total\n",
        (),
    ),
    "parameters of all kinds": (
        "a.py",
        "def f(\n    a, /, <|>\n    *b, c=1, d: int = 2, **e: int,\n):\n    return a, b, c, d, e\n",
        (),
    ),
    "of the file": ("a.py", FILE, ()),
    "imported below": ("a.py", "def f():\n    <|>\n    from a.b import one as two\n    two(total)\n", ("total",)),
    "built in": ("a.py", "def f():\n    <|>\n    print(len(None), KeyError, __name__)\n", ()),
    "a member": ("a.py", "def f(self):\n    self.<|>\n    return total\n", ()),
    "at the top": ("a.py", "<|>\nprint(total)\n", ()),
    "behind a function": ("a.py", "def f():\n    return 1\n\n\n<|>\nprint(total)\n", ()),
    "what all of a module may bind": ("a.py", "from m import *\n\n\ndef f():\n    <|>\n    return total\n", ()),
    "too far below": ("a.py", f"def f():\n    <|>\n{LINE * 500}    return total\n", ()),
    "too much above": ("a.py", f"def f():\n{LINE * 6000}    <|>\n    return total\n", ()),
    "too many": ("a.py", f"def f():\n    <|>\n    return {', '.join(f'a{n}' for n in range(9))}\n", ()),
    "many": (
        "a.py",
        f"def f():\n    <|>\n    return {', '.join(f'a{n}' for n in range(8))}\n",
        ("a0", "a1", "a2", "a3"),
    ),
    "JavaScript": (
        "a.js",
        "function f(a) {\n  <|>\n  for (const b of a) { b; }\n  return total + undefined + Object;\n}\n",
        ("total",),
    ),
    "what is called in JavaScript": ("a.js", "function f(a) {\n  <|>\n  return total(a);\n}\n", ()),
    "TypeScript": (
        "a.ts",
        "const top = 1;\nfunction f({ a, b }: T) {\n  <|>\n  return [a, b, total, top];\n}\n",
        ("total",),
    ),
    "TSX": ("a.tsx", "const F = () => {\n  <|>\n  return <p>{total}</p>;\n};\n", ("total",)),
    "Rust": (
        "a.rs",
        "fn f(a: u8) -> u8 {\n    <|>\n    match a { 1 => TOP, b if b > 2 => b, _ => total }\n}\n",
        ("total",),
    ),
    "paths, macros and patterns in Rust": ("a.rs", RUST, ("total",)),
    "what is left of parameters": (
        "a.js",
        "function f(...args) {\n  <|>\n  return g(args, {...rest});\n}\n",
        ("rest",),
    ),
    "functions below": (
        "a.py",
        "def f():\n    <|>\n    def inner(): ...\n    class Inner: ...\n    return inner, Inner\n",
        (),
    ),
    "bound further down in the function around": (
        "a.js",
        "describe(() => {\n  it(() => {\n    <|>\n    expect(helper);\n  });\n  const helper = 1;\n});\n",
        (),
    ),
    "of a namespace": (
        "a.ts",
        "namespace N {\n  export const v = 1;\n  export function f() {\n    <|>\n    return v;\n  }\n}\n",
        (),
    ),
    "bound in brackets": (
        "a.py",
        (
            "def f(x):\n    <|>\n    for i, (a, b) in x:\n        [c, d] = i, a\n    with x as (e, g):\n"
            "        return b, c, d, e, g\n"
        ),
        (),
    ),
    "words of a text, and then the name": (
        "a.py",
        f'"""{"json " * 30}"""\nimport json\n\n\ndef f():\n    <|>\n    json.x()\n',
        (),
    ),
    "written too often to be sure": (
        "a.py",
        "".join(f"def f{n}():\n    check()\n\n\n" for n in range(70)) + "def f():\n    <|>\n    check()\n",
        (),
    ),
    "a sentence above": ("a.py", "def f():\n    # The sum.\n    <|>\n    return total\n", ("total",)),
    "in a comment": ("a.py", "def f():\n    # The <|>\n    return total\n", ()),
    "in a string": ("a.js", "function f() {\n  const a = `\n  <|>\n  `;\n  return total;\n}\n", ()),
    "in brackets": ("a.py", "def f():\n    g(\n        <|>\n    )\n    return total\n", ()),
    "in a list of values": ("a.ts", "function f() {\n  const a = {\n    <|>\n  };\n  return total;\n}\n", ()),
    "below the function in a broken text": (
        "a.js",
        "class A {\n  f() {\n    <|>\n    if (a) {\n  }\n\n  g(y) {\n    return y;\n  }\n}\n",
        ("a",),
    ),
    "a keyword beside a hole": ("a.rs", "fn f(a: bool) -> u8 {\n    <|>\n    } else {\n        1\n    }\n}\n", ()),
    "where names may be of another file": ("a.go", "package a\n\nfunc f() int {\n\t<|>\n\treturn total\n}\n", ()),
    "that may be a field of another": ("A.java", "class A {\n  int f() {\n    <|>\n    return total;\n  }\n}\n", ()),
}


@pytest.mark.parametrize("case", CASES)
def test_unbound_names_are_found(case: str):
    path, text, expected = CASES[case]
    source = parse_marked(path, text)
    assert tuple(text.split()[-1] for text in find_missing_names(source.tree, source.start).bindings) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "def f():\n    <|>\n    return total\n", ("total",)),
        ("a.js", "function f() {\n  <|>\n  return total;\n}\n", ("const total",)),
        ("a.js", "function f(\n  <|>\n) {\n  return total;\n}\n", ("total",)),
        ("a.rs", "fn f() -> u8 {\n    <|>\n    total\n}\n", ("let total",)),
        # what is further in has no beginning yet, which binds it
        ("a.py", "def f(a):\n    <|>\n        print(one)\n    return a\n", (" one",)),
        ("a.py", "def f(a):\n    for b in a:\n        <|>\n            print(one)\n", (" one",)),
        ("a.py", "def f(a):\n    for b in a:\n<|>            print(one)\n", (" one",)),
        ("a.py", "def f(a):\n    for b in a:\n        <|>\n        print(one)\n", ("one",)),
        ("a.py", "def f(a):\n<|>\n    print(one)\n", ("one",)),
        ("a.py", "def f(a):\n    if a:\n<|>\n    print(one)\n", ("one",)),
        ("a.py", "def f(a):\n    if a:\n        return a\n<|>\n        print(one)\n", (" one",)),
        ("a.js", "function f(a) {\n<|>\n  return one;\n}\n", ("const one",)),
        ("a.js", "function f(a) {\n  <|>\n    .then(one);\n}\n", ("const one",)),
        ("a.ts", "function f(a) {\n  <|>\n    one;\n  }\n  return a;\n}\n", (" one",)),
        # what is in brackets is no block
        ("a.py", "def f(a):\n    b = a\n    <|>\n        a\n    )\n    return one\n", ("one",)),
    ],
)
def test_a_missing_name_is_bound_as_in_its_language(path: str, text: str, expected: tuple[str, ...]):
    source = parse_marked(path, text)
    assert find_missing_names(source.tree, source.start).bindings == expected
