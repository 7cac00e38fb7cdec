"""Tests of halves of surrogate pairs: sent texts have none, and edits of the text restore them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.text.position import Encoding, Position, decode, encode
from lsp_harness.text.surrogates import has_surrogates, restore_surrogates, to_scalar_text, to_valid_utf8
from tests.support.markup import parse

HALF, OTHER, WHOLE, MARK = "\ud83d", "\ude00", "\U0001f600", "\ufffd"
TEXTS = st.text(st.one_of(st.characters(codec=None), st.sampled_from([HALF, OTHER, MARK, WHOLE, "\n", "a"])))


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("", ""),
        ("plain é 😀", "plain é 😀"),
        (f"a{HALF}b", f"a{MARK}b"),
        (f"{OTHER}{HALF}", MARK * 2),
        # an editor may send the halves of one character one after the other
        (HALF + OTHER, WHOLE),
        (HALF + WHOLE, MARK + WHOLE),
    ],
)
def test_sent_text_is_utf_8(text: str, sent: str):
    assert to_scalar_text(text) == sent
    assert has_surrogates(text) is (text != sent)


@given(TEXTS)
def test_any_text_becomes_a_text_that_can_be_sent(text: str):
    assert to_scalar_text(text).encode().decode() == to_scalar_text(text)
    assert to_scalar_text(to_scalar_text(text)) == to_scalar_text(text)


@given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.integers(0, 99))
def test_a_position_means_the_same_in_both(text: str, encoding: Encoding, character: int):
    document = parse(text.replace("\n", " ")).document
    result = parse(decode(to_valid_utf8(document.data))).document

    assert len(document.data) == len(result.data)
    result.data.decode()
    place = Position(0, character)
    # of a pair in two halves other programs see two characters, too
    assert document.offset(place, encoding) == result.offset(place, encoding)


@given(TEXTS)
def test_an_unchanged_text_gets_its_surrogates_back(text: str):
    data = encode(text)
    assert restore_surrogates(to_valid_utf8(data), data) == data


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (f'x = "{MARK}"\nreturn tax', f'x = "{HALF}"\nreturn tex', f'x = "{HALF}"\nreturn tax'),
        # in their order, and what was U+FFFD before stays that
        (f"y = {MARK}, {MARK}, {MARK}", f"x = {HALF}, {MARK}, {OTHER}", f"y = {HALF}, {MARK}, {OTHER}"),
        # a line that is there still is known whatever becomes of others
        (f"a = '{MARK}'\nb = 1", f"a = '{HALF}'\nc = '{OTHER}'\nb = 2", f"a = '{HALF}'\nb = 1"),
        # nobody knows which of the two it is
        (f"z = {MARK}", f"x = {HALF}, {OTHER}", f"z = {MARK}"),
        ("gone", HALF, "gone"),
        (MARK, "plain", MARK),
    ],
)
def test_surrogates_of_the_old_text_are_restored(new: str, old: str, expected: str):
    assert restore_surrogates(encode(new), encode(old)) == encode(expected)
