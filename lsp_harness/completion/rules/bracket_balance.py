"""The pairs of brackets and quotes in a short text, and those without a partner.

This is a scanner, not a lexer. It knows strings and line comments well enough to distinguish a surplus `)` from one
that the text itself opened. Apostrophes in words and lifetimes of Rust are not quotes.
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
RUST_CHARACTER = re.compile(r"'(?:\\.[^']{0,8}|[^'\\\n])'")


@dataclass(frozen=True, slots=True)
class BracketBalance:
    """The pairs of brackets and quotes in a text, and those without a partner. All positions are character offsets.

    Attributes:
        surplus_closers: The positions of closing brackets and quotes that the text did not open.
        pairs: The positions of the opening and the closing bracket or quote of each pair.
        open_brackets: The positions of brackets that the text opens and does not close.
        open_quote: The quote of the string in which the text ends. Empty if it ends in no string.
    """

    surplus_closers: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    pairs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    open_brackets: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    open_quote: str = ""


@lru_cache(maxsize=256)
def scan_brackets(text: str, language: str = "", quote: str = "") -> BracketBalance:
    """Return the brackets and quotes of a text. The value is cached, so callers do not change it.

    Args:
        text: The text.
        language: The language id, which decides what a comment is.
        quote: The quote of the string in which the text begins. Empty if it begins in no string.
    """
    syntax = find_language(language).lines
    has_hash_comments = syntax.comment_style == "hash"
    balance = BracketBalance()
    offset, quote_start = 0, -1
    while match := TOKEN.search(text, offset):
        offset, token = match.end(), match.group()
        if quote:
            # A string may hold three of its own quotes: the first closes it, and the other two are scanned again.
            if token == quote or (len(token) == 3 and token[0] == quote):
                offset = match.start() + len(quote)
                if quote_start < 0:
                    balance.surplus_closers.append((match.start(), quote))
                else:
                    balance.pairs.append((quote_start, match.start()))
                quote = ""
            elif token == "\n" and quote in ("'", '"'):
                quote = ""
        elif token[0] in QUOTES:
            if _is_quote(text, match.start(), token, syntax):
                quote, quote_start = token, match.start()
            elif syntax.has_lifetimes and (character := RUST_CHARACTER.match(text, match.start())):
                offset = character.end()
        elif (token == "#" and has_hash_comments) or (token == "//" and not has_hash_comments):
            end = text.find("\n", offset)
            offset = len(text) if end < 0 else end
        elif token == "/*" and not has_hash_comments:
            end = text.find("*/", offset)
            offset = len(text) if end < 0 else end + 2
        elif token in OPENERS:
            balance.open_brackets.append((match.start(), token))
        elif token in CLOSERS:
            _close(balance, match.start(), token)
    return BracketBalance(balance.surplus_closers, balance.pairs, balance.open_brackets, quote)


def _is_quote(text: str, offset: int, token: str, syntax: LineSyntax) -> bool:
    if syntax.is_prose or (token == "'" and syntax.has_lifetimes):
        return False
    if token != "'" or not offset or not (text[offset - 1].isalnum() or text[offset - 1] == "_"):
        return True
    return STRING_PREFIX.search(text[max(0, offset - 3) : offset]) is not None


def _close(balance: BracketBalance, offset: int, closer: str) -> None:
    """Match a closer with the innermost opener of its kind. Openers inside that pair stay without a partner."""
    for index in range(len(balance.open_brackets) - 1, -1, -1):
        if balance.open_brackets[index][1] == PAIRS[closer]:
            balance.pairs.append((balance.open_brackets[index][0], offset))
            del balance.open_brackets[index:]
            return
    balance.surplus_closers.append((offset, closer))


def count_unclosed(line_prefix: str, line_suffix: str, language: str = "") -> int:
    """Return how many brackets that were opened before the cursor are not closed by the rest of the line."""
    prefix_balance = scan_brackets(line_prefix, language)
    suffix_balance = scan_brackets(line_suffix, language, prefix_balance.open_quote)
    return max(
        0, len(prefix_balance.open_brackets) - sum(bracket in CLOSERS for _, bracket in suffix_balance.surplus_closers)
    )
