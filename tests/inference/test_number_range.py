"""Tests of ranges in GBNF. For numbers, GBNF differs from regular expressions only in quotes and blanks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.inference.json_schema import MAX_MAGNITUDE, decimal_range, integer_range


def matches_range(body: str, text: str) -> bool:
    pattern = body.replace('"."', r"\.").replace('"', "").replace(" ", "")
    return re.fullmatch(pattern, text) is not None


@given(st.integers(-2000, 2000), st.integers(0, 3000), st.integers(-6000, 6000))
def test_integers_between_two_bounds(least: int, size: int, number: int):
    most = least + size

    assert matches_range(integer_range(least, most), str(number)) == (least <= number <= most)
    assert matches_range(integer_range(least, most), str(least))
    assert matches_range(integer_range(least, most), str(most))


@given(st.integers(-(10**14), 10**14), st.integers(-(10**14), 10**14))
def test_a_range_of_integers_with_one_bound_matches_its_numbers(bound: int, number: int):
    assert matches_range(integer_range(bound, None), str(number)) == (number >= bound)
    assert matches_range(integer_range(None, bound), str(number)) == (number <= bound)


@given(st.integers(-300, 300), st.integers(0, 500), st.decimals(-900, 900, places=2))
def test_decimals_between_two_bounds(least: int, size: int, number: object):
    text = f"{number:f}"
    if float(text) != 0 or not text.startswith("-"):
        assert matches_range(decimal_range(least, least + size), text) == (least <= float(text) <= least + size)


@pytest.mark.parametrize("text", ["", "-", "01", "00", "1.", "+1", "1e3", "--1", " 1", "-0"])
def test_texts_that_json_does_not_call_a_number(text: str):
    assert not matches_range(integer_range(-20, 20), text)


def test_a_missing_bound_is_the_largest_value_of_a_double():
    assert matches_range(integer_range(0, None), str(MAX_MAGNITUDE))
    assert not matches_range(integer_range(0, None), str(MAX_MAGNITUDE + 1))
    assert matches_range(decimal_range(None, None), f"-{MAX_MAGNITUDE}.0")
