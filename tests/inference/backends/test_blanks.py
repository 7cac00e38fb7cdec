"""Tests of blanks that are not sent and are removed from the answer."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.inference.infill_text import BlankStripper, split_trailing_blanks


def join_answer(prefix: str, *pieces: str) -> str:
    blanks = BlankStripper(split_trailing_blanks(prefix)[1])
    return prefix + "".join(blanks.strip(piece) for piece in pieces)


def test_the_answer_continues_the_text_with_its_blanks():
    assert join_answer("c = ", " a", " + b") == "c = a + b"
    assert join_answer("def f():\n    ", "  ", "  return c") == "def f():\n    return c"
    assert join_answer("c = ", "a") == "c = a"
    assert join_answer("\n        ", "    return") == "\n        return"
    assert join_answer("c =", " a") == "c = a"
    assert join_answer("\n\t", "    x") == "\n\t    x"


@given(st.text("ab \t\n", max_size=8), st.lists(st.text("ab \t", max_size=3), max_size=5))
def test_an_answer_that_repeats_the_blanks_loses_only_these(text: str, pieces: list[str]):
    bare, blanks = split_trailing_blanks(text)

    assert bare + blanks == text
    assert not bare.endswith((" ", "\t"))
    assert join_answer(text, blanks, *pieces) == text + "".join(pieces)
