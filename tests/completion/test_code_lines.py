"""Tests of the small functions about code lines that the rules use."""

import pytest

from lsp_harness.completion.rules.cut_rules import are_similar
from lsp_harness.completion.rules.ghost_text import CursorLines
from lsp_harness.completion.rules.overlap_rules import count_unclosed, scan_brackets
from lsp_harness.languages.language_table import find_language
from lsp_harness.text.code_lines import is_lone_closer, opens_block


@pytest.mark.parametrize(
    ("text", "language", "surplus"),
    [
        (", b)", "python", ")"),
        ("foo(b), c]", "python", "]"),
        ("')' + x)", "python", ")"),
        ("x  # :)", "python", ""),
        ("x; // :)", "java", ""),
        ("/* ) */ x]", "java", "]"),
        ("&'a str)", "rust", ")"),
        ("'(', b)", "rust", ")"),
        ("don't)", "python", ")"),
        ("f'x)')", "python", ")"),
        ("'''\n)\n''')", "python", ")"),
    ],
)
def test_surplus_closing_brackets_are_found(text: str, language: str, surplus: str) -> None:
    assert "".join(char for _, char in scan_brackets(text, language).surplus_closers) == surplus


def test_a_quote_that_ends_the_string_before_the_cursor_is_surplus() -> None:
    assert [char for _, char in scan_brackets('world" + "x"', "python", '"').surplus_closers] == ['"']


def test_brackets_that_the_rest_of_the_line_does_not_close_are_counted() -> None:
    assert count_unclosed("foo(bar(a", ")") == 1
    assert count_unclosed("foo(a", ")") == 0
    assert count_unclosed("foo(a", " + [b])") == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("print('hello')", 'print("hello");', True),
        ("return  compute( x )", "return compute(x)", True),
        ("the_quick_brown_fox(jumps)", "the_quick_brown_fx(jumps)", True),
        ("total += weight(a)", "total += weight(b)", False),
        ("assert f(10) == 11", "assert f(11) == 11", False),
        ("x += 1", "x -= 1", False),
        ("self.width = width", "self.height = height", False),
    ],
)
def test_similar_lines_are_recognised(one: str, other: str, same: bool) -> None:
    assert are_similar(one, other) is are_similar(other, one) is same


@pytest.mark.parametrize("line", ["}", "  });", "],", "end", "</div>", '"""', "fi", ")]}"])
def test_a_line_with_only_a_closing_sign_is_recognised(line: str) -> None:
    assert is_lone_closer(line)


@pytest.mark.parametrize("line", ["", "} else {", "ending", "x)", "})()", "</div> x"])
def test_a_line_with_more_than_a_closing_sign_is_not_a_lone_closer(line: str) -> None:
    assert not is_lone_closer(line)


@pytest.mark.parametrize(
    ("line", "language", "opens"),
    [
        ("if x:  # why", "python", True),
        ("fn f() {", "rust", True),
        ("xs.each do |x|", "ruby", True),
        ("if x then", "lua", True),
        ('<div class="a">', "html", True),
        ("<br>", "html", False),
        ("<p>x</p>", "html", False),
        ("# if x:", "python", False),
        ("As follows:", "markdown", False),
    ],
)
def test_opens_block(line: str, language: str, opens: bool) -> None:
    assert opens_block(line, find_language(language).lines) is opens


@pytest.mark.parametrize(
    ("prefix", "language", "unit"),
    [
        ("if x:\n  a\n  if b:\n    c\n", "python", "  "),
        ("if x {\n\ta\n}\n", "rust", "\t"),
        ("", "go", "\t"),
        ("", "javascript", "  "),
        ("", "python", "    "),
    ],
)
def test_the_unit_of_indentation_is_read_from_the_file(prefix: str, language: str, unit: str) -> None:
    assert CursorLines(prefix, "", language).indent_unit == unit
