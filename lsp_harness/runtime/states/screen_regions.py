"""The parts of an agent's screen in which a rule may look, so that text of a conversation is no dialog."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

RegionName = Literal[
    "title", "bottom", "above_composer", "composer", "footer", "below_rule", "body", "options", "before_cursor"
]
"""A part of the screen: the title of the terminal, the last rows that are not empty, the rows above the composer, the
composer (the box for the user's next message), the rows below it, the rows below the last horizontal rule, the text
and the options of a dialog, and the row of the cursor up to the cursor."""
HORIZONTAL_RULE = re.compile(r"[─━═▔]{10,}(.{0,60}[─━═▔]+)?")
"""A row that is a horizontal rule, perhaps with a label in it."""
MAX_COMPOSER_ROWS = 15
BORDERS = "│┃║▌▐▏"


class ScreenView(Protocol):
    """The screen of a terminal, as rules read it."""

    def rows(self) -> list[str]:
        """Return the text of all rows."""
        ...

    def backgrounds(self, row: int) -> list[str]:
        """Return the background of each column of a row, to be compared with each other."""
        ...

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and the column of the cursor, from 0 on."""
        ...

    @property
    def title(self) -> str:
        """The title of the terminal."""
        ...


@dataclass(frozen=True, slots=True)
class ComposerShape:
    """The look of a composer on the screen of one kind of agent.

    Attributes:
        pattern: Its first row, without borders and spaces around it.
        lies_between_rules: Whether horizontal rules are above and below it.
        max_rows_below: How many rows that are not empty may be below it.
        prompt: The sign before the text of the user. None: the composer has no text that can be read.
        placeholder: A hint that the agent shows in an empty composer. None: it is only known that such a hint is behind
            the cursor.
        is_edge: Whether `pattern` is the lower edge, so that the text is above it.
    """

    pattern: re.Pattern[str]
    lies_between_rules: bool = False
    max_rows_below: int = 4
    prompt: re.Pattern[str] | None = None
    placeholder: re.Pattern[str] | None = None
    is_edge: bool = False


@dataclass(frozen=True, slots=True)
class Composer:
    """A composer that was found: its first row, and the first row below it."""

    first: int
    end: int


def strip_borders(row: str) -> str:
    """Return a row without the borders of a box and without spaces around it."""
    return row.strip().strip(BORDERS).strip()


def is_rule(row: str) -> bool:
    """Return whether a row is a horizontal rule."""
    return HORIZONTAL_RULE.fullmatch(row.strip()) is not None


def join_rows(rows: Sequence[str]) -> str:
    """Return the text of rows as one line, so that a fragment is found where a narrow terminal wraps it."""
    return " ".join(" ".join(strip_borders(row) for row in rows).split())


def last_rows(rows: Sequence[str], count: int) -> list[str]:
    """Return the last rows that are not empty."""
    return [row for row in rows if strip_borders(row)][-count:]


def rows_below_rule(rows: Sequence[str]) -> list[str]:
    """Return the rows below the last horizontal rule, or none without a rule."""
    last = max((number for number, row in enumerate(rows) if is_rule(row)), default=len(rows))
    return list(rows[last + 1 :])


def text_before_cursor(screen: ScreenView) -> str:
    """Return the row of the cursor up to the cursor, without borders."""
    row, column = screen.cursor
    rows = screen.rows()
    text = rows[row][:column] if row < len(rows) else ""
    return text.strip().lstrip(BORDERS).strip()


def find_composer(rows: Sequence[str], shape: ComposerShape | None) -> Composer | None:
    """Return the composer at the bottom of a screen."""
    if shape is None:
        return None
    found = _find_between_rules(rows, shape) if shape.lies_between_rules else _find_last(rows, shape)
    if found is None or len(last_rows(rows[found.end :], len(rows))) > shape.max_rows_below:
        return None
    return found


def _find_between_rules(rows: Sequence[str], shape: ComposerShape) -> Composer | None:
    rules = [number for number, row in enumerate(rows) if is_rule(row)][-2:]
    if len(rules) < 2 or rules[1] - rules[0] - 1 > MAX_COMPOSER_ROWS:
        return None
    first = rules[0] + 1
    return Composer(first, rules[1]) if shape.pattern.match(strip_borders(rows[first])) else None


def _find_last(rows: Sequence[str], shape: ComposerShape) -> Composer | None:
    numbers = [number for number, row in enumerate(rows) if shape.pattern.match(strip_borders(row))]
    return Composer(numbers[-1], numbers[-1] + 1) if numbers else None


def find_unsent_text(screen: ScreenView, composer: Composer, shape: ComposerShape) -> str:
    """Return the text that the user typed into a composer and did not send.

    It is the text before the cursor, because agents show a hint behind it. Where the hint is known, everything else is
    such a text, too.
    """
    if shape.prompt is None:
        return ""
    rows, (row, column) = screen.rows(), screen.cursor
    first = composer.first
    while shape.is_edge and first > 0 and rows[first - 1].strip()[:1] in tuple(BORDERS):
        first -= 1
    if not first <= row < min(len(rows), first + MAX_COMPOSER_ROWS):
        return ""
    text = _strip_prompt([*rows[first:row], rows[row][:column]], shape.prompt)
    if text or shape.placeholder is None:
        return text
    text = _strip_prompt(rows[first : row + 1], shape.prompt)
    return "" if shape.placeholder.match(text) else text


def _strip_prompt(rows: Sequence[str], prompt: re.Pattern[str]) -> str:
    return prompt.sub("", "\n".join(strip_borders(row) for row in rows).strip(), count=1).strip()
