"""Statements are suspicious by the tests that run them, and then by how near a failing test ended."""

from lsp_harness.coding.ladder.suspicion import add_definitions, find_statements
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode
from lsp_harness.verify.project_tests.suite_worker import TracedTest

TEXT = """LIMIT = 3


def clip(value, most=LIMIT):
    low = 0
    high = most
    if value > high:
        return high
    return value
"""


def read_tree() -> SyntaxTree:
    tree = parse(Document.from_text("file:///a.py", TEXT, language="python"))
    assert tree
    return tree


def name_lines(tree: SyntaxTree, spans: list[Span]) -> list[str]:
    return [decode(tree.data[span.start : span.end]) for span in spans]


def test_a_line_that_only_failing_tests_run_comes_first() -> None:
    tests = {
        "test_big": TracedTest(False, dict.fromkeys((5, 6, 7, 8), 1)),
        "test_small": TracedTest(True, dict.fromkeys((5, 6, 7, 9), 1)),
    }
    tree = read_tree()
    found = find_statements(tree, Span(0, len(TEXT)), tests, ())
    assert name_lines(tree, [found[0].span]) == ["return high"]
    assert found[0].suspicion == 1.0


def test_of_equal_lines_those_near_the_end_of_the_failing_test_come_first() -> None:
    tests = {"test_big": TracedTest(False, dict.fromkeys((5, 6, 7, 9), 1), ends=(7,))}
    tree = read_tree()
    found = find_statements(tree, Span(0, len(TEXT)), tests, ())
    assert name_lines(tree, [one.span for one in found[:2]]) == ["if value > high:", "high = most"]


def test_a_definition_that_suspicious_lines_use_is_suspicious_after_them() -> None:
    tests = {"test_big": TracedTest(False, dict.fromkeys((5, 6, 7, 8), 1))}
    tree = read_tree()
    found = add_definitions(tree, find_statements(tree, Span(0, len(TEXT)), tests, ()))
    shown = name_lines(tree, [one.span for one in found])
    assert shown[-1] == "def clip(value, most=LIMIT):"
    assert 0 < found[-1].suspicion < 1
    assert "return value" not in shown
