"""Tests of calls and parameters in one file."""

import pytest

from lsp_harness.syntax.names.calls import find_calls_in, find_parameters
from lsp_harness.text.position import Span
from tests.syntax.markup import parse_tree

PARAMETERS = [
    (
        "a.py",
        "def f(a, b: int = 2, *c, **d): ...\nclass A:\n    def f(self, x): ...\n",
        [["a", "b:int", "c", "d"], ["x"]],
    ),
    ("a.py", "@dataclass\nclass f:\n    a: int\n    b: str = ''\n", [["a:int", "b:str"]]),
    ("a.py", "class f:\n    def __init__(self, a): ...\n", [["a"]]),
    ("a.ts", "const f = (a: string, b?: number) => a;\n", [["a:: string", "b:: number"]]),
    ("a.go", "package p\nfunc f(a, b int, c ...string) {}\n", [["a:int", "b:int", "c:string"]]),
    ("a.rs", "fn f(a: &str, mut b: u8) {}\n", [["a:&str", "b:u8"]]),
    ("A.java", "class A { void f(int a, List<String> b) {} }\n", [["a:int", "b:List<String>"]]),
    ("a.cs", "class A { void f(int a, string b) {} }\n", [["a:int", "b:string"]]),
    ("a.php", "<?php\nfunction f(int $a, $b) {}\n", [["a:int", "b"]]),
    ("a.rb", "def f(a, b = 1)\nend\n", [["a", "b"]]),
    ("a.c", "int f(int a, char *b);\n", [["a:int", "b:char *"]]),
]


@pytest.mark.parametrize(("path", "source", "expected"), PARAMETERS)
def test_the_parameters_of_a_function_are_found(path: str, source: str, expected: list[list[str]]):
    parameters = find_parameters(parse_tree(path, source), "f")
    assert [[f"{item.name}:{item.type}".rstrip(":") for item in listed] for listed in parameters] == expected


def test_a_call_has_its_positional_arguments():
    tree = parse_tree("a.py", "a.f(1, 'x', y, *z, key=2)\n")
    [call] = find_calls_in(tree, Span(0, len(tree.data)))
    assert (call.name, call.receiver) == ("f", "a")
    assert [(argument.text, argument.literal) for argument in call.arguments] == [
        ("1", "int"),
        ("'x'", "string"),
        ("y", ""),
    ]
