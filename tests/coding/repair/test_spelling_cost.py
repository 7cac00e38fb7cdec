"""Tests of the cost of a typing error."""

import pytest

from lsp_harness.coding.repair.spelling_cost import find_similar, rate_misspelling

ORDERED = [
    # case, style, letters that changed places, doubled, left out, a key beside, another letter
    ("userName", ["username", "user_name", "usreName"]),
    ("values", ["Values", "vlaues", "vallues", "vaues", "vakues", "vazues"]),
    # one slip is likelier than two, and the end of a name is missed more often than its beginning
    ("handler", ["hadnler", "hadnlre"]),
    ("request", ["requets", "erquestt"]),
]


@pytest.mark.parametrize(("intended", "written"), ORDERED)
def test_frequent_mistakes_cost_less(intended: str, written: list[str]):
    costs = [rate_misspelling(item, intended) for item in written]
    assert costs == sorted(costs)
    assert costs[0] > 0


def test_one_ordinary_slip_has_a_cost_of_about_1():
    for written in ("vlaues", "vaues", "valuess", "vakues", "valuesd"):
        assert 0.4 <= rate_misspelling(written, "values") <= 1.2


def test_names_of_few_letters_are_near_to_many():
    costs = dict(find_similar("tow", ["row", "cow", "two", "tower", "to"]))
    assert costs.keys() == {"row", "cow", "two", "to"}
    assert max(costs.values()) - min(costs.values()) < 0.1
    assert min(costs.values()) > 1.2


def test_distant_names_are_not_similar():
    assert dict(find_similar("valeus", ["value_of_all", "vales_tax", "handler", "v", "valeus"])) == {}


def test_the_end_of_a_long_name_may_be_missing():
    assert dict(find_similar("ValueErr", ["ValueError", "ValueErrorGroup"])).keys() == {"ValueError"}


def test_a_different_digit_costs_more_than_a_different_letter():
    assert rate_misspelling("item1", "item2") > rate_misspelling("iten1", "item1")
