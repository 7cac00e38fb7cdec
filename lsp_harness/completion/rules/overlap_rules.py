"""Rules against text that already stands before, after or below the cursor, or that adds nothing.

This is a scanner, not a lexer. It knows strings and line comments well enough to distinguish a surplus `)` from one
that the text itself opened. Apostrophes in words and lifetimes of Rust are not quotes.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.languages.language_table import find_language
from lsp_harness.text.code_lines import LineSyntax, is_blank, is_lone_closer, line_depth

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


def cut_line_overlap(ghost: Ghost) -> Ghost:
    """Remove the end of the text if the rest of the line begins with it. Pairs of brackets and quotes stay together."""
    if ghost.mode != "line" or is_blank(ghost.line_suffix):
        return ghost
    text = _cut_surplus_closers(ghost)
    rest = ghost.line_suffix.rstrip()
    stripped = text.rstrip()
    overlap = max(_overlap_length(ghost, stripped, rest), _overlap_length(ghost, stripped, rest.lstrip()))
    return ghost.with_text(stripped[: len(stripped) - overlap] if overlap else text)


def _cut_surplus_closers(ghost: Ghost) -> str:
    """Cut the text at the first closer that it does not need and with which the rest of the line begins."""
    text, rest = ghost.text, ghost.line_suffix.lstrip()
    quote = scan_brackets(ghost.line_prefix, ghost.language).open_quote
    unclosed = count_unclosed(ghost.line_prefix, ghost.line_suffix, ghost.language)
    for offset, char in scan_brackets(text, ghost.language, quote).surplus_closers:
        if char in CLOSERS and unclosed:
            unclosed -= 1
        elif rest.startswith(char):
            return text[:offset]
    return text


def _overlap_length(ghost: Ghost, text: str, rest: str) -> int:
    """Return the length of the longest end of the text that is also the start of `rest`.

    The end splits neither a word nor a pair of brackets or quotes of the text.
    """
    balance = None
    for size in range(min(len(text), len(rest)), 0, -1):
        start = len(text) - size
        if text[start] != rest[0] or not text.endswith(rest[:size]):
            continue
        if _splits_word(text, start) or _splits_word(rest, size):
            continue
        has_only_closers = all(char in CLOSERS for char in rest[:size])
        if has_only_closers and count_unclosed(ghost.line_prefix, ghost.line_suffix) >= size:
            return 0
        if balance is None:
            balance = scan_brackets(text, ghost.language, scan_brackets(ghost.line_prefix, ghost.language).open_quote)
        if not any(opener < start <= closer for opener, closer in balance.pairs):
            return size
    return 0


def _splits_word(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and _is_word_character(text[offset - 1]) and _is_word_character(text[offset])


def _is_word_character(char: str) -> bool:
    return char.isalnum() or char == "_"


def has_closer_below(ghost: Ghost, closer: str) -> bool:
    """Return whether the document already has this closer below the cursor, at the same depth."""
    column, stripped = line_depth(closer), closer.strip()
    size = 2 if stripped[:2] == "</" else 3 if stripped[:1] in QUOTES or stripped[:1].isalpha() else 1
    closer_start = stripped[:size]
    for line in ghost.cursor_lines.text_lines_below:
        if line_depth(line) <= column:
            return line_depth(line) == column and line.strip().startswith(closer_start)
    return False


def cut_existing_closers(ghost: Ghost) -> Ghost:
    """Cut the text at a closing line that it did not open and that the document already has."""
    if ghost.mode == "line":
        return ghost
    lines = ghost.text.split("\n")
    for index, line in enumerate(lines):
        # The first line of the text begins before the cursor.
        full_line = ghost.line_prefix + line if index == 0 else line
        is_existing = is_lone_closer(full_line) and has_closer_below(ghost, full_line)
        if is_existing and _closes_earlier_text(ghost, lines, index):
            return ghost.with_text("\n".join(lines[:index]))
    return ghost


def _closes_earlier_text(ghost: Ghost, lines: list[str], index: int) -> bool:
    """Return whether the closer on this line ends a block that was opened before the text."""
    closer = lines[index].strip()
    text_before = "\n".join(lines[:index])
    if closer[:3] in ('"""', "'''"):
        return text_before.count(closer[:3]) % 2 == 0
    if closer.startswith("</"):
        name = closer[2:].partition(">")[0]
        return text_before.count(f"<{name}") <= text_before.count(f"</{name}")
    if closer[:1] in CLOSERS:
        line_start = len(text_before) + (index > 0)
        balance = scan_brackets("\n".join(lines[: index + 1]), ghost.language)
        return any(offset >= line_start for offset, _ in balance.surplus_closers)
    column = line_depth(lines[index])
    return not any(line_depth(line) == column for line in lines[:index] if not is_blank(line))


MIN_REPEATED_CHARS = 3
"""Minimum length of a text that counts as a repetition. Shorter texts (`))`, `x`) may be correct."""
MIN_RESTATED_CHARS = 8
"""Minimum length of the typed part of a line that counts as restated."""


def remove_restated_line(ghost: Ghost) -> Ghost:
    """Remove the typed part of the line if the model wrote it again."""
    typed = ghost.line_prefix.strip()
    text = ghost.text.lstrip(" \t")
    if len(typed) >= MIN_RESTATED_CHARS and " " in typed and text.startswith(typed):
        return ghost.with_text(text[len(typed) :])
    return ghost


def reject_typed_text(ghost: Ghost) -> Ghost | None:
    """Show nothing if the user has just typed the text."""
    text, typed = ghost.text.strip(), ghost.line_prefix.rstrip()
    if len(text) < MIN_REPEATED_CHARS or not typed.endswith(text):
        return ghost
    return ghost if len(typed) > len(text) and typed[-len(text) - 1].isalnum() and text[0].isalnum() else None


def reject_following_text(ghost: Ghost) -> Ghost | None:
    """Show nothing if the text is the start of the rest of the line, or begins with the whole rest."""
    text, line_suffix = ghost.text.strip(), ghost.line_suffix.strip()
    if not text or not line_suffix or ghost.mode != "line":
        return ghost
    has_only_closers = all(char in CLOSERS for char in line_suffix)
    if has_only_closers and count_unclosed(ghost.line_prefix, ghost.line_suffix, ghost.language):
        return ghost
    return None if line_suffix.startswith(text) or text.startswith(line_suffix) else ghost


def reject_blank_text(ghost: Ghost) -> Ghost | None:
    """Show nothing if the text is blank."""
    return None if is_blank(ghost.text) else ghost
