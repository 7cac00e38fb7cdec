"""Each change of an operator or a constant is one token of a suspicious statement."""

import pytest

from lsp_harness.coding.ladder.ladder import change_operators
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.text.position import Span, decode

CHANGES = [
    ("python", "a < b", ["a > b", "a <= b", "a >= b"]),
    ("python", "a <= b", ["a < b", "a >= b", "a > b"]),
    ("python", "a == b", ["a != b"]),
    ("python", "a and b", ["a or b"]),
    ("python", "not a", ["a"]),
    ("python", "a is not b", ["a is b"]),
    ("python", "a not in b", ["a in b"]),
    ("python", "a + 1", ["a - 1", "a + 2", "a + 0"]),
    ("python", "x = True", ["x = False"]),
    ("python", "x[0]", ["x[1]"]),
    ("python", "max(a, b)", ["min(a, b)"]),
    ("python", "x = '3'  # 1 < 2", []),
    ("python", "f(name)", []),
    ("javascript", "a && !b", ["a || !b", "a && b"]),
    ("javascript", "a === 10", ["a !== 10", "a === 11", "a === 9"]),
]


@pytest.mark.parametrize(("language", "statement", "expected"), CHANGES)
def test_each_change_replaces_one_token(language: str, statement: str, expected: list[str]) -> None:
    text = f"{statement}\nother < 1\n"
    document = Document.from_text("file:///a", text, language=language)
    tree = parse(document)
    assert tree
    edits = change_operators(tree, [Span(0, len(statement))], 100)
    changed = [decode(apply(document.data, [edit])).partition("\n")[0] for edit in edits]
    assert sorted(changed) == sorted(expected)


def test_the_likeliest_change_of_the_most_suspicious_statement_comes_first() -> None:
    document = Document.from_text("file:///a.py", "a < b + 1\nc and d\n", language="python")
    tree = parse(document)
    assert tree
    edits = change_operators(tree, [Span(10, 17), Span(0, 9)], 4)
    changed = [decode(apply(document.data, [edit])) for edit in edits]
    assert changed == [
        "a < b + 1\nc or d\n",
        "a > b + 1\nc and d\n",
        "a < b - 1\nc and d\n",
        "a < b + 2\nc and d\n",
    ]
