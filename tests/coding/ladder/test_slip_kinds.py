"""Each kind of slip has an edit that undoes it, and the likeliest edits of the most suspicious statement come first."""

import pytest

from lsp_harness.coding.ladder.slip_kinds import SLIP_NAMES, SlipRepair, find_slip_repairs
from lsp_harness.coding.ladder.suspicion import SuspiciousStatement
from lsp_harness.syntax.replaceable_code import find_statement_spans
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.text.position import Span, decode

LIMIT = 1000


def read_tree(text: str, language: str = "python") -> SyntaxTree:
    tree = parse(Document.from_text("file:///a", text, language=language))
    assert tree
    return tree


def find_repairs(text: str, language: str = "python") -> dict[str, SlipRepair]:
    """Return the text after each repair → the repair, with all statements equally suspicious."""
    tree = read_tree(text, language)
    statements = [SuspiciousStatement(span, 1.0) for span in find_statement_spans(tree, Span(0, len(text)))]
    return {decode(apply(tree.data, one.edits)): one for one in find_slip_repairs(tree, statements, LIMIT)}


CHANGES = [
    ("a < b", ["a > b", "a <= b", "a >= b"]),
    ("a <= b", ["a < b", "a >= b", "a > b"]),
    ("a == b", ["a != b", "a is b"]),
    ("a and b", ["a or b"]),
    ("not a", ["a"]),
    ("a is not b", ["a is b"]),
    ("a not in b", ["a in b"]),
    ("a + 1", ["a - 1", "a + 2", "a + 0"]),
    ("x = True", ["x = False"]),
    ("x[0]", ["x[1]", "x[-1]"]),
    ("max(a, b)", ["min(a, b)"]),
]


@pytest.mark.parametrize(("statement", "expected"), CHANGES)
def test_one_token_is_changed_to_what_may_have_been_meant(statement: str, expected: list[str]) -> None:
    assert set(expected) <= find_repairs(statement).keys()


def test_text_and_comments_stay_as_they_are() -> None:
    repairs = find_repairs("x = '3'  # 1 < 2")
    assert not any(repair.kind == "other operator" for repair in repairs.values())


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("a && !b", ["a || !b", "a && b"]),
        ("a === 10", ["a !== 10", "a === 11"]),
        ("if (a) { b() }", ["if (!(a)) { b() }"]),
    ],
)
def test_javascript_has_the_same_slips(statement: str, expected: list[str]) -> None:
    assert set(expected) <= find_repairs(statement, "javascript").keys()


FUNCTION = """def pick(low, high, items):
    total = 0
    for index in range({}):
        if {}:
            total += weigh(low, items[index])
{}


def weigh(factor, item):
    {}factor * item.size + len(item.name)
"""

OTHER_USE = "\n\ndef measure(item):\n    return item.size\n"


def fill(
    bound: str = "len(items)", condition: str = "high", end: str = "    return total", start: str = "return "
) -> str:
    return FUNCTION.format(bound, condition, end, start)


@pytest.mark.parametrize(
    ("kind", "broken", "right"),
    [
        ("one more or less", fill(bound="len(items) - 1"), fill()),
        ("one more or less", fill(bound="high"), fill(bound="high + 1")),
        ("other negation", fill(), fill(condition="not high")),
        ("other order", fill().replace("low, items[index]", "items[index], low"), fill()),
        ("other name", fill(condition="low"), fill()),
        ("other name", fill().replace("item.size", "item.name") + OTHER_USE, fill() + OTHER_USE),
        ("missing return", fill(start=""), fill()),
        ("missing return", fill(end="").replace("\n\n\n\n", "\n\n\n"), fill()),
        ("missing return", fill(end="    return None"), fill()),
        ("missing return", fill(end="    return"), fill()),
        ("one part less", fill(condition="low and high"), fill()),
        ("missing call", fill(bound="items"), fill()),
        ("other place", fill(end="        return total"), fill()),
    ],
)
def test_a_slip_of_each_kind_is_undone(kind: str, broken: str, right: str) -> None:
    assert find_repairs(broken)[right].kind == kind


def test_a_constant_of_the_file_is_tried_for_another_one() -> None:
    text = "def name(n):\n    return 'one' if n == 1 else 'one'\n\n\nOTHER = 'two'\n"
    repairs = find_repairs(text)
    assert repairs[text.replace("else 'one'", "else 'two'")].kind == "other constant"


def test_the_names_of_the_kinds_are_different() -> None:
    assert len(SLIP_NAMES) == 10


def test_the_likeliest_change_of_the_most_suspicious_statement_comes_first() -> None:
    tree = read_tree("a < b\nc and d\n")
    statements = [SuspiciousStatement(Span(6, 13), 1.0), SuspiciousStatement(Span(0, 5), 0.5)]
    repairs = find_slip_repairs(tree, statements, 1)
    assert [decode(apply(tree.data, repair.edits)) for repair in repairs] == ["a < b\nc or d\n"]
