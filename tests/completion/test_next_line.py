"""Tests of answers that begin with a line break, and are shown as the next line."""

import pytest

from lsp_harness.completion.rules.ghost_text import (
    Ghost,
    choose_display_mode,
    join_body,
    may_begin_with_newline,
    split_body,
    split_next_line,
)


def make_ghost(prefix: str, suffix: str) -> Ghost:
    return Ghost(prefix, suffix, "", choose_display_mode(prefix, suffix, "python"), "python")


def test_an_answer_behind_a_complete_line_is_shown_as_the_next_line():
    here = make_ghost("def f(a):\n    b = a", "\n    return b\n")
    next_line = split_next_line(here, "\n    c = b")
    assert next_line
    there, rest = next_line
    assert (there.line_prefix, there.mode, rest) == ("", "line", "    c = b")


def test_a_line_without_its_break_is_shown_above_the_line_behind_it():
    next_line = split_next_line(make_ghost("b = 1", "    return b\n"), "\n    c = b")
    assert next_line
    assert next_line[0].mode == "line-above"


@pytest.mark.parametrize(
    ("prefix", "suffix", "text"),
    [
        pytest.param("b = ", "\n", "1\n", id="the answer stays on the line"),
        pytest.param("foo(", ")\n", "\n    1", id="the rest of the line must stay"),
        pytest.param("a = 1\n", "\n", "\nb = 2", id="the line is empty already"),
    ],
)
def test_a_line_break_inside_a_line_or_on_an_empty_line_is_not_split_off(prefix: str, suffix: str, text: str):
    assert split_next_line(make_ghost(prefix, suffix), text) is None


def test_only_a_cursor_at_the_end_of_a_complete_line_may_begin_a_new_line():
    assert may_begin_with_newline(make_ghost("a = 1", "\n"))
    assert not may_begin_with_newline(make_ghost("foo(", ")\n"))
    assert not may_begin_with_newline(make_ghost("", "\n"))


def test_a_header_above_a_line_of_equal_depth_continues_with_its_body():
    here = make_ghost("def f(a):\n", "    return a\n")
    result = split_body(here, "    if not a:\n        return None\n    re")
    assert result
    there, body = result
    assert (there.mode, there.previous_line, body) == ("line", "    if not a:", "        return None\n    re")


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        pytest.param("        return a\n", "    if not a:\n        x", id="the body follows already"),
        pytest.param("    return a\n", "    b = a\n    c", id="nothing is opened"),
        pytest.param("    return a\n", "    if not a:", id="the header is not complete"),
    ],
)
def test_a_line_that_needs_no_body_stays_alone(suffix: str, text: str):
    assert split_body(make_ghost("def f(a):\n", suffix), text) is None


def test_header_and_body_end_as_the_header_did():
    here = make_ghost("def f(a):\n", "    return a\n")
    assert join_body("    if a:\n", "        pass", here) == "    if a:\n        pass\n"
    assert join_body("    if a:", "        pass", here) == "    if a:\n        pass"
    assert join_body("    if a:\n", None, here) == "    if a:\n"
