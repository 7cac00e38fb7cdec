"""Rules that cut the end of the text: at markers, at text that the document has in similar lines, and at repetition.

Each rule decides line by line from the top and does not read below the line at which it cuts. This is necessary for
`is_settled`, which stops the model at that line.
"""

import re

from lsp_harness.completion.rules.ghost_text import COPIED_LINES, Ghost
from lsp_harness.text.code_lines import (
    is_blank,
    is_lone_closer,
    line_depth,
    opens_block,
)

MIN_COMPARED_CHARS = 8
"""Minimum length of a line. Shorter lines are never similar."""
IGNORED_CHARS = re.compile(r"\s+|(?<![;,])[;,]+\s*$")
DISTINCTIVE_WORDS = re.compile(r"\b\w\b|\d+")
"""Single letters and numbers. Two lines of the same table differ in them on purpose."""


def are_similar(line: str, other_line: str) -> bool:
    """Return whether two lines differ in at most 5 % of their characters.

    Blanks, the kind of quotes and a last `;` or `,` do not count.
    """
    shorter, longer = sorted((len(line), len(other_line)))
    if shorter < MIN_COMPARED_CHARS or longer - shorter > 4 + longer // 8:
        return False
    plain_line, other_plain_line = _normalise_line(line), _normalise_line(other_line)
    if plain_line == other_plain_line:
        return True
    if DISTINCTIVE_WORDS.findall(line) != DISTINCTIVE_WORDS.findall(other_line):
        return False
    max_distance = max(1, min(len(plain_line), len(other_plain_line)) // 20)
    if abs(len(plain_line) - len(other_plain_line)) > max_distance:
        return False
    return _is_within_distance(plain_line, other_plain_line, max_distance)


def _normalise_line(line: str) -> str:
    return IGNORED_CHARS.sub("", line).replace("'", '"')


def _is_within_distance(line: str, other_line: str, max_distance: int) -> bool:
    """Return whether the edit distance is at most `max_distance`. Only the band around the diagonal is computed."""
    distances = list(range(len(other_line) + 1))
    for row_number, char in enumerate(line, 1):
        low, high = max(1, row_number - max_distance), min(len(other_line), row_number + max_distance)
        new_distances = [max_distance + 1] * (len(other_line) + 1)
        new_distances[0] = row_number
        for column in range(low, high + 1):
            new_distances[column] = min(
                distances[column] + 1,
                new_distances[column - 1] + 1,
                distances[column - 1] + (char != other_line[column - 1]),
            )
        if min(new_distances[low : high + 1]) > max_distance:
            return False
        distances = new_distances
    return distances[-1] <= max_distance


MAX_LINES = 8
"""Maximum number of lines. Small blocks in real commits have 3 to 8 lines, and small models are rarely right beyond."""
MIN_DISTINCT_CHARS = 8
"""Minimum length of a line that proves a copy. Shorter lines (`else:`, `i += 1`) occur everywhere."""
MAX_PERIOD_LINES = 6
"""Maximum length of a block whose repetition is searched for."""
MIN_REPETITIVE_CHARS = 40
"""Minimum length of a line in which repeated characters are searched for."""

SPECIAL_TOKEN = re.compile(
    r"<\|[\w:/.-]+\|>"
    "|<\uff5c[^\uff5c\n]{1,40}\uff5c>"  # full-width bars
    r"|<(?:fim_\w+|file_sep|repo_name|reponame|gh_stars|endoftext|EOT)>|\u2581?<(?:PRE|SUF|MID)>"
    r"|<\|(?:fim|endof|end|file|repo|im)_?\w*$"
)
SENTENCE_END = re.compile(r"</?s>")
BROKEN_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffd\ud800-\udfff]")
FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
CHATTER = re.compile(
    r"\s*(?:(?:Sure|Certainly|Of course)[,!.]|(?:Here(?:'s| is| are)|This is|Below is) (?:the|your|an?) "
    r"[^\n]*\b(?:code|implementation|function|solution|completion)\b[^\n]*:\s*$"
    r"|I(?:'m sorry|'ve | cannot| can't)|As an AI\b)",
    re.MULTILINE,
)
AFTERWORD = re.compile(r"\n(?:Explanation|Human|Assistant):[^\n]*(?:\n|$)|\n#{2,} Explanation")
REPEATED_CHARACTERS = re.compile(r"((?=.*\w).{2,24}?)\1{6,}$")
PLACEHOLDER = re.compile(
    r"\s*(?:#|//|/\*|<!--)\s*(?:(?:Your|Add your|Write your) (?:code|implementation)|(?:TODO:?\s*)?Implement\b|TODO\b)"
    r"[^\n]*(?:\n\s*pass)?\s*",
    re.IGNORECASE,
)


def cut_special_tokens(ghost: Ghost) -> Ghost:
    """Cut the text at a special token of a model."""
    match = SPECIAL_TOKEN.search(ghost.text)
    text = ghost.text[: match.start()] if match else ghost.text
    # In markup, `<s>` is a tag.
    match = SENTENCE_END.search(text) if not ghost.syntax.has_tags else None
    if match and match.end() >= len(text.rstrip()):
        text = text[: match.start()]
    return ghost.with_text(text)


def cut_broken_characters(ghost: Ghost) -> Ghost:
    """Cut the text at a control character or an incomplete character."""
    match = BROKEN_CHARACTER.search(ghost.text)
    return ghost.with_text(ghost.text[: match.start()]) if match else ghost


