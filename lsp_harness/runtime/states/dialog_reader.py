"""The question, the options and the cursor of a dialog at the bottom of a screen."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsp_harness.runtime.states.screen_rules import is_rule, join_rows, last_rows, strip_borders

MARKED_OPTION = re.compile(r"(?P<before>\s*(?P<mark>[❯›●▶>])\s+)(?P<number>\d+[.)]\s+)?(?P<label>\S.*)")
PLAIN_OPTION = re.compile(r"(?P<before>\s*)(?P<number>\d+[.)]\s+)(?P<label>\S.*)")
DIALOG_HINT = re.compile(r"(?i)(press )?(enter|esc) (to )?\w+")
"""A row below a dialog that names its keys."""
LABEL_IN_ROW = re.compile(r"\S+( \S+)*")
"""An option of several that are beside each other, with more than one space between them."""
MIN_HIGHLIGHT_OPTIONS = 3
"""Options that are needed to tell the highlighted one from the others."""
ReadBackgrounds = Callable[[int], Sequence[str]]
MAX_HINT_ROWS = 5
"""Rows that are not empty and may be below the options of a dialog. More of them: the dialog is in the conversation."""
MAX_BODY_ROWS = 24
MAX_GAP_ROWS = 4
"""Rows of explanation or nothing that may be between two options."""
MAX_TEXT = 2_000
SPEECH = re.compile(r"\s{0,2}[•⏺✻✽⎿]|[❯›]\s")
"""The beginning of a part of the conversation. Dialogs begin below it."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog that waits for a choice.

    Attributes:
        question: The question, one line.
        body: The text above the options, one line: also the command or the file in question.
        options: The labels of the options.
        selected: The number of the selected option, from 0 on, or -1 if the screen does not show it.
        hint: The rows below the options, one line.
        is_row: Whether the options are beside each other.
    """

    question: str
    body: str
    options: tuple[str, ...]
    selected: int
    hint: str = ""
    is_row: bool = False

    def find(self, label: re.Pattern[str]) -> int:
        """Return the number of the first option with a label, or -1."""
        return next((number for number, option in enumerate(self.options) if label.search(option)), -1)

    def steps_to(self, number: int) -> int:
        """Return how many options the selection must move on, or back if it is negative.

        Raises:
            ValueError: It is not known which option is selected, or there is no such option.
        """
        if self.selected < 0 or not 0 <= number < len(self.options):
            raise ValueError(f"option {number} of {len(self.options)} cannot be reached from option {self.selected}")
        return number - self.selected


@dataclass(frozen=True, slots=True)
class _Option:
    row: int
    column: int
    number: int
    label: str
    is_marked: bool


def read_dialog(
    rows: Sequence[str],
    row_of_options: re.Pattern[str] | None = None,
    read_backgrounds: ReadBackgrounds = lambda row: (),
) -> Dialog | None:
    """Return the dialog at the bottom of a screen.

    Args:
        rows: The rows of the screen.
        row_of_options: Options that are beside each other, for agents that show them so.
        read_backgrounds: Returns the backgrounds of the columns of a row.
    """
    if row_of_options and (found := _read_row_of_options(rows, row_of_options, read_backgrounds)):
        return found
    lines = [_open_box(row) for row in rows]
    marked = [option for number, line in enumerate(lines) if (option := _read_option(number, line, marked=True))]
    for option in reversed(marked[-3:]):
        options = _numbered_block(lines, option) if option.number else _plain_block(lines, option)
        if len(options) < 2:
            continue
        end = _end_of_label(lines, options[-1])
        hints = [line for line in lines[end:] if line.strip()]
        if len(hints) > MAX_HINT_ROWS or any(is_rule(line) for line in hints):
            continue
        if not option.number and not any(DIALOG_HINT.match(hint.strip()) for hint in hints):
            continue
        return _make_dialog(lines, options, join_rows(hints))
    return None


def _open_box(row: str) -> str:
    """Return a row with its borders replaced by spaces, so that columns stay."""
    if re.fullmatch(r"\s*[╭╰┌└╔╚].*[╮╯┐┘╗╝]\s*", row):
        return ""
    return re.sub(r"[│┃║]", " ", row).rstrip()


def _read_option(number: int, line: str, *, marked: bool) -> _Option | None:
    match = (MARKED_OPTION if marked else PLAIN_OPTION).match(line)
    if match is None or (marked and match["mark"] == ">" and not match["number"]):
        return None
    value = int(re.sub(r"\D", "", match["number"])) if match["number"] else 0
    column = match.start("number") if match["number"] else match.start("label")
    return _Option(number, column, value, match["label"].strip(), marked)


def _numbered_block(lines: Sequence[str], chosen: _Option) -> list[_Option]:
    """Return the options around one that is numbered, in the order of their numbers."""
    block = [chosen]
    for step in (-1, 1):
        row, gap = chosen.row + step, 0
        while 0 <= row < len(lines) and gap <= MAX_GAP_ROWS:
            option = _read_option(row, lines[row], marked=False)
            edge = block[0] if step < 0 else block[-1]
            if option and option.number == edge.number + step and abs(option.column - chosen.column) <= 1:
                block = [option, *block] if step < 0 else [*block, option]
                gap = 0
            else:
                gap += 1
            row += step
    return block


def _plain_block(lines: Sequence[str], chosen: _Option) -> list[_Option]:
    """Return the options around one without a number: the rows next to it whose text begins in the same column."""
    block = [chosen]
    for step in (-1, 1):
        row = chosen.row + step
        while 0 <= row < len(lines) and (line := lines[row]).strip():
            if len(line) - len(line.lstrip()) != chosen.column:
                break
            option = _Option(row, chosen.column, 0, line.strip(), is_marked=False)
            block = [option, *block] if step < 0 else [*block, option]
            row += step
    return block


def _end_of_label(lines: Sequence[str], option: _Option) -> int:
    """Return the row after an option and the rows into which its label is wrapped."""
    row = option.row + 1
    while option.number and row < len(lines) and lines[row].strip():
        if len(lines[row]) - len(lines[row].lstrip()) <= option.column:
            break
        row += 1
    return row


def _make_dialog(lines: Sequence[str], options: list[_Option], hint: str) -> Dialog:
    top = options[0].row
    body: list[str] = []
    for line in reversed(lines[max(0, top - MAX_BODY_ROWS) : top]):
        if is_rule(line) or SPEECH.match(line):
            break
        # dashes around a command are no text
        body.insert(0, line if re.search(r"\w", line) else "")
    labels = tuple(
        join_rows([option.label, *lines[option.row + 1 : _end_of_label(lines, option)]])[:MAX_TEXT]
        for option in options
    )
    selected = next(number for number, option in enumerate(options) if option.is_marked)
    return Dialog(find_question(body), join_rows(body)[:MAX_TEXT], labels, selected, hint[:MAX_TEXT])


def find_question(body: Sequence[str]) -> str:
    """Return the question of a dialog's text: its first paragraph that is or has a question, or its last paragraph."""
    paragraphs: list[list[str]] = [[]]
    for line in body:
        if line.strip():
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    texts = [join_rows(paragraph) for paragraph in paragraphs if paragraph]
    has_one = [text for text in texts if "?" in text]
    is_one = [text for text in texts if text.endswith("?")]
    return (is_one[:1] or has_one[:1] or texts[-1:] or [""])[0][:MAX_TEXT]


