"""What a model may answer: grammars in llama.cpp's GBNF, each beside the reader of such an answer.

Every grammar here ends by itself, after a known number of characters. A token is at least one byte, so that number
bounds the tokens too; an answer that was cut short by `n_predict` is read as None, like any other that does not fit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from lsp_harness.config.resources import grammar_folder

Intent = Literal["edit", "explain", "fix", "generate"]
INTENTS: tuple[Intent, ...] = get_args(Intent)

BLOCK_PATTERN = re.compile(r"```[a-z]*\n(.*\n)```", re.DOTALL)
FENCE_PATTERN = re.compile(r"^```[^\n`]*\n(.*?^)```", re.DOTALL | re.MULTILINE)
EDIT_PATTERN = re.compile(r"<<<<<<< SEARCH\n(.*?\n)=======\n((?:.*?\n)??)>>>>>>> REPLACE", re.DOTALL)
EDIT_MARKERS = ("=======", ">>>>>>>")
GBNF_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


@cache
def _grammar_file(name: str) -> str:
    return (grammar_folder() / f"{name}.gbnf").read_text(encoding="utf-8")


def _redefine_rules(grammar: str, **bodies: str) -> str:
    """The grammar with other bodies for some of its rules."""
    for name, body in bodies.items():
        start = re.search(rf"^{name}\s*::= .*$", grammar, re.MULTILINE)
        assert start, f"no rule {name}"
        grammar = f"{grammar[: start.start()]}{name} ::= {body}{grammar[start.end() :]}"
    return grammar


def gbnf_literal(text: str) -> str:
    """`text` as a GBNF terminal."""
    return '"' + "".join(GBNF_ESCAPES.get(c) or (f"\\x{ord(c):02x}" if c < " " else c) for c in text) + '"'


def yes_no_grammar() -> str:
    """YES or NO."""
    return _grammar_file("yes_no")


def parse_yes_no(text: str) -> bool | None:
    return {"YES": True, "NO": False}.get(text)


def intent_grammar() -> str:
    """One of `INTENTS`."""
    return _grammar_file("intent")


def parse_intent(text: str) -> Intent | None:
    return next((known for known in INTENTS if known == text), None)


def one_of_grammar(words: Sequence[str]) -> str:
    """One of `words`, which must not be empty."""
    if not words or "" in words:
        raise ValueError("a choice needs words, and none of them empty")
    return "root ::= " + " | ".join(gbnf_literal(word) for word in dict.fromkeys(words)) + "\n"


def parse_one_of(text: str, words: Sequence[str]) -> str | None:
    return text if text in words else None


def choice_grammar(n: int) -> str:
    """An index from 0 to `n` - 1."""
    return one_of_grammar([str(index) for index in range(n)])


def parse_choice(text: str, n: int) -> int | None:
    found = parse_one_of(text, [str(index) for index in range(n)])
    return None if found is None else int(found)


def code_block_grammar(*, most_lines: int = 200, most_chars: int = 240) -> str:
    """One fenced code block of up to `most_lines` lines, each of up to `most_chars` characters after its first."""
    return _redefine_rules(
        _grammar_file("code_block"), lines=f"line{{1,{most_lines}}}", rest=f"[^\\n]{{0,{most_chars}}}"
    )


def parse_code_block(text: str) -> str | None:
    """The lines within the fence."""
    found = BLOCK_PATTERN.fullmatch(text)
    return found[1] if found else None


def find_code_block(text: str) -> str | None:
    """The first code block in an answer that no grammar held to its form; None where its end is missing."""
    found = FENCE_PATTERN.search(text)
    return found[1] if found else None


@dataclass(frozen=True, slots=True)
class Replacement:
    """Whole lines to find and whole lines to put there, each with its newline."""

    search: str
    replace: str

    def span(self, text: str) -> tuple[int, int] | None:
        """Characters of `text` that are to be replaced; None unless these lines are there exactly once."""
        # a last line without a newline is found like any other
        lines = f"\n{text}" if text.endswith("\n") else f"\n{text}\n"
        start = lines.find(f"\n{self.search}")
        if start < 0 or lines.find(f"\n{self.search}", start + 1) >= 0:
            return None
        return start, min(start + len(self.search), len(text))


def edit_grammar(original: str = "", *, most_lines: int = 120, most_chars: int = 240) -> str:
    """One search-and-replace block that puts in up to `most_lines` lines.

    With `original` the lines to find are consecutive lines of that text, word for word, and so many that they are
    there only once: the model chooses where, and cannot mistype what is there.
    """
    grammar = _redefine_rules(
        _grammar_file("edit"), replace=f"line{{0,{most_lines}}}", rest=f"[^\\n]{{0,{most_chars}}}"
    )
    lines = original.splitlines()
    starts = [
        f"{gbnf_literal(''.join(f'{line}{chr(10)}' for line in lines[at : at + size]))} after-{at + size}"
        for at in range(len(lines))
        if (size := _unique_line_count(lines, at))
    ]
    if not starts:
        return grammar
    stop = gbnf_literal("=======\n")
    rules = [f"after-{len(lines)} ::= {stop}"]
    for at, line in enumerate(lines):
        more = "" if line.startswith(EDIT_MARKERS) else f" | {gbnf_literal(line + chr(10))} after-{at + 1}"
        rules.append(f"after-{at} ::= {stop}{more}")
    return _redefine_rules(grammar, search=" | ".join(starts)) + "\n".join([*rules, ""])


def _unique_line_count(lines: Sequence[str], at: int) -> int:
    """How many lines from `at` on are together nowhere else in `lines`; 0 where there are no such, or a mark is met."""
    others = [other for other in range(len(lines)) if other != at]
    for size, line in enumerate(lines[at:], 1):
        if line.startswith(EDIT_MARKERS):
            return 0
        others = [other for other in others if other + size <= len(lines) and lines[other + size - 1] == line]
        if not others:
            return size
    return 0


def parse_edit(text: str) -> Replacement | None:
    found = EDIT_PATTERN.fullmatch(text)
    return Replacement(found[1], found[2]) if found else None
