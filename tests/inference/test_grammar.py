"""Tests that grammars accept only the intended answers, and that these answers can be parsed."""

from collections.abc import Callable

import pytest

from lsp_harness.inference.grammar import (
    INTENTS,
    Replacement,
    choice_grammar,
    code_block_grammar,
    edit_grammar,
    find_code_block,
    intent_grammar,
    one_of_grammar,
    parse_choice,
    parse_code_block,
    parse_edit,
    parse_intent,
    parse_one_of,
    parse_yes_no,
    yes_no_grammar,
)
from tests.support.grammar import Acceptor

TEXT = "def f(a):\n    return a\n\n<p>\nend"
WORDS = ("a", "ab", 'say "x"\\', "two\nlines", "é日")


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE"


@pytest.mark.parametrize(
    ("grammar", "parse", "answers", "others"),
    [
        (yes_no_grammar(), parse_yes_no, {"YES": True, "NO": False}, ["", "Y", "yes", "YES.", " NO", "YESNO"]),
        (intent_grammar(), parse_intent, {name: name for name in INTENTS}, ["", "fixes", "Fix", "chat", "fix\n"]),
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
            parse_code_block,
            {"```python\nx = 1\n\n```": "x = 1\n\n", "```\n  `a`\n```": "  `a`\n"},
            ["```\n```", "``` \nx\n```", "```\nx```", "```\nx\n``` ", "```\n`x`\n```", "x", "```Python\nx\n```"],
        ),
        (
            code_block_grammar(max_lines=1, max_chars=2),
            parse_code_block,
            {"```\nabc\n```": "abc\n"},
            ["```\nabcd\n```", "```\na\nb\n```"],
        ),
        (
            edit_grammar(),
            parse_edit,
            {
                block("a\n", "b\n\n  c\n"): Replacement("a\n", "b\n\n  c\n"),
                block("\n", ""): Replacement("\n", ""),
                block("=x\n>\n<<<<<<<\n", "=\n> q\n<p>\n"): Replacement("=x\n>\n<<<<<<<\n", "=\n> q\n<p>\n"),
            },
            [
                "",
                block("", "a\n"),
                block("a", "b\n"),
                block("a\n", "b"),
                block("a\n", "======= \n"),
                block("a\n", ">>> f()\n"),
                block("a\n", "b\n") + "\n",
                "<<<<<<< SEARCH\na\n>>>>>>> REPLACE",
            ],
        ),
        (
            edit_grammar(TEXT, max_lines=1, max_chars=3),
            parse_edit,
            {
                block("def f(a):\n", ""): Replacement("def f(a):\n", ""),
                block("\n<p>\nend\n", "four\n"): Replacement("\n<p>\nend\n", "four\n"),
                block("".join(f"{line}\n" for line in TEXT.split("\n")), "a\n"): Replacement(TEXT + "\n", "a\n"),
            },
            [
                block("def f(b):\n", "a\n"),
                block("def f(a):\n\n", "a\n"),
                block("a\n", "a\n"),
                block("end\n", "three\n"),
                block("end\n", "a\nb\n"),
            ],
        ),
    ],
    ids=[
        "yes_no",
        "intent",
        "choice1",
        "choice12",
        "one_of",
        "block",
        "small block",
        "edit",
        "edit of a text",
    ],
)
def test_what_gets_through_and_how_it_is_read(
    acceptor: Acceptor, grammar: str, parse: Callable[[str], object], answers: dict[str, object], others: list[str]
):
    assert {text: parse(text) for text in answers} == answers
    assert [text for text in answers if not acceptor.accepts(grammar, text)] == []
    assert [text for text in others if acceptor.accepts(grammar, text)] == []


@pytest.mark.parametrize("parse", [parse_yes_no, parse_intent, parse_code_block, parse_edit])
@pytest.mark.parametrize("text", ["", "Y", "```\nx", block("a\n", "b\n")[:-1]])
def test_an_answer_cut_short_is_none(parse: Callable[[str], object], text: str):
    assert parse(text) is None


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
    ],
)
def test_a_block_is_found_in_an_answer_without_a_grammar_unless_it_was_cut_off(text: str, found: str | None):
    assert find_code_block(text) == found


def test_a_choice_among_nothing_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="needs words"):
        one_of_grammar(["a", ""])
    with pytest.raises(ValueError, match="needs words"):
        choice_grammar(0)


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("def f(a):\n", "def f(a):\n"),
        ("    return a\n\n", "    return a\n\n"),
        ("end\n", "end"),
        ("return a\n", None),
        ("x\n", None),
    ],
)
def test_a_replacement_knows_its_place(search: str, found: str | None):
    span = Replacement(search, "").span(TEXT)

    assert (TEXT[slice(*span)] if span else None) == found


def test_lines_that_are_there_twice_have_no_place():
    text = "a\nb\na\n"

    assert Replacement("a\n", "").span(text) is None
    assert Replacement("a\nb\n", "").span(text) == (0, 4)


def test_only_lines_that_are_there_once_are_offered(acceptor: Acceptor):
    grammar = edit_grammar("a\n\nb\n\nc\n\n")

    for search in ("a\n", "a\n\n", "\nb\n", "\nc\n", "\nb\n\nc\n"):
        assert acceptor.accepts(grammar, block(search, "")), search
    for search in ("\n", "b\na\n", "\n\n"):
        assert not acceptor.accepts(grammar, block(search, "")), search
    assert edit_grammar("a\na\n") != edit_grammar() == edit_grammar("\n" * 0)


def test_a_line_that_looks_like_a_mark_is_not_offered(acceptor: Acceptor):
    grammar = edit_grammar("a\n=======\nb\n")

    assert acceptor.accepts(grammar, block("b\n", ""))
    assert not acceptor.accepts(grammar, block("a\n=======\nb\n", ""))
    assert edit_grammar("=======\n") == edit_grammar()
