"""Rules about blanks: the first line starts at the cursor, and the other lines are indented like the file."""

import re

from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.overlap_rules import has_closer_below
from lsp_harness.text.code_lines import (
    CONTINUES_STATEMENT,
    TAB_COLUMNS,
    indentation_columns,
    indentation_of,
    is_blank,
    is_lone_closer,
    line_depth,
    opens_block,
)

BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")
CONTINUATION = re.compile(r"\s*(?:[.?:+\-*/%=<>&|,]|and\b|or\b|where\b)|.*(?:[,(\[\\+\-*/%=<>&|.]|\band|\bor)\s*$")


def trim_leading_blanks(ghost: Ghost) -> Ghost | None:
    """Remove blanks at the start that already stand before the cursor."""
    prefix, text = ghost.line_prefix, ghost.text
    if not is_blank(prefix):
        return ghost.with_text(text.lstrip(" \t")) if prefix[-1] in " \t" else ghost
    blank_lines = BLANK_LINES.match(text)
    text = text[blank_lines.end() :] if blank_lines else text
    if not prefix:
        return ghost.with_text(text)
    indentation = indentation_of(text)
    rest = text[len(indentation) :]
    if blank_lines and rest and indentation_columns(indentation) < indentation_columns(prefix):
        # The first line of text lies outside the block of the cursor.
        return None
    return ghost.with_text(_missing_indentation(ghost, indentation) + rest)


def _missing_indentation(ghost: Ghost, indentation: str) -> str:
    """Return the indentation to insert at a cursor that is a level short of the body of its block."""
    line_above = ghost.previous_line
    body_indentation = indentation_of(line_above) + ghost.cursor_lines.indent_unit
    is_short = (
        indentation
        and opens_block(line_above, ghost.syntax)
        and indentation_columns(ghost.indent) < indentation_columns(body_indentation)
    )
    return body_indentation[len(ghost.indent) :] if is_short and body_indentation.startswith(ghost.indent) else ""


def convert_indentation(ghost: Ghost) -> Ghost:
    """Return the text with its indentation in tabs or spaces, as the file indents."""
    if not ghost.cursor_lines.has_indentation or ghost.mode == "line":
        return ghost
    unit = ghost.cursor_lines.indent_unit
    lines = ghost.text.split("\n")
    tab_columns = _find_tab_columns(ghost, lines) if unit == "\t" else 0
    for index, line in enumerate(lines):
        if (index == 0 and ghost.line_prefix) or is_blank(line):
            continue
        indentation = indentation_of(line)
        if unit == "\t" and " " in indentation:
            tabs, spaces = divmod(len(indentation.expandtabs(tab_columns)), tab_columns)
            lines[index] = "\t" * tabs + " " * spaces + line[len(indentation) :]
        elif unit != "\t" and "\t" in indentation:
            lines[index] = indentation.replace("\t", unit) + line[len(indentation) :]
    return ghost.with_text("\n".join(lines))


def _find_tab_columns(ghost: Ghost, lines: list[str]) -> int:
    """Return the number of spaces that the model writes for a tab, measured at the first line that it indented."""
    for index, line in enumerate(lines):
        indentation = indentation_of(line)
        if (index == 0 and ghost.line_prefix) or is_blank(line) or not indentation or "\t" in indentation:
            continue
        line_above = ghost.line_prefix + lines[0] if index else ghost.previous_line
        levels = indentation_of(line_above).count("\t") + opens_block(line_above, ghost.syntax)
        if levels and len(indentation) % levels == 0 and len(indentation) // levels in (2, 4, 8):
            return len(indentation) // levels
        return 4 if len(indentation) % 4 == 0 else 2 if len(indentation) % 2 == 0 else TAB_COLUMNS
    return TAB_COLUMNS