def _read_row_of_options(
    rows: Sequence[str], pattern: re.Pattern[str], read_backgrounds: ReadBackgrounds
) -> Dialog | None:
    """Return a dialog whose options are beside each other. Only colours show which one is selected."""
    numbers = [number for number, row in enumerate(rows) if pattern.search(row)]
    if not numbers or len(last_rows(rows[numbers[-1] + 1 :], MAX_HINT_ROWS + 1)) > 1:
        return None
    match = pattern.search(rows[numbers[-1]])
    assert match
    body = [strip_borders(row) for row in rows[max(0, numbers[-1] - MAX_BODY_ROWS) : numbers[-1]]]
    labels = list(LABEL_IN_ROW.finditer(rows[numbers[-1]], match.start(), match.end()))
    options = tuple(label.group() for label in labels)
    selected = _find_highlighted([label.start() for label in labels], read_backgrounds(numbers[-1]))
    return Dialog(find_question(body), join_rows(body)[:MAX_TEXT], options, selected, is_row=True)


def _find_highlighted(columns: Sequence[int], backgrounds: Sequence[str]) -> int:
    """Return the number of the only option whose background differs from that of all others, or -1."""
    if len(columns) < MIN_HIGHLIGHT_OPTIONS or columns[-1] >= len(backgrounds):
        return -1
    found = [backgrounds[column] for column in columns]
    single = [number for number, background in enumerate(found) if found.count(background) == 1]
    return single[0] if len(single) == 1 and len(set(found)) == 2 else -1
