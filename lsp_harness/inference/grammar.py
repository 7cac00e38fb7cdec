"""Grammars in GBNF of llama.cpp that constrain the answer of a model, each with the parser of such an answer.

Every grammar limits the number of characters. A token has at least one byte, so this also limits the number of tokens.
The parser returns None for an answer that does not fit the grammar, for example because `n_predict` has cut it off.
"""

import re
from collections.abc import Sequence
from functools import cache

from lsp_harness.config.resources import find_grammar_folder

FENCE_PATTERN = re.compile(r"^```[^\n`]*\n(.*?^)```", re.DOTALL | re.MULTILINE)
GBNF_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


@cache
def _grammar_file(name: str) -> str:
    return (find_grammar_folder() / f"{name}.gbnf").read_text(encoding="utf-8")


def _redefine_rules(grammar: str, **bodies: str) -> str:
    """Return the grammar with other bodies for some of its rules."""
    for name, body in bodies.items():
        start = re.search(rf"^{name}\s*::= .*$", grammar, re.MULTILINE)
        assert start, f"no rule {name}"
        grammar = f"{grammar[: start.start()]}{name} ::= {body}{grammar[start.end() :]}"
    return grammar


def gbnf_literal(text: str) -> str:
    """Return `text` as a GBNF terminal."""
    return '"' + "".join(GBNF_ESCAPES.get(c) or (f"\\x{ord(c):02x}" if c < " " else c) for c in text) + '"'


def one_of_grammar(words: Sequence[str]) -> str:
    """Return the grammar of one of `words`. Raise ValueError if there are none, or if one is empty."""
    if not words or "" in words:
        raise ValueError("the list of words is empty or has an empty word")
    return "root ::= " + " | ".join(gbnf_literal(word) for word in dict.fromkeys(words)) + "\n"


def parse_one_of(text: str, words: Sequence[str]) -> str | None:
    """Return the answer if it is one of `words`, else None."""
    return text if text in words else None


def choice_grammar(n: int) -> str:
    """Return the grammar of a number from 0 to `n` - 1."""
    return one_of_grammar([str(index) for index in range(n)])


def parse_choice(text: str, n: int) -> int | None:
    """Return the number in an answer if it is from 0 to `n` - 1, else None."""
    number = parse_one_of(text, [str(index) for index in range(n)])
    return None if number is None else int(number)


def code_block_grammar(*, max_lines: int = 200, max_chars: int = 240) -> str:
    """Return the grammar of a fenced code block with up to `max_lines` lines of up to `max_chars` + 1 characters."""
    return _redefine_rules(_grammar_file("code_block"), lines=f"line{{1,{max_lines}}}", rest=f"[^\\n]{{0,{max_chars}}}")


def find_code_block(text: str) -> str | None:
    """Return the first code block of an answer without a grammar, or None if the end of the block is missing."""
    match = FENCE_PATTERN.search(text)
    return match[1] if match else None