def remove_chatter(ghost: Ghost) -> Ghost | None:
    """Keep only the code inside the first fence, unless the document itself has fences."""
    if ghost.syntax.is_prose or "```" in ghost.prefix or "```" in ghost.suffix:
        return ghost
    text = ghost.text
    is_chatter = is_blank(ghost.line_prefix) and CHATTER.match(text) is not None
    fence = FENCE.search(text)
    if fence is None:
        if is_chatter:
            return None
    elif is_chatter or is_blank(text[: fence.start()]):
        fenced = text[fence.end() :].removeprefix("\n")
        end = FENCE.search(fenced)
        text = fenced[: end.start()] if end else fenced
    else:
        text = text[: fence.start()]
    afterword = AFTERWORD.search(text)
    return ghost.with_text(text[: afterword.start()] if afterword else text)


def reject_placeholder(ghost: Ghost) -> Ghost | None:
    """Show nothing if the text is only a placeholder like `# Your code here`."""
    return None if is_blank(ghost.line_prefix) and PLACEHOLDER.fullmatch(ghost.text) else ghost


def keep_one_line(ghost: Ghost) -> Ghost:
    """Keep only the first line if the display mode allows no block."""
    return ghost if ghost.mode == "block" else ghost.with_text(ghost.text.partition("\n")[0])


def cut_at_following_line(ghost: Ghost) -> Ghost:
    """Cut the text at the line that follows the cursor in the document."""
    target = ghost.cursor_lines.text_lines_below[0] if ghost.cursor_lines.text_lines_below else ""
    if is_blank(target) or is_lone_closer(target):
        return ghost
    column = line_depth(target)
    stripped_target = target.strip()
    line_above = ghost.line_prefix if not is_blank(ghost.line_prefix) else ghost.previous_line
    lines = ghost.text.split("\n")
    for index, line in enumerate(lines):
        full_line = ghost.line_prefix + line if index == 0 else line
        stripped = full_line.strip()
        if stripped == stripped_target or are_similar(stripped, stripped_target):
            # In a block that the text itself opened, the same words are another statement.
            line_column = line_depth(full_line)
            is_in_own_block = line_column > column and opens_block(line_above, ghost.syntax)
            if line_column == column or (len(stripped) >= MIN_DISTINCT_CHARS and not is_in_own_block):
                return _keep_lines(ghost, lines, index)
        line_above = full_line if stripped else line_above
    return ghost


def cut_copied_lines(ghost: Ghost) -> Ghost:
    """Cut the text where it repeats the lines directly above."""
    lines_above = ghost.cursor_lines.text_lines_above
    if not lines_above:
        return ghost
    lines = ghost.text.split("\n")
    full_lines = [ghost.line_prefix + lines[0], *lines[1:]]
    numbered_lines = [
        (index, line) for index, line in enumerate(full_lines) if not is_blank(line) and not is_lone_closer(line)
    ]
    new_lines = [line for _, line in numbered_lines]
    repeats_last_line = (
        new_lines[:1] == lines_above[-1:]
        and ghost.previous_line == lines_above[-1]
        and len(lines_above[-1].strip()) >= MIN_DISTINCT_CHARS
    )
    if repeats_last_line or (len(new_lines) > 1 and new_lines[:2] == lines_above[-2:]):
        return _keep_lines(ghost, lines, numbered_lines[0][0])
    for index in range(len(new_lines) - COPIED_LINES + 1):
        if tuple(new_lines[index : index + COPIED_LINES]) in ghost.cursor_lines.line_runs:
            return _keep_lines(ghost, lines, numbered_lines[index][0])
    return ghost


def cut_repeated_lines(ghost: Ghost) -> Ghost:
    """Keep only the first of three equal consecutive lines, or of two equal consecutive blocks."""
    lines = ghost.text.split("\n")
    full_lines = [ghost.line_prefix + lines[0], *lines[1:]]
    for end in range(2, len(full_lines) + 1):
        for period in range(1, min(MAX_PERIOD_LINES, end // 2) + 1):
            start = end - (3 if period == 1 else 2) * period
            block = full_lines[end - period : end]
            earlier_blocks = full_lines[end - 2 * period : end - period], full_lines[start : start + period]
            if start < 0 or earlier_blocks != (block, block):
                continue
            if all(is_blank(line) or is_lone_closer(line) for line in block):
                continue
            return _keep_lines(ghost, lines, start + period)
    return ghost


def reject_repeated_characters(ghost: Ghost) -> Ghost | None:
    """Show nothing if the last line ends in a repetition of a few characters, because such a text has no correct
    end."""
    last_line = ghost.text.rstrip().rpartition("\n")[2]
    return None if len(last_line) >= MIN_REPETITIVE_CHARS and REPEATED_CHARACTERS.search(last_line) else ghost


def limit_lines(ghost: Ghost) -> Ghost:
    """Keep fewer than `MAX_LINES` lines of a longer text."""
    lines = ghost.text.split("\n", MAX_LINES)
    if len(lines) < MAX_LINES:
        return ghost
    lines = lines[:MAX_LINES]
    # A line that opens a block is useless without its body.
    while len(lines) > 1 and (is_blank(lines[-1]) or opens_block(lines[-1], ghost.syntax)):
        lines.pop()
    return ghost.with_text("\n".join(lines))


def _keep_lines(ghost: Ghost, lines: list[str], count: int) -> Ghost:
    return ghost.with_text("\n".join(lines[:count]))
