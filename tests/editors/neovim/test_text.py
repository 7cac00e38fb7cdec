"""The functions on the text of a suggestion: words, lines, and the text that it surrounds."""

from typing import Any

import pytest
from pynvim import Nvim

from tests.editors.neovim.conftest import start_bare_neovim


@pytest.fixture(scope="module")
def nvim():
    """One Neovim for all tests, because these functions have no state."""
    with start_bare_neovim() as nvim:
        yield nvim


def call(nvim: Nvim, function: str, *args: Any) -> Any:
    """Return all results of a Lua function as a list."""
    return nvim.exec_lua(f"return {{ require('lsp_harness.text').{function}(...) }}", *args)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a_b1 = c", ["a_b1", " =", " c"]),
        ("\n    return x)", ["\n    return", " x", ")"]),
        ("größe.ñ", ["größe", ".", "ñ"]),
        ("):\n", ["):", "\n"]),
        ("  ", ["  "]),
    ],
)
def test_a_suggestion_is_split_into_words(nvim: Nvim, text: str, words: list[str]):
    parts = []
    while text:
        (word,) = call(nvim, "word", text)
        parts.append(word)
        text = text[len(word) :]
    assert parts == words


@pytest.mark.parametrize(
    ("text", "line"),
    [("one", "one"), ("one\ntwo", "one"), ("\none\ntwo", "\none"), ("\n\none", "\n"), ("one\n", "one")],
)
def test_the_first_line_of_a_suggestion_is_found(nvim: Nvim, text: str, line: str):
    assert call(nvim, "line", text) == [line]


@pytest.mark.parametrize(
    ("rest", "after", "pieces"),
    [
        ("one", "", ["one", "", []]),
        ("one\ntwo", "", ["one", "", ["two"]]),
        ("one)", ")", ["one", "", []]),
        ("f(x)):\n  y", ")", ["f(x)", ":", ["  y"]]),
        ("\nx", "", ["", "", ["x"]]),
    ],
)
def test_a_text_is_split_around_existing_text(nvim: Nvim, rest: str, after: str, pieces: list[Any]):
    assert call(nvim, "split_around", rest, after) == pieces


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("value", ["value", False]),
        ("value)", ["value)", True]),
        ("value):\n  y", ["value):\n  y", True]),
    ],
)
def test_a_part_of_a_suggestion_includes_the_text_that_it_passes(nvim: Nvim, piece: str, expected: list[Any]):
    assert call(nvim, "align_piece", "value):\n  y", ")", piece) == expected


def test_a_part_of_a_suggestion_does_not_end_inside_of_replaced_text(nvim: Nvim):
    assert call(nvim, "align_piece", "x());", "());", "x()") == ["x", False]
    assert call(nvim, "align_piece", "());", "());", "()") == ["());", True]


def make_item(text: Any, start: int | None = None, end: int | None = None, line: int = 3) -> dict[str, Any]:
    if start is None:
        return {"insertText": text}
    return {
        "insertText": text,
        "range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}},
    }


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (make_item("new"), ["new", ""]),
        (make_item("a\r\nb\rc"), ["a\nb\nc", ""]),
        # the line is "é😀ab|)", a cursor after 8 bytes
        (make_item("abc)", 3, 6), ["c)", ")"]),
        (make_item("é😀abc", 0, 5), ["c", ""]),
        (make_item("zbc", 3, 5), []),
        (make_item("ab", 3, 5), []),
        (make_item("ab)", 3, 6), []),
        (make_item("abc", 3, 6), []),
        (make_item("c", 6, 6), []),
        (make_item("c", 5, 5, line=4), []),
        (make_item({"kind": "snippet", "value": "a$1"}), []),
    ],
)
def test_an_item_is_fitted_to_its_line(nvim: Nvim, item: dict[str, Any], expected: list[str]):
    """In UTF-16, the emoji has two units."""
    assert call(nvim, "from_item", item, "é😀ab)", 3, 8, "utf-16") == expected


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("\tx", 0, "        x"),
        ("\tx", 3, "     x"),
        ("ab\tc\td", 0, "ab      c       d"),
        ("字\tx", 0, "字      x"),
        ("x", 5, "x"),
    ],
)
def test_tabs_become_blanks(nvim: Nvim, text: str, column: int, expected: str):
    assert call(nvim, "expand_tabs", text, column, 8) == [expected]
