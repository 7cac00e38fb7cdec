"""Tests of the definition of stale ghost text."""

from dataclasses import replace

import pytest

from benchmarks.stale import Mark, Offer, Place, View, find_fault, find_ghost_text, find_source

OFFER = Offer(Place("a = ", "\n"), ("one\n\ttwo",))
FRESH = View(Place("a = ", "\n"), 0, 4, True, (Mark(0, 4, "one\n    two"),))


def test_ghost_text_of_the_current_answer_is_not_stale():
    assert find_fault(FRESH, [OFFER]) == ""
    assert find_ghost_text(FRESH, [OFFER]) == "one\n\ttwo"


def test_the_rest_of_a_suggestion_belongs_behind_its_inserted_beginning():
    view = replace(FRESH, place=Place("a = on", "\n"), col=6, marks=(Mark(0, 6, "e\n    two"),))
    assert find_ghost_text(view, [OFFER]) == "e\n\ttwo"


def test_a_screen_without_ghost_text_is_not_stale():
    assert find_fault(replace(FRESH, marks=()), []) == ""
    assert find_ghost_text(replace(FRESH, marks=()), [OFFER]) is None


@pytest.mark.parametrize(
    "view",
    [
        replace(FRESH, place=Place("a = x", "\n"), col=5, marks=(Mark(0, 5, "one\n    two"),)),
        replace(FRESH, place=Place("a = o", "\n"), col=5, marks=(Mark(0, 5, "one\n    two"),)),
        replace(FRESH, place=Place("a = ", ")\n")),
        replace(FRESH, place=Place("b = ", "\n")),
        replace(FRESH, col=3),
        replace(FRESH, inserting=False),
        replace(FRESH, marks=FRESH.marks * 2),
        replace(FRESH, marks=(Mark(0, 4, "one"),)),
    ],
)
def test_ghost_text_that_fits_no_suggestion_is_stale(view: View):
    assert find_fault(view, [OFFER])
    assert find_ghost_text(view, [OFFER]) is None


def test_ghost_text_without_an_answer_is_stale():
    assert find_fault(FRESH, [])


def test_a_later_answer_does_not_explain_drawn_text():
    later = replace(OFFER, number=3)
    assert find_fault(replace(FRESH, offered=2), [later])
    assert find_fault(replace(FRESH, offered=3), [later]) == ""


def test_drawn_text_is_traced_to_its_suggestion():
    assert find_source(FRESH, [replace(OFFER, texts=("two",), id="a"), replace(OFFER, id="b")]) == "b"
    assert find_source(FRESH, [replace(OFFER, texts=("two",), id="a")]) is None
