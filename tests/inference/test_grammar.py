"""Tests that grammars accept only the intended answers, and that these answers can be parsed."""

from collections.abc import Callable

import pytest

from lsp_harness.inference.grammar import (
    choice_grammar,
    code_block_grammar,
    find_code_block,
    one_of_grammar,
    parse_choice,
    parse_one_of,
)
from tests.support.grammar import Acceptor

WORDS = ("a", "ab", 'say "x"\\', "two\nlines", "é日")


@pytest.mark.parametrize(
    ("grammar", "parse", "answers", "others"),
    [
        (choice_grammar(1), lambda text: parse_choice(text, 1), {"0": 0}, ["1", "00", "-0", ""]),
        (
            choice_grammar(12),
            lambda text: parse_choice(text, 12),
            {str(n): n for n in range(12)},
            ["12", "01", "1 ", "111", "²", ""],
        ),
        (
            one_of_grammar(WORDS),
            lambda text: parse_one_of(text, WORDS),
            {word: word for word in WORDS},
            ["", "b", "aa", "say", "two lines"],
        ),
        (
            code_block_grammar(),
            find_code_block,
            {"```python\nx = 1\n\n```": "x = 1\n\n", "```\n  `a`\n```": "  `a`\n"},
            ["```\n```", "``` \nx\n```", "```\nx```", "```\nx\n``` ", "```\n`x`\n```", "x", "```Python\nx\n```"],
        ),
        (
            code_block_grammar(max_lines=1, max_chars=2),
            find_code_block,
            {"```\nabc\n```": "abc\n"},
            ["```\nabcd\n```", "```\na\nb\n```"],
        ),
    ],
    ids=[
        "choice1",
        "choice12",
        "one_of",
        "block",
        "small block",
    ],
)
def test_each_grammar_accepts_its_answers_and_they_can_be_parsed(
    acceptor: Acceptor, grammar: str, parse: Callable[[str], object], answers: dict[str, object], others: list[str]
):
    assert {text: parse(text) for text in answers} == answers
    assert [text for text in answers if not acceptor.accepts(grammar, text)] == []
    assert [text for text in others if acceptor.accepts(grammar, text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```python\nx = 1\n```", "x = 1\n"),
        ("Here it is:\n```C++\nint a;\n\nint b;\n```\nThat is all.\n```\nno\n```", "int a;\n\nint b;\n"),
        ("```\ns = '```'\n```", "s = '```'\n"),
        ("```\n```", ""),
        ("```python\nx = 1\n", None),
        ("```python\nx = 1```", None),
        ("x = 1", None),
        ("```\nx", None),
        ("", None),
    ],
)
def test_a_code_block_is_found_in_an_answer_unless_it_is_cut_off(text: str, found: str | None):
    assert find_code_block(text) == found


def test_an_empty_choice_is_an_error_of_the_caller():
    with pytest.raises(ValueError, match="the list of words is empty or has an empty word"):
        one_of_grammar(["a", ""])
    with pytest.raises(ValueError, match="the list of words is empty or has an empty word"):
        choice_grammar(0)
