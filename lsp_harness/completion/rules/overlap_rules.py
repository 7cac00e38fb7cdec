"""Rules against text that already stands after or below the cursor: the rest of the line, and closers."""

from lsp_harness.completion.rules.bracket_balance import CLOSERS, QUOTES, count_unclosed, scan_brackets
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.text.code_lines import is_blank, is_lone_closer, line_depth


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
