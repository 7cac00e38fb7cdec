"""The probability that the model gives to the shown part of its text."""

from math import log

import pytest

from lsp_harness.completion.answer_cache import AnswerCache, ModelText
from lsp_harness.completion.reply_source import compute_shown_probability
from lsp_harness.inference.request import Usage


def make_model_text(*tokens: tuple[str, float]) -> ModelText:
    text, steps = "", list[tuple[int, float]]()
    for token, chance in tokens:
        text += token
        steps.append((len(text), log(chance)))
    return ModelText(text, None, tuple(steps))


def test_the_probability_of_an_answer_is_the_geometric_mean_of_its_tokens() -> None:
    assert compute_shown_probability(make_model_text(("a", 0.9), ("b", 0.4)), "ab") == pytest.approx(0.6)


def test_tokens_behind_the_shown_text_do_not_count() -> None:
    both = make_model_text(("  ", 0.01), ("x", 0.5), (" = 1", 0.5), ("\n", 0.01), ("junk", 0.01))
    assert compute_shown_probability(both, "x = 1") == pytest.approx(0.5)


def test_lines_with_changed_indentation_are_found_in_the_answer() -> None:
    both = make_model_text(("if x:\n", 0.5), ("  y\n", 0.5), ("z", 0.01))
    assert compute_shown_probability(both, "if x:\n        y") == pytest.approx(0.5)
    assert compute_shown_probability(both, "if x:\r\n\ty") == pytest.approx(0.5)


def test_a_text_that_is_not_found_gets_the_probability_of_the_whole_answer() -> None:
    assert compute_shown_probability(make_model_text(("a", 0.9), ("b", 0.4)), "something else") == pytest.approx(0.6)


def test_without_probabilities_of_tokens_the_probability_is_unknown() -> None:
    assert compute_shown_probability(ModelText("a = 1", None), "a = 1") is None


def test_a_remembered_answer_keeps_the_probabilities_of_its_rest() -> None:
    results = AnswerCache()
    results.add("x = ", (), make_model_text(("foo", 0.1), ("(1", 0.4), (")", 0.9)), Usage())
    result = results.find("x = foo", ())
    assert result
    assert (result.text, compute_shown_probability(result, "(1)")) == ("(1)", pytest.approx(0.6))
    result = results.find("x = fo", ())
    assert result
    assert compute_shown_probability(result, "o(1)") == pytest.approx((0.1 * 0.4 * 0.9) ** (1 / 3))
