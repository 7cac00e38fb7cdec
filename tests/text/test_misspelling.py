"""Which names may be misspellings of which: by letters, by case, and by words that are cut short."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from lsp_harness.text.misspelling import edit_distance, is_misspelling

MEANT = [
    ("valeus", "values"),
    ("widht", "width"),
    ("cout", "count"),
    ("coount", "count"),
    ("conut", "count"),
    ("retrun", "return"),
    # case, underscores and a plural
    ("userName", "user_name"),
    ("username", "userName"),
    ("_total", "total"),
    ("value", "values"),
    ("values", "value"),
    ("$totl", "$total"),
    # several letters of a long name
    ("recieveMesage", "receiveMessage"),
    ("get_conection_poll", "get_connection_pool"),
    # words that are cut short
    ("max_len", "max_length"),
    ("maxLen", "maxLength"),
    ("num_elems", "num_elements"),
    # short names: exchanged letters, or one left out of three
    ("fi", "if"),
    ("id", "idx"),
    ("strat", "start"),
    # letters that are none of ASCII
    ("größee", "größe"),
]


@pytest.mark.parametrize(("wrong", "right"), MEANT)
def test_a_slip_of_the_hand_is_a_misspelling(wrong: str, right: str):
    assert is_misspelling(wrong, right)
    assert is_misspelling(right, wrong)


OTHER = [
    ("pi", "r"),
    ("pi", "3"),
    ("valeus", "path"),
    ("valeus", "0"),
    ("count", "counter_of_values"),
    ("total", "other"),
    ("i", "j"),
    ("x", "y"),
    ("os", "io"),
    ("read", "write"),
    ("get_user", "set_password"),
    ("max_len", "min_length"),
    ("value", ""),
    ("", "value"),
    ("___", "_"),
]


@pytest.mark.parametrize(("wrong", "right"), OTHER)
def test_an_unrelated_name_is_not_a_misspelling(wrong: str, right: str):
    assert not is_misspelling(wrong, right)
    assert not is_misspelling(right, wrong)


words = st.text("abcdefgh", max_size=8)
many = settings(max_examples=150, deadline=None)


def test_no_name_is_a_misspelling_of_itself():
    assert not is_misspelling("values", "values")


@pytest.mark.parametrize(
    ("a", "b", "far"),
    [
        ("abcd", "abcd", 0),
        ("abcd", "abdc", 1),
        ("abcd", "abd", 1),
        ("abcd", "abxd", 1),
        ("ca", "abc", 3),
        ("", "ab", 2),
    ],
)
def test_the_distance_counts_letters_and_an_exchange_of_neighbours_as_one(a: str, b: str, far: int):
    assert edit_distance(a, b, 5) == far


@many
@given(words, words, st.integers(0, 9))
def test_the_distance_is_that_of_another_library_from_both_sides_and_ends_at_the_limit(a: str, b: str, limit: int):
    far = edit_distance(a, b, 99)
    assert far == OSA.distance(a, b)
    assert edit_distance(b, a, 99) == far
    assert edit_distance(a, b, limit) == min(far, limit + 1)
    assert (far == 0) is (a == b)


@many
@given(st.text("abcdefghij", min_size=5, max_size=12), st.data())
def test_one_wrong_letter_in_a_long_name_is_always_a_misspelling(name: str, data: st.DataObject):
    place = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from("klmnop"))
    assert is_misspelling(name[:place] + letter + name[place + 1 :], name)
    assert is_misspelling(name[:place] + name[place + 1 :], name)
    assert is_misspelling(name[:place] + letter + name[place:], name)
