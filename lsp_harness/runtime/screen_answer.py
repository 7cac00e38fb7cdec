"""The answer of an agent, found by comparing what its terminal showed before and after a message."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

ANSWER_LINES = 2_000
"""Lines of the output in which an answer is looked for."""
MAX_LINES_BEFORE_ECHO = 4
"""Lines between the old text and the echo of a message, such as a separator."""
MAX_FRAME_ROWS = 2
"""Rows of a frame above the prompt."""
END_CHARS = 12
"""Characters at the end of a message by which it is recognized in a prompt."""
MIN_ECHO_CHARS = 3
"""Characters of a message that a row must have to be its echo."""


@dataclass(frozen=True, slots=True)
class ScreenBefore:
    """The terminal of an agent before a message.

    Attributes:
        lines: The lines that it showed.
        box: The last rows, which are the prompt and its frame.
    """

    lines: Sequence[str] = ()
    box: Sequence[str] = ()


def find_box(rows: Sequence[str], cursor_row: int) -> list[str]:
    """Return the rows of the prompt of an agent that is ready: from the frame above the cursor to the last row."""
    top = min(cursor_row, len(rows))
    for row in range(top - 1, max(-1, top - 1 - MAX_FRAME_ROWS), -1):
        if not rows[row].strip() or not is_frame(rows[row]):
            break
        top = row
    return _strip(rows[top:])


def has_end_of(message: str, rows: Sequence[str], cursor_row: int) -> bool:
    """Return whether the row of the cursor has the end of a message, which may have begun in the row above."""
    end = _remove_blanks(message.split("\n")[-1])[-END_CHARS:]
    if not end or cursor_row >= len(rows):
        return False
    both = _remove_blanks("".join(rows[max(0, cursor_row - 1) : cursor_row + 1]))
    return both.endswith(end) or end in _remove_blanks(rows[cursor_row])


def is_frame(row: str) -> bool:
    """Return whether a row has no letters and no digits."""
    return not any(sign.isalnum() for sign in row)


def find_answer(
    before: ScreenBefore, after: Sequence[str], message: str, is_box: Callable[[str], bool], prompt_rows: int = 0
) -> str:
    """Return what an agent printed after a message, without the message and its prompt.

    Args:
        before: The terminal before the message.
        after: The lines that it shows now.
        message: The message, whose echo is no part of the answer.
        is_box: Whether a line belongs to the prompt and its frame.
        prompt_rows: The number of lines at the end that are always the prompt.
    """
    old, new = _strip(before.lines), _strip(after)
    if prompt_rows:
        old, new = old[:-prompt_rows], new[:-prompt_rows]
    else:
        old, new = _drop_suffix(old, before.box), _drop_suffix(new, before.box)
    lines = _drop_echo(_find_new(_drop_box(old, is_box), new), message)
    return "\n".join(_drop_box(lines, is_box)).strip("\n")


def _drop_suffix(lines: list[str], suffix: Sequence[str]) -> list[str]:
    """Return the lines without those at the end that are also the end of another text."""
    kept = list(lines)
    for row in reversed(suffix):
        if not kept or kept[-1] != row.rstrip():
            break
        kept.pop()
    return kept


def _find_new(before: list[str], after: list[str]) -> list[str]:
    if after[: len(before)] == before:
        return after[len(before) :]
    # old lines have left the memory, or the agent paints its screen anew
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    new = list[str]()
    for tag, _, _, start, end in matcher.get_opcodes():
        if tag in ("insert", "replace"):
            new += after[start:end]
    return new


def _drop_echo(lines: list[str], message: str) -> list[str]:
    """Return the lines after the echo of a message, which may be wrapped and may follow a prompt."""
    wanted, number = _remove_blanks(message), 0
    has_begun = False
    for number, line in enumerate(lines):
        if not wanted:
            return lines[number:]
        text = _remove_blanks(line)
        if not text:
            continue
        size = _count_overlap(text, wanted)
        if size:
            has_begun, wanted = True, wanted[size:]
        elif has_begun:
            return lines[number:]
        elif number >= MAX_LINES_BEFORE_ECHO:
            return lines
    return lines[number + 1 :] if has_begun and not wanted else ([] if has_begun else lines)


def _count_overlap(text: str, wanted: str) -> int:
    """Return how many of the wanted characters a row has, which may begin with a prompt."""
    if wanted in text:
        return len(wanted)
    least = min(MIN_ECHO_CHARS, len(wanted))
    return next((size for size in range(min(len(text), len(wanted)), least - 1, -1) if text.endswith(wanted[:size])), 0)


def _remove_blanks(text: str) -> str:
    return "".join(text.split())


def _strip(lines: Sequence[str]) -> list[str]:
    kept = [line.rstrip() for line in lines]
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _drop_box(lines: list[str], is_box: Callable[[str], bool]) -> list[str]:
    kept = list(lines)
    while kept and (not kept[-1].strip() or is_box(kept[-1])):
        kept.pop()
    return kept
