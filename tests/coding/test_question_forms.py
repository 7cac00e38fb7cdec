"""Prompts that only want an answer, and prompts that look like these and order a change."""

import pytest

from lsp_harness.coding.questions.question_forms import is_surely_question


@pytest.mark.parametrize(
    "prompt",
    ["does it close the file?", "is it safe to call load twice", "and why does it raise a KeyError",
     "what happens in load when the file is missing?", "how does load decide that?", "can it return None?",
     "show me how it handles an empty list", "could you explain what load does", "explain load", "where do we check it",
     "let me see what it does, please", "hm, is that documented", "what's the point of load"],
)  # fmt: skip
def test_a_question_wants_an_answer(prompt: str):
    assert is_surely_question(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["can you make load faster?", "is it possible to add a timeout to load?", "why not use a set here?",
     "what about using a set?", "does it crash on None? fix that", "when the file is missing, return None",
     "do the same for save", "have load return None",
     "can somebody check in load that the path exists", "is broken, please repair",
     "show a warning if the file is empty",
     "print the total", "why does load fail on None, and fix it please", "could you rename load to read"],
)  # fmt: skip
def test_an_order_is_no_question(prompt: str):
    assert not is_surely_question(prompt)
