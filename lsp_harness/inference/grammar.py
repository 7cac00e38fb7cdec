"""Grammars in GBNF of llama.cpp that constrain the answer of a model, each with the parser of such an answer.

Every grammar limits the number of characters. A token has at least one byte, so this also limits the number of tokens.
The parser returns None for an answer that does not fit the grammar, for example because `n_predict` has cut it off.
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
    """Return the grammar with other bodies for some of its rules."""
    for name, body in bodies.items():
        start = re.search(rf"^{name}\s*::= .*$", grammar, re.MULTILINE)
        assert start, f"no rule {name}"
        grammar = f"{grammar[: start.start()]}{name} ::= {body}{grammar[start.end() :]}"
    return grammar


def gbnf_literal(text: str) -> str:
    """Return `text` as a GBNF terminal."""
    return '"' + "".join(GBNF_ESCAPES.get(c) or (f"\\x{ord(c):02x}" if c < " " else c) for c in text) + '"'


def yes_no_grammar() -> str:
    """Return the grammar of YES or NO."""
    return _grammar_file("yes_no")


def parse_yes_no(text: str) -> bool | None:
    """Return whether the answer is YES, or None if it is neither YES nor NO."""
    return {"YES": True, "NO": False}.get(text)


def intent_grammar() -> str:
    """Return the grammar of one of `INTENTS`."""
    return _grammar_file("intent")


def parse_intent(text: str) -> Intent | None:
    """Return the intent in an answer, or None if there is none."""
    return next((intent for intent in INTENTS if intent == text), None)


def one_of_grammar(words: Sequence[str]) -> str:
    """Return the grammar of one of `words`. Raise ValueError if there are none, or if one is empty."""
    if not words or "" in words:
        raise ValueError("a choice needs words, and none of them empty")
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


def parse_code_block(text: str) -> str | None:
    """Return the lines inside the fence."""
    match = BLOCK_PATTERN.fullmatch(text)
    return match[1] if match else None


def find_code_block(text: str) -> str | None:
    """Return the first code block of an answer without a grammar, or None if the end of the block is missing."""
    match = FENCE_PATTERN.search(text)
    return match[1] if match else None


@dataclass(frozen=True, slots=True)
class Replacement:
    """Whole lines to find, and whole lines to put in their place, each with its newline."""

    search: str
    replace: str

    def span(self, text: str) -> tuple[int, int] | None:
        """Return the character range of `text` to replace, or None unless the lines occur exactly once."""
        # with this, a last line without a newline is found too
        lines = f"\n{text}" if text.endswith("\n") else f"\n{text}\n"
        start = lines.find(f"\n{self.search}")
        if start < 0 or lines.find(f"\n{self.search}", start + 1) >= 0:
            return None
        return start, min(start + len(self.search), len(text))


def edit_grammar(original: str = "", *, max_lines: int = 120, max_chars: int = 240) -> str:
    """Return the grammar of a search-and-replace block that inserts up to `max_lines` lines.

    With `original`, the lines to find are consecutive lines of that text, as many as make them unique. So the model
    chooses the place and cannot write lines that do not exist.
    """
    grammar = _redefine_rules(_grammar_file("edit"), replace=f"line{{0,{max_lines}}}", rest=f"[^\\n]{{0,{max_chars}}}")
    lines = original.splitlines()
    starts = [
        f"{gbnf_literal(''.join(f'{line}{chr(10)}' for line in lines[start : start + size]))} after-{start + size}"
        for start in range(len(lines))
        if (size := _unique_line_count(lines, start))
    ]
    if not starts:
        return grammar
    stop = gbnf_literal("=======\n")
    rules = [f"after-{len(lines)} ::= {stop}"]
    for at, line in enumerate(lines):
        more = "" if line.startswith(EDIT_MARKERS) else f" | {gbnf_literal(line + chr(10))} after-{at + 1}"
        rules.append(f"after-{at} ::= {stop}{more}")
    return _redefine_rules(grammar, search=" | ".join(starts)) + "\n".join([*rules, ""])


def _unique_line_count(lines: Sequence[str], start: int) -> int:
    """Return how many lines from `start` on are unique together; 0 if none are, or if one looks like a marker."""
    others = [other for other in range(len(lines)) if other != start]
    for size, line in enumerate(lines[start:], 1):
        if line.startswith(EDIT_MARKERS):
            return 0
        others = [other for other in others if other + size <= len(lines) and lines[other + size - 1] == line]
        if not others:
            return size
    return 0


def parse_edit(text: str) -> Replacement | None:
    """Return the replacement in an answer, or None if the answer does not fit the grammar."""
    match = EDIT_PATTERN.fullmatch(text)
    return Replacement(match[1], match[2]) if match else None
