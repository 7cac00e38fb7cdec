"""Rules that end the text early: at markers, at what the document already says, and where the model runs in circles.

Each decides line by line from the top, looking at nothing below the line it cuts before. Only so can `enough` stop
the model at that line.
"""

import re

from lsp_harness.completion.rules.cursor_lines import RUN
from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.line_similarity import near
from lsp_harness.text.code_lines import (
    is_blank,
    is_lone_closer,
    line_depth,
    opens_block,
)

MAX_LINES = 8  # real commits' small blocks have 3 to 8 lines; beyond, small models are rarely right
LONG = 8  # shorter lines (`else:`, `i += 1`) recur everywhere and prove nothing
PERIOD = 6  # longest block whose repetition is looked for

SPECIAL = re.compile(
    r"<\|[\w:/.-]+\|>"
    "|<\uff5c[^\uff5c\n]{1,40}\uff5c>"  # full-width bars
    r"|<(?:fim_\w+|file_sep|repo_name|reponame|gh_stars|endoftext|EOT)>|\u2581?<(?:PRE|SUF|MID)>"
    r"|<\|(?:fim|endof|end|file|repo|im)_?\w*$"
)
SENTENCE_END = re.compile(r"</?s>")
BROKEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffd\ud800-\udfff]")
FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
CHATTER = re.compile(
    r"\s*(?:(?:Sure|Certainly|Of course)[,!.]|(?:Here(?:'s| is| are)|This is|Below is) (?:the|your|an?) "
    r"[^\n]*\b(?:code|implementation|function|solution|completion)\b[^\n]*:\s*$"
    r"|I(?:'m sorry|'ve | cannot| can't)|As an AI\b)",
    re.MULTILINE,
)
AFTERWORD = re.compile(r"\n(?:Explanation|Human|Assistant):[^\n]*(?:\n|$)|\n#{2,} Explanation")
CIRCLE = re.compile(r"((?=.*\w).{2,24}?)\1{6,}$")
PLACEHOLDER = re.compile(
    r"\s*(?:#|//|/\*|<!--)\s*(?:(?:Your|Add your|Write your) (?:code|implementation)|(?:TODO:?\s*)?Implement\b|TODO\b)"
    r"[^\n]*(?:\n\s*pass)?\s*",
    re.IGNORECASE,
)


def special_tokens(ghost: Ghost) -> Ghost:
    match = SPECIAL.search(ghost.text)
    text = ghost.text[: match.start()] if match else ghost.text
    # `<s>` is also a tag
    if not ghost.syntax.has_tags and (match := SENTENCE_END.search(text)) and not match.end() < len(text.rstrip()):
        text = text[: match.start()]
    return ghost.having(text)


def broken_characters(ghost: Ghost) -> Ghost:
    match = BROKEN.search(ghost.text)
    return ghost.having(ghost.text[: match.start()]) if match else ghost


def chatter(ghost: Ghost) -> Ghost | None:
    """Keep what is inside the first fence, unless the document itself is one that has fences."""
    if ghost.syntax.is_prose or "```" in ghost.prefix or "```" in ghost.suffix:
        return ghost
    text = ghost.text
    talks = is_blank(ghost.line_prefix) and CHATTER.match(text) is not None
    fence = FENCE.search(text)
    if fence is None:
        if talks:
            return None
    elif talks or is_blank(text[: fence.start()]):
        inside = text[fence.end() :].removeprefix("\n")
        end = FENCE.search(inside)
        text = inside[: end.start()] if end else inside
    else:
        text = text[: fence.start()]
    after = AFTERWORD.search(text)
    return ghost.having(text[: after.start()] if after else text)


def placeholder(ghost: Ghost) -> Ghost | None:
    """`# Your code here` says nothing that the user did not know."""
    return None if is_blank(ghost.line_prefix) and PLACEHOLDER.fullmatch(ghost.text) else ghost


def one_line(ghost: Ghost) -> Ghost:
    return ghost if ghost.mode == "block" else ghost.having(ghost.text.partition("\n")[0])


def suffix_start(ghost: Ghost) -> Ghost:
    """Stop where the text arrives at the line that comes next anyway."""
    target = ghost.around.lines_below[0] if ghost.around.lines_below else ""
    if is_blank(target) or is_lone_closer(target):
        return ghost
    column = line_depth(target)
    bare = target.strip()
    above = ghost.line_prefix if not is_blank(ghost.line_prefix) else ghost.previous
    lines = ghost.text.split("\n")
    for index, line in enumerate(lines):
        full = ghost.line_prefix + line if index == 0 else line
        stripped = full.strip()
        if stripped == bare or near(stripped, bare):
            # deeper in a block the text opened itself, the same words are another statement
            own = line_depth(full)
            inside = own > column and opens_block(above, ghost.syntax)
            if own == column or (len(stripped) >= LONG and not inside):
                return _before(ghost, lines, index)
        above = full if stripped else above
    return ghost


def prefix_repeated(ghost: Ghost) -> Ghost:
    """Stop where the text says again, word for word, what stands just above it."""
    said = ghost.around.said
    if not said:
        return ghost
    lines = ghost.text.split("\n")
    full = [ghost.line_prefix + lines[0], *lines[1:]]
    numbered = [(at, line) for at, line in enumerate(full) if not is_blank(line) and not is_lone_closer(line)]
    own = [line for _, line in numbered]
    again = own[:1] == said[-1:] and ghost.previous == said[-1] and len(said[-1].strip()) >= LONG
    if again or (len(own) > 1 and own[:2] == said[-2:]):
        return _before(ghost, lines, numbered[0][0])
    for at in range(len(own) - RUN + 1):
        if tuple(own[at : at + RUN]) in ghost.around.runs:
            return _before(ghost, lines, numbered[at][0])
    return ghost


def runaway(ghost: Ghost) -> Ghost:
    """A line three times in a row, or a block of lines twice: keep the first."""
    lines = ghost.text.split("\n")
    full = [ghost.line_prefix + lines[0], *lines[1:]]
    for end in range(2, len(full) + 1):
        for period in range(1, min(PERIOD, end // 2) + 1):
            start = end - (3 if period == 1 else 2) * period
            block = full[end - period : end]
            if start < 0 or full[end - 2 * period : end - period] != block or full[start : start + period] != block:
                continue
            if all(is_blank(line) or is_lone_closer(line) for line in block):
                continue
            return ghost.having("\n".join(lines[: start + period]))
    return ghost


def circling(ghost: Ghost) -> Ghost | None:
    """The same few characters to the end of the last line: the model found no way out, so there is no end to show."""
    last = ghost.text.rstrip().rpartition("\n")[2]
    return None if len(last) >= 40 and CIRCLE.search(last) else ghost


def max_lines(ghost: Ghost) -> Ghost:
    lines = ghost.text.split("\n", MAX_LINES)
    if len(lines) < MAX_LINES:
        return ghost
    lines = lines[:MAX_LINES]
    # an opener whose body fell away says less than nothing
    while len(lines) > 1 and (is_blank(lines[-1]) or opens_block(lines[-1], ghost.syntax)):
        lines.pop()
    return ghost.having("\n".join(lines))


def _before(ghost: Ghost, lines: list[str], index: int) -> Ghost:
    return ghost.having("\n".join(lines[:index]))
