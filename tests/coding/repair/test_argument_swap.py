"""Tests of the repair that exchanges two arguments."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.coding.repair.requests import make_all_repairs, make_request
from tests.index.place import IndexedFolder

WRONG = "argument of type 'string' is not assignable"
SWAPPED = [
    # by the types of literals
    ("a.py", 'def send(count: int, name: str): ...\n\n\nsend(<|>"x"<|>, 3)\n', WRONG, 'send(3, "x")\n'),
    ("a.ts", 'function f(a: number, b: string, c: boolean) {}\nf(<|>"x"<|>, 3, true);\n', WRONG, 'f(3, "x", true);\n'),
    (
        "a.go",
        'package p\n\nfunc f(n int, s string) {}\nfunc g() { f(<|>"x"<|>, 3) }\n',
        'cannot use "x" as int value',
        'f(3, "x") }\n',
    ),
    (
        "a.go",
        'package p\n\nvar x = strings.Repeat(<|>40<|>, "-")\n',
        "cannot use 40 (untyped int constant) as string value in argument to strings.Repeat",
        'strings.Repeat("-", 40)\n',
    ),
    (
        "a.rs",
        'fn f(n: usize, s: &str) {}\nfn g() { <|>f("x", 3)<|>; }\n',
        "arguments to this function are incorrect",
        'f(3, "x"); }\n',
    ),
    (
        "a.cs",
        'class A { void F(int n, string s) {} void G() { F(<|>"x"<|>, 3); } }\n',
        "Argument 1: cannot convert from 'string' to 'int'",
        'F(3, "x"); } }\n',
    ),
    (
        "a.php",
        '<?php\nfunction f(int $n, string $s) {}\nf(<|>"x"<|>, 3);\n',
        "Expected type 'int'. Found 'string'.",
        'f(3, "x");\n',
    ),
    ("a.c", 'void f(int n, char *s) {}\nvoid g(void) { f(<|>"x"<|>, 3); }\n', "incompatible types", 'f(3, "x"); }\n'),
    # by names
    (
        "a.py",
        "def f(user, message): ...\n\n\ndef g(user, message):\n    f(<|>message<|>, user)\n",
        WRONG,
        "f(user, message)\n",
    ),
    ("a.rb", "def f(count, name)\nend\nf(<|>name<|>, count)\n", WRONG, "f(count, name)\n"),
    # by what the message says
    (
        "A.java",
        "class A { void g(B b) { b.<|>f<|>(name(), 3); } }\n",
        "The method f(int, String) in the type B is not applicable for the arguments (String, int)",
        "b.f(3, name()); } }\n",
    ),
    (
        "a.php",
        "<?php\nfunction g($app, $input, $output) { $app->run(<|>$output<|>, $input); }\n",
        "Expected type 'InputInterface'. Found 'OutputInterface'.",
        "$app->run($input, $output); }\n",
    ),
    (
        "a.py",
        "def g(path, Plug):\n    path.insert(<|>Plug()<|>, 0)\n",
        'Argument of type "Plug" cannot be assigned to parameter "index" of type "SupportsIndex"',
        "path.insert(0, Plug())\n",
    ),
]


@pytest.mark.parametrize(
    ("path", "marked", "message", "after"), SWAPPED, ids=[f"{n}-{row[0]}" for n, row in enumerate(SWAPPED)]
)
async def test_arguments_change_places(path: str, marked: str, message: str, after: str):
    [(text, one), *others] = await make_all_repairs(make_request(path, marked, message))
    assert text.endswith(after)
    assert (one.kind, others) == ("argument order", [])


NO_EVIDENCE = [
    # the message is about an earlier text: the arguments are declared as the parameters want them
    (
        "A.java",
        "class A { void g(B b, byte[] cs, int at) { b.<|>f<|>(cs, at); } }\n",
        "The method f(byte[], int) in the type B is not applicable for the arguments (int, byte[])",
    ),
    (
        "a.cs",
        "class A { void G(Schema schema) { Add(<|>null<|>, schema); } }\n",
        "Argument 1: cannot convert from 'Schema' to 'SchemaNode'",
    ),
    # nothing tells them apart
    ("a.py", "def f(count: int, total: int): ...\n\n\nf(<|>1<|>, 2)\n", WRONG),
    # an exchange would make another argument wrong
    ("a.py", 'def f(count: int, other: int): ...\n\n\nf(<|>"x"<|>, 3)\n', WRONG),
    # nobody knows what is called, or there are several
    ("a.py", 'f(<|>"x"<|>, 3)\n', WRONG),
    (
        "a.ts",
        'class A { f(a: number, b: string) {} }\nclass B { f(b: string, a: number) {} }\nx.f(<|>"x"<|>, 3);\n',
        WRONG,
    ),
    # two exchanges are as good
    ("a.py", 'def f(a: int, b: str, c: str): ...\n\n\nf(<|>"x"<|>, 3, 4)\n', WRONG),
    # arguments with names have no places
    ("a.py", 'def f(count: int, name: str): ...\n\n\nf(count=<|>"x"<|>, name=3)\n', WRONG),
    (
        "A.java",
        "class A { void g(B b) { b.<|>f<|>(1, 2); } }\n",
        "The method f(int, String) is not applicable for the arguments (int, int)",
    ),
]


@pytest.mark.parametrize(("path", "marked", "message"), NO_EVIDENCE)
async def test_without_evidence_arguments_are_not_swapped(path: str, marked: str, message: str):
    assert await make_all_repairs(make_request(path, marked, message)) == []


async def test_the_parameters_may_be_those_of_another_file(tmp_path: Path):
    files = {"shop.py": "def order(item: str, quantity: int): ...\n", "b.py": ""}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        marked = 'from shop import order\n\norder(<|>3<|>, "tea")\n'
        repairs = await make_all_repairs(
            make_request("b.py", marked, 'Argument of type "int"', "reportArgumentType", index=indexed.query)
        )
    assert [text for text, _ in repairs] == ['from shop import order\n\norder("tea", 3)\n']
