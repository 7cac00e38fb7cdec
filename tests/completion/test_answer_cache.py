"""The answer cache: it answers a repeated request without the model, and tells when a request differs."""

from lsp_harness.completion.answer_cache import MAX_ANSWERS, AnswerCache, ModelText
from lsp_harness.inference.request import Usage

ABOUT = ("suffix", "outline", "python")


def test_the_same_place_is_found_until_something_about_it_differs() -> None:
    results = AnswerCache()
    results.add("x = ", ABOUT, ModelText("1", None), Usage())
    assert results.find("x = ", ABOUT) == ModelText("1", None)
    assert results.find("y = ", ABOUT) is None
    for n in range(len(ABOUT)):
        other = tuple("other" if n == at else part for at, part in enumerate(ABOUT))
        assert results.find("x = ", other) is None


def test_text_that_was_typed_since_is_taken_off_if_the_answer_begins_with_it() -> None:
    results = AnswerCache()
    results.add("a\nx = ", ABOUT, ModelText("foo(1)\ny", "limit"), Usage())
    assert results.find("a\nx = foo", ABOUT) == ModelText("(1)\ny", "limit")
    assert results.find("a\nx = bar", ABOUT) is None
    assert results.find("a\nx = foo(1)\ny", ABOUT) is None
    assert results.find("a\nx = foo(1)\n", ABOUT) is None


def test_a_text_that_was_nothing_is_known_too_but_not_typed_along() -> None:
    results = AnswerCache()
    results.add("x", ABOUT, ModelText("", "eos"), Usage())
    assert results.find("x", ABOUT) == ModelText("", "eos")
    assert results.find("xy", ABOUT) is None


def test_the_oldest_is_forgotten_and_what_was_found_is_young_again() -> None:
    results = AnswerCache()
    for n in range(MAX_ANSWERS):
        results.add(f"{n}=", ABOUT, ModelText("x", None), Usage())
    assert results.find("0=", ABOUT)
    results.add("more=", ABOUT, ModelText("x", None), Usage())
    assert results.find("0=", ABOUT)
    assert results.find("1=", ABOUT) is None
