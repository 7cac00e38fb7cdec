"""Which brackets and quotes of a short text belong together, and which are left over.

A scanner, not a lexer: it knows strings and line comments well enough to tell a surplus `)` from one that the text
itself opened. Apostrophes in words and Rust lifetimes are not quotes.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from lsp_harness.languages.language_table import find_language
from lsp_harness.text.code_lines import LineSyntax

PAIRS = {")": "(", "]": "[", "}": "{"}
OPENERS = frozenset(PAIRS.values())
CLOSERS = frozenset(PAIRS)
QUOTES = frozenset("\"'`")
TOKEN = re.compile(r"\\.|//|/\*|\"\"\"|'''|[\"'`#()\[\]{}\n]", re.DOTALL)
STRING_PREFIX = re.compile(r"(?<!\w)[rbfuRBFU]{1,2}\Z")
CHARACTER = re.compile(r"'(?:\\.[^']{0,8}|[^'\\\n])'")


@dataclass(frozen=True, slots=True)
class Balance:
    """`surplus` = closers nothing in the text opened; `pairs` = (opened at, closed at)."""

    surplus: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    pairs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    open: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    quote: str = ""


@lru_cache(maxsize=256)
def scan(text: str, language: str = "", quote: str = "") -> Balance:
    """Walk the text once. `quote` is the string the text starts inside of, if any; treat the answer as read-only."""
    syntax = find_language(language).lines
    has_hash_comments = syntax.comment_style == "hash"
    found = Balance()
    at, opened = 0, -1
    while match := TOKEN.search(text, at):
        at, token = match.end(), match.group()
        if quote:
            # of three quotes inside a string in that quote, one closes it and two are looked at again
            if token == quote or (len(token) == 3 and token[0] == quote):
                at = match.start() + len(quote)
                if opened < 0:
                    found.surplus.append((match.start(), quote))
                else:
                    found.pairs.append((opened, match.start()))
                quote = ""
            elif token == "\n" and quote in ("'", '"'):
                quote = ""
        elif token[0] in QUOTES:
            if _is_quote(text, match.start(), token, syntax):
                quote, opened = token, match.start()
            elif syntax.has_lifetimes and (char := CHARACTER.match(text, match.start())):
                at = char.end()
        elif (token == "#" and has_hash_comments) or (token == "//" and not has_hash_comments):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif token == "/*" and not has_hash_comments:
            end = text.find("*/", at)
            at = len(text) if end < 0 else end + 2
        elif token in OPENERS:
            found.open.append((match.start(), token))
        elif token in CLOSERS:
            _close(found, match.start(), token)
    return Balance(found.surplus, found.pairs, found.open, quote)


def _is_quote(text: str, at: int, token: str, syntax: LineSyntax) -> bool:
    if syntax.is_prose or (token == "'" and syntax.has_lifetimes):
        return False
    if token != "'" or not at or not (text[at - 1].isalnum() or text[at - 1] == "_"):
        return True
    return STRING_PREFIX.search(text[max(0, at - 3) : at]) is not None


def _close(found: Balance, at: int, closer: str) -> None:
    """Match a closer with the innermost opener of its kind; what was left open inside stays unmatched."""
    for index in range(len(found.open) - 1, -1, -1):
        if found.open[index][1] == PAIRS[closer]:
            found.pairs.append((found.open[index][0], at))
            del found.open[index:]
            return
    found.surplus.append((at, closer))


def missing(line_prefix: str, line_suffix: str, language: str = "") -> int:
    """How many brackets opened before the cursor the rest of the line does not close."""
    before = scan(line_prefix, language)
    after = scan(line_suffix, language, before.quote)
    return max(0, len(before.open) - sum(char in CLOSERS for _, char in after.surplus))