def fix_indentation(ghost: Ghost) -> Ghost:
    """Shift all lines after the first by the number of columns by which the second line is wrong."""
    if ghost.mode != "block" or not ghost.line_prefix:
        return ghost
    lines = ghost.text.split("\n")
    if len(lines) < 2 or is_blank(lines[1]):
        return ghost
    shift = _find_shift(ghost, ghost.line_prefix + lines[0], lines[1])
    if not shift:
        return ghost
    unit = ghost.cursor_lines.indent_unit
    new_lines = [lines[0]]
    for line in lines[1:]:
        columns = max(0, line_depth(line) + shift)
        indentation = "\t" * (columns // TAB_COLUMNS) + " " * (columns % TAB_COLUMNS) if unit == "\t" else " " * columns
        new_lines.append(line if is_blank(line) else indentation + line.lstrip(" \t"))
    return ghost.with_text("\n".join(new_lines))


def _find_shift(ghost: Ghost, first_line: str, second_line: str) -> int:
    """Return the number of columns by which the second line must move. It is 0 if the line may stand where it is."""
    column, indent_columns = line_depth(first_line), indentation_columns(ghost.cursor_lines.indent_unit)
    second_column = line_depth(second_line)
    if is_lone_closer(second_line):
        return column - second_column if opens_block(first_line, ghost.syntax) and second_column < column else 0
    if opens_block(first_line, ghost.syntax):
        is_wrong = second_column <= column or second_column >= column + 2 * indent_columns
        return column + indent_columns - second_column if is_wrong and not CONTINUES_STATEMENT.match(second_line) else 0
    # Only a line that continues the one above may be deeper.
    is_continuation = CONTINUATION.match(second_line) or CONTINUATION.match(first_line) or _has_open_bracket(first_line)
    return 0 if is_continuation else min(0, column - second_column)


def _has_open_bracket(line: str) -> bool:
    return sum(line.count(bracket) for bracket in "([{") > sum(line.count(bracket) for bracket in ")]}")


def cut_after_block(ghost: Ghost) -> Ghost:
    """Cut the text where it leaves the block. A closer that ends the block stays if the document does not have it."""
    if ghost.mode != "block":
        return ghost
    lines = ghost.text.split("\n")
    first_line = ghost.line_prefix + lines[0]
    column = line_depth(first_line)
    # If the line of the cursor opens a block, only that statement is shown.
    opens_statement = not is_blank(ghost.line_prefix) and opens_block(first_line, ghost.syntax)
    for index, line in enumerate(lines[1:], 1):
        line_column = line_depth(line)
        if is_blank(line) or line_column > column or (line_column == column and not opens_statement):
            continue
        if line_column == column and CONTINUES_STATEMENT.match(line) and not is_lone_closer(line):
            continue
        includes_closer = (
            is_lone_closer(line)
            and not has_closer_below(ghost, line)
            and (line_column == column or _is_opened_above(ghost, line_column))
        )
        return ghost.with_text("\n".join(lines[: index + includes_closer]))
    return ghost


def _is_opened_above(ghost: Ghost, column: int) -> bool:
    """Return whether the line above to which a closer at this column would belong opens a block or a bracket."""
    for line in reversed(ghost.cursor_lines.lines_above):
        if not is_blank(line) and line_depth(line) <= column:
            return line_depth(line) == column and (opens_block(line, ghost.syntax) or line.rstrip()[-1] in "([{")
    return False


def trim_trailing_blanks(ghost: Ghost) -> Ghost:
    """Remove blanks at the ends of lines and blank lines at the end. One blank stays before the rest of the line."""
    lines = ghost.text.split("\n")
    if not ghost.syntax.is_prose:
        lines = [*(line.rstrip(" \t") for line in lines[:-1]), lines[-1]]
    text = "\n".join(lines)
    stripped = text.rstrip()
    next_character = ghost.line_suffix[:1]
    keeps_blank = (
        ghost.mode == "line"
        and stripped != text
        and (next_character.isalnum() or next_character in {"_", '"', "'", "(", "[", "{", "="})
    )
    return ghost.with_text(f"{stripped} " if keeps_blank and next_character else stripped)


def finish_line_above(ghost: Ghost) -> Ghost:
    """End the inserted line and indent the line of the cursor, which moves down."""
    if ghost.mode != "line-above" or is_blank(ghost.text) or "\n" in ghost.text:
        return ghost
    return ghost.with_text(f"{ghost.text}\n{ghost.line_prefix}")


def convert_newlines(ghost: Ghost) -> Ghost:
    """Use the line terminator of the document."""
    return ghost.with_text(ghost.text.replace("\n", ghost.newline)) if ghost.newline != "\n" else ghost
