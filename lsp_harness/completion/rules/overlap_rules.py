"""Rules against saying what stands right of or below the cursor already: the rest of the line, and closers."""

from lsp_harness.completion.rules.bracket_balance import CLOSERS, QUOTES, missing, scan
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.text.code_lines import is_blank, is_lone_closer, line_depth


def line_overlap(ghost: Ghost) -> Ghost:
    """Take from the text's end what the rest of the line begins with, brackets and quotes counted."""
    if ghost.mode != "line" or is_blank(ghost.line_suffix):
        return ghost
    text = _without_surplus(ghost)
    rest = ghost.line_suffix.rstrip()
    bare = text.rstrip()
    cut = max(_tail(ghost, bare, rest), _tail(ghost, bare, rest.lstrip()))
    return ghost.having(bare[: len(bare) - cut] if cut else text)


def _without_surplus(ghost: Ghost) -> str:
    """Cut at the first closer that neither text nor line needs and that the rest of the line begins with."""
    text, rest = ghost.text, ghost.line_suffix.lstrip()
    quote = scan(ghost.line_prefix, ghost.language).quote
    spare = missing(ghost.line_prefix, ghost.line_suffix, ghost.language)
    for at, char in scan(text, ghost.language, quote).surplus:
        if char in CLOSERS and spare:
            spare -= 1
        elif rest.startswith(char):
            return text[:at]
    return text


def _tail(ghost: Ghost, text: str, rest: str) -> int:
    """Length of the longest end of the text that begins the rest, whole words and the text's own pairs respected."""
    found = None
    for size in range(min(len(text), len(rest)), 0, -1):
        at = len(text) - size
        if text[at] != rest[0] or not text.endswith(rest[:size]):
            continue
        if _inside_word(text, at) or _inside_word(rest, size):
            continue
        if all(char in CLOSERS for char in rest[:size]) and missing(ghost.line_prefix, ghost.line_suffix) >= size:
            return 0
        if found is None:
            found = scan(text, ghost.language, scan(ghost.line_prefix, ghost.language).quote)
        if not any(opened < at <= closed for opened, closed in found.pairs):
            return size
    return 0


def _inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _word(text[at - 1]) and _word(text[at])


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


def held(ghost: Ghost, closer: str) -> bool:
    """Whether the document, below the cursor, already has this closer at this depth."""
    column, bare = line_depth(closer), closer.strip()
    start = bare[: 2 if bare[:2] == "</" else 3 if bare[:1] in QUOTES or bare[:1].isalpha() else 1]
    for line in ghost.around.lines_below:
        if line_depth(line) <= column:
            return line_depth(line) == column and line.strip().startswith(start)
    return False


def closers_below(ghost: Ghost) -> Ghost:
    """Stop before a closing line which the text did not open and which follows anyway."""
    if ghost.mode == "line":
        return ghost
    lines = ghost.text.split("\n")
    for index, line in enumerate(lines):
        # the rest of a line begun before the cursor is not a line of its own
        full = ghost.line_prefix + line if index == 0 else line
        if is_lone_closer(full) and held(ghost, full) and _surplus(ghost, lines, index):
            return ghost.having("\n".join(lines[:index]))
    return ghost


def _surplus(ghost: Ghost, lines: list[str], index: int) -> bool:
    """Whether the closer on this line ends something from before the text."""
    bare = lines[index].strip()
    before = "\n".join(lines[:index])
    if bare[:3] in ('"""', "'''"):
        return before.count(bare[:3]) % 2 == 0
    if bare.startswith("</"):
        name = bare[2:].partition(">")[0]
        return before.count(f"<{name}") <= before.count(f"</{name}")
    if bare[:1] in CLOSERS:
        start = len(before) + (index > 0)
        found = scan("\n".join(lines[: index + 1]), ghost.language)
        return any(at >= start for at, _ in found.surplus)
    column = line_depth(lines[index])
    return not any(line_depth(line) == column for line in lines[:index] if not is_blank(line))
