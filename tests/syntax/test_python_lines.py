"""Tests that the reader of Python lines agrees with the tree, and asks the parser when lines are not enough."""

import random
from pathlib import Path

import pytest

import lsp_harness
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.symbols.declared_text import read_declarations, read_python_lines
from tests.syntax.markup import parse_tree
from tests.syntax.random_lines import compare_changed_texts

OWN = sorted(Path(lsp_harness.__file__).parent.rglob("*.py"))
FIXTURE = Path(__file__).parent / "declarations" / "python.txt"
AFTER = "\n\nclass After(Base):\n    field = 1\n"


def agree(source: str) -> bool:
    """Return whether a text has no error, and both readers find the same declarations in it."""
    tree = parse_tree("a.py", source)
    declared = find_declarations(tree.language, tree.data, tree.root)
    return not tree.root.has_error and read_python_lines(tree.data) == declared


def check(source: str) -> None:
    assert agree(source)


def test_all_declarations_of_python_are_found():
    check(FIXTURE.read_text("utf-8").split("-- declarations --\n")[0].split(" --\n", 1)[1])


def test_both_readers_find_the_same_in_our_own_sources():
    assert len(OWN) > 500
    assert [path.name for path in OWN if not agree(path.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n\n# only that",
        "x = 1",
        "def f(a, b: int = (1)) -> dict[str, int]:\n    return a",
        "async def f(\n    a,  # the first\n    *, b=[{(((((1)))))}]\n):\n    # what\n\n    pass  # done",
        "def f[T: (int, str)](a: T) -> T: return a",
        (
            "@a\n# why\n@b(\n1)\nclass C[T](A, b.B, D[int][str], e(), *f, metaclass=M,  # g\n  ):\n    '''Says\n"
            "def not_this(): ...\n'''"
        ),
        (
            "class C:\n    a: int\n    b, c = 1, 2\n    d = e = 3; f: int = 4\n    if a:\n        g = 5\n"
            "    h[0] = i.j = 6\n    def k(self): l = 7"
        ),
        "class C: a = 1; b = 2  # c",
        "class C(): pass;",
        (
            "a.b, c = *d, e = 1\n(f, g) = h\ni, = 5\n*j, k = 6\n(l, m), n = 7\no[1, 2] = p\nq == r, s\nt += u\n"
            "v: w = 8\nx: y"
        ),
        "foo(a, b=1); c = ';'; d = [\n1]  # e",
        "a[1:2], b = c\nd['='], e = f == g, h\n(i), j = 1",
        "call(\nname = 1,\nother = 2)",
        (
            "else_ = 1\nif else_:\n    a = 1\nelse:\n    b = 1\ntry:\n    pass\nexcept:\n    c: int = 1\nfinally:\n"
            "    pass\nlambda: 1"
        ),
        (
            "def f():\n    def g():\n        pass\n        # of g\n    # of f\n  # of none\n# of none\n    return g\n"
            "  # of none"
        ),
        (
            "def f():\n    if f:\n        x = (\n1,\n)\n# there\n        '''\nhere'''\n    from . import a\n\n"
            "    class C: ...\n    return a  \n"
        ),
        (
            "import a, b.c as d\nfrom . import e\nfrom ..f.g import (h as i,  # j\n  k,\n)\nfrom l import *\n"
            "from __future__ import m\nfrom n \\\n    import o"
        ),
        "from a import b, \\\n    c as d, b",
        (
            "def f():\n    async with a as b, c:\n        import d\n    type Name[T] = list[T]\n"
            "    type_ = type = from_ = class_ = 1"
        ),
        "TEXT = '''\ndef f():\n    import a\n''' 'def' \"class\"\nRAW = r'\\\\' + b'\"' + rb\"\\\"\" + ''",
        "x = 'a\\\ndef f(): pass\\\n'\ny = 1 + \\\n    2\nd = {'a': [1, (2)], 'b': (yield)}",
        "größe = 1\nclass Größe(Maß.Einheit):\n    def für(self): ...",
        "match a:\n    case b, C(d=1): e = 1\n    case _:\n        def f(): ...",
        "for a, b in c(d=1):\n    pass\nwith a as b, c as d: e = 1\nprint(a, b, sep='')",
    ],
)
def test_declarations_by_lines_are_those_of_the_tree(source: str):
    check(source)
    check(source + AFTER)


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n\timport a",
        "class C:\n    a\t= 1",
        "a\t: int",
        "async\tdef f(): ...",
        "type\tA = int",
        "import a\r\nimport b",
        "\ufeffimport a",
        "def f():\n    pass\n\f\nimport a",
        "if f: import a",
        "f(); from .a import b",
        "import a; b = 1",
        "from a import (b); c = 1",
        "type A = B; c = 1",
        "class C(A if B else D): ...",
        "class C(f().g): ...",
        "\\\nimport a",
        "def f():\\\n    pass",
        "def f() \\\n    : pass",
        'x = f"{"\\n".join(a)}"',
    ],
)
def test_the_parser_is_used_if_lines_are_not_enough(source: str):
    for text in (source, source + AFTER.replace("\n", "\r\n" if "\r" in source else "\n")):
        tree = parse_tree("a.py", text)
        assert read_python_lines(tree.data) is None
        assert read_declarations(tree.language, tree.data) == find_declarations(tree.language, tree.data, tree.root)


@pytest.mark.parametrize(
    "source",
    [
        "def f(:\n    pass",
        "x = (1",
        "x = 1)",
        "'''",
        "def f():\nx = 1",
        "@a\nx = 1",
        "def f():\n    @a\ndef g(): ...",
        "class",
    ],
)
def test_a_wrong_text_is_left_to_the_parser(source: str):
    assert read_python_lines(source.encode()) is None


@pytest.mark.parametrize(
    ("sign", "is_read"),
    [
        *(dict.fromkeys(["(", "[{(", "\\\n", "f(\"'", "x = (\n", "def f(", "class A:\n "], False).items()),
        *(dict.fromkeys(["'''", '"', "#", ";", "a, ", "@a\n"], True).items()),
    ],
)
def test_texts_with_repeated_beginnings_are_read_in_linear_time(sign: str, is_read: bool):
    """With a slower reader, this test would take minutes."""
    assert read_python_lines((sign * 60_000).encode()) == (([], []) if is_read else None)


def test_random_changes_of_lines_make_no_difference():
    result = [how for _, how in compare_changed_texts([path.read_text("utf-8") for path in OWN], 300, random.Random(5))]
    assert "other" not in result
    assert result.count("same") > 50
