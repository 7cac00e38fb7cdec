"""What is not parsed of Python is in no way missed: the same is declared, in the same places."""

import pytest

from lsp_harness.syntax import bodies
from lsp_harness.syntax.bodies import declaring, without_bodies
from lsp_harness.syntax.declarations import declared
from lsp_harness.syntax.tree import root_of
from tests.syntax.markup import tree_of

LONG = "\n".join(f"    total = total + {n}" for n in range(10))
AFTER = "\n\n\nclass After:\n    field = 1\n"


def check(source: str, *, cut: bool) -> None:
    tree = tree_of("a.py", source)
    data = tree.data
    short = without_bodies(data)
    assert len(short) == len(data)
    assert (short != data) == cut
    assert declared(tree.language, data, declaring(tree.language, data)) == declared(tree.language, data, tree.root)


@pytest.mark.parametrize(
    "source",
    [
        f"def f(a, b: int = (1)) -> int:\n{LONG}",
        f"async def f(\n    a,\n):\n{LONG}\n# between\n{LONG}",
        f'@decorated\ndef f():\n    """def g(): says what."""\n    # and why\n\n{LONG}',
        f"class C:\n    a = 1\n\n    def f(self):\n{LONG.replace('    ', '        ')}\n\n    b = 2",
        f"def f():\n    if f:\n{LONG.replace('    ', '        ')}\n    else:\n        f(\n            1)",
        f"def f():\n{LONG}\n    def g():\n        pass\n\n    def h():\n{LONG.replace('    ', '        ')}\n    return h",
        f"TEXT = '''\ndef f():\n{LONG}\n'''",
        f"def f():\n{LONG}\n    # import what this class, type or def has\n    print('import a', 'class A: b')\n",
    ],
    ids=["signature", "async", "documentation", "method", "blocks", "nested", "text", "only words"],
)
def test_bodies_that_declare_nothing_are_cut(source: str):
    check(source + AFTER, cut=True)


@pytest.mark.parametrize(
    "source",
    [
        f"def f():\n{LONG}\n    import a",
        f"def f():\n{LONG}\n    class C: ...",
        f"def f():\n    class C: ...\n{LONG}",
        f"def f():\n{LONG}\n    if f: import a",
        f"def f():\n{LONG}\n    f(); from.a import b",
        f"def f():\n{LONG}\n    async  def g(): ...",
        f"def f():\n{LONG}\n    text = '''\nnot indented'''",
        f'def f():\n    """a""" + b\n{LONG}\n    c = """d"""\n{LONG}',
        f"def f():\n{LONG}\n    text = 'a\\\nb'",
        f"def f():\n{LONG}\n    g(1,\n2)",
        f"def f():\n{LONG}\n    return 1  # the end",
        f"def f():\n{LONG.replace('    ', '	')}",
        f"def f():\n{LONG}".replace("\n", "\r\n"),
        "def f():\n    return 1",
        f"def f():\n    '''Only says it.'''\n{AFTER * 10}",
    ],
    ids=[
        *("import", "class", "at once", "behind a colon", "behind a semicolon", "async"),
        *("string", "strings", "continued", "call", "comment", "tabs", "crlf", "short", "no body"),
    ],
)
def test_bodies_of_which_that_is_not_sure_are_left(source: str):
    check(source + AFTER, cut=False)


def test_a_text_that_is_wrong_without_bodies_is_parsed_with_them():
    check(f"def f():\n{LONG}\n    g(')',\n1)" + AFTER, cut=True)


def test_the_tree_is_that_of_less_text(monkeypatch: pytest.MonkeyPatch):
    parsed: list[bytes] = []
    monkeypatch.setattr(bodies, "root_of", lambda language, data: parsed.append(data) or root_of(language, data))
    tree = tree_of("a.py", f"def f():\n{LONG}\n")
    assert not declaring(tree.language, tree.data).has_error
    assert parsed == [b"def f():\n    (" + b" " * (len(LONG) - 6) + b")\n"]
