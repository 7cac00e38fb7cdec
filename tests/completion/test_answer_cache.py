"""Tests of the answer cache, which answers a repeated request without the model."""

from lsp_harness.completion.answer_cache import MAX_ANSWERS, AnswerCache, ModelText
from lsp_harness.inference.request import Usage

ABOUT = ("suffix", "outline", "python")


def test_an_answer_is_found_until_the_prompt_differs() -> None:
    results = AnswerCache()
    results.add("x = ", ABOUT, ModelText("1", None), Usage())
    assert results.find("x = ", ABOUT) == ModelText("1", None)
    assert results.find("y = ", ABOUT) is None
    for n in range(len(ABOUT)):
        other = tuple("other" if n == at else part for at, part in enumerate(ABOUT))
        assert results.find("x = ", other) is None


def test_typed_text_is_removed_from_the_beginning_of_an_answer() -> None:
    results = AnswerCache()
    results.add("a\nx = ", ABOUT, ModelText("foo(1)\ny", "limit"), Usage())
    assert results.find("a\nx = foo", ABOUT) == ModelText("(1)\ny", "limit")
    assert results.find("a\nx = bar", ABOUT) is None
    assert results.find("a\nx = foo(1)\ny", ABOUT) is None
    assert results.find("a\nx = foo(1)\n", ABOUT) is None


def test_an_empty_answer_is_remembered_only_for_its_place() -> None:
    results = AnswerCache()
    results.add("x", ABOUT, ModelText("", "eos"), Usage())
    assert results.find("x", ABOUT) == ModelText("", "eos")
    assert results.find("xy", ABOUT) is None


def test_the_oldest_answer_is_forgotten_and_a_used_one_becomes_the_newest() -> None:
    results = AnswerCache()
    for n in range(MAX_ANSWERS):
        results.add(f"{n}=", ABOUT, ModelText("x", None), Usage())
    assert results.find("0=", ABOUT)
    results.add("more=", ABOUT, ModelText("x", None), Usage())
    assert results.find("0=", ABOUT)
    assert results.find("1=", ABOUT) is None
