"""Prompts that want a part of the last answer."""

import pytest

from lsp_harness.coding.questions.answer_parts import AnswerPart, read_answer_part, select_part

ANSWER = """3 places call function load (src/store.py:8):
  src/store.py:24  Store.open
  src/main.py:3  main
  src/net/client.py:9  fetch
2 tests run it:
  tests/test_store.py:5  test_load
  tests/test_main.py:7  test_main through main"""

PARTS = {
    "how many of those are in store.py": AnswerPart("store.py"),
    "which of them are in src/net?": AnswerPart("src/net"),
    "only the ones in tests": AnswerPart("tests"),
    "only the tests please": AnswerPart("tests"),
    "and how many of these callers are in src/?": AnswerPart("src/"),
    "without the tests": AnswerPart("tests", is_without=True),
    "the ones not in src/main.py": AnswerPart("src/main.py", is_without=True),
    "how many are there?": AnswerPart(),
    "how many of them": AnswerPart(),
}


@pytest.mark.parametrize("prompt", PARTS)
def test_a_part_is_read(prompt: str):
    assert read_answer_part(prompt) == PARTS[prompt]


@pytest.mark.parametrize(
    "prompt",
    ["how many tests are in store.py", "only in the morning", "no", "without the import", "what is in src/store.py",
     "how many functions are there?", "not that one", "use it only in load"],
)  # fmt: skip
def test_other_prompts_want_no_part(prompt: str):
    assert read_answer_part(prompt) is None


def test_the_lines_of_the_part_are_counted():
    assert select_part(ANSWER, AnswerPart("store.py"), "") == (
        "1 of the 5 places is in store.py:\n  src/store.py:24  Store.open"
    )
    assert select_part(ANSWER, AnswerPart("src"), "").startswith("3 of the 5 places are in src:\n")
    assert select_part(ANSWER, AnswerPart("tests", is_without=True), "").startswith(
        "3 of the 5 places are outside of tests:"
    )
    assert select_part(ANSWER, AnswerPart("there"), "src/main.py") == (
        "1 of the 5 places is in src/main.py:\n  src/main.py:3  main"
    )
    assert select_part(ANSWER, AnswerPart("docs/"), "") == "0 of the 5 places are in docs/."
    assert select_part(ANSWER, AnswerPart(), "").startswith("There are 5 places:\n  src/store.py:24")
    more = ANSWER + "\n  … and 12 more"
    assert "1 of the 5 places is in store.py, of those that the answer showed:" in select_part(
        more, AnswerPart("store.py"), ""
    )
