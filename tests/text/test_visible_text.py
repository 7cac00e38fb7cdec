"""Tests of the display of texts without hidden characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.text.visible_text import escape_unencodable, reveal, reveal_line
from tests.questions.misleading_calls import take_back

CHARACTERS = st.one_of(
    st.characters(exclude_categories=["Cs"]), st.sampled_from("\\u{}0123456789abcdefU \t\n\x1b\u202e")
)


@given(st.text(CHARACTERS))
def test_each_shown_text_means_exactly_one_text(text: str):
    assert take_back(reveal(text)) == text
    assert all(sign.isprintable() or sign in "\n\t" for sign in reveal(text))
    assert "\n" not in reveal_line(text)
    assert take_back(reveal_line(text)) == text


@given(st.integers(1, 200), st.sampled_from(" \t\n"))
def test_long_rows_of_blanks_are_counted(count: int, blank: str):
    shown = reveal(f"a{blank * count}b")
    assert take_back(shown) == f"a{blank * count}b"
    assert len(shown) <= 62


@pytest.mark.parametrize(
    "text", ["", "ls -la | grep é", "x = {'a': 1}  # ünï → 漢字 😀", "\tindented\n\n  lines\n", r"C:\users\u12"]
)
def test_ordinary_texts_are_not_changed(text: str):
    assert reveal(text) == text


def test_characters_that_an_encoding_lacks_are_escaped():
    assert escape_unencodable("é 漢 😀 a", "latin-1") == "é \\u6f22 \\U0001f600 a"
