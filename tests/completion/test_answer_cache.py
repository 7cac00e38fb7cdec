"""The same question needs no model: what is found again, and what is another question."""

from lsp_harness.completion.request.answer_cache import Results, Written

ABOUT = ("suffix", "outline", "python")


def test_the_same_place_is_found_until_something_about_it_differs() -> None:
    results = Results()
    results.add("x = ", ABOUT, Written("1", None))
    assert results.find("x = ", ABOUT) == Written("1", None)
    assert results.find("y = ", ABOUT) is None
    for n in range(len(ABOUT)):
        other = tuple("other" if n == at else part for at, part in enumerate(ABOUT))
        assert results.find("x = ", other) is None


def test_what_was_typed_since_is_taken_off_if_it_is_how_the_text_begins() -> None:
    results = Results()
    results.add("a\nx = ", ABOUT, Written("foo(1)\ny", "limit"))
    assert results.find("a\nx = foo", ABOUT) == Written("(1)\ny", "limit")
    assert results.find("a\nx = bar", ABOUT) is None
    assert results.find("a\nx = foo(1)\ny", ABOUT) is None
    assert results.find("a\nx = foo(1)\n", ABOUT) is None


def test_a_text_that_was_nothing_is_known_too_but_not_typed_along() -> None:
    results = Results()
    results.add("x", ABOUT, Written("", "eos"))
    assert results.find("x", ABOUT) == Written("", "eos")
    assert results.find("xy", ABOUT) is None


def test_the_oldest_is_forgotten_and_what_was_found_is_young_again() -> None:
    results = Results()
    for n in range(Results.KEPT):
        results.add(f"{n}=", ABOUT, Written("x", None))
    assert results.find("0=", ABOUT)
    results.add("more=", ABOUT, Written("x", None))
    assert results.find("0=", ABOUT)
    assert results.find("1=", ABOUT) is None
