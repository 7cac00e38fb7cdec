"""Rules about blanks: the first line starts where the cursor is, the others where the file's own style puts them."""

import re

from lsp_harness.completion.rules.ghost_text import Ghost
from lsp_harness.completion.rules.overlap_rules import held
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
CONTINUED = re.compile(r"\s*(?:[.?:+\-*/%=<>&|,]|and\b|or\b|where\b)|.*(?:[,(\[\\+\-*/%=<>&|.]|\band|\bor)\s*$")


def leading_blanks(ghost: Ghost) -> Ghost | None:
    """The cursor already stands after the indentation, or after a blank: do not write it twice."""
    prefix, text = ghost.line_prefix, ghost.text
    if not is_blank(prefix):
        return ghost.having(text.lstrip(" \t")) if prefix[-1] in " \t" else ghost
    skipped = BLANK_LINES.match(text)
    text = text[skipped.end() :] if skipped else text
    if not prefix:
        return ghost.having(text)
    first = indentation_of(text)
    rest = text[len(first) :]
    if skipped and rest and indentation_columns(first) < indentation_columns(prefix):
        # the line the model skipped to lies outside the block the cursor is in
        return None
    return ghost.having(_deeper(ghost, first) + rest)


def _deeper(ghost: Ghost, first: str) -> str:
    """What of the text's own indentation is due: the cursor may still be a level short of the body it is in."""
    above = ghost.previous
    body = indentation_of(above) + ghost.around.unit
    short = first and opens_block(above, ghost.syntax) and indentation_columns(ghost.indent) < indentation_columns(body)
    return body[len(ghost.indent) :] if short and body.startswith(ghost.indent) else ""


def tabs_or_spaces(ghost: Ghost) -> Ghost:
    """Write indentation with what the file is indented with."""
    if not ghost.around.styled or ghost.mode == "line":
        return ghost
    unit = ghost.around.unit
    lines = ghost.text.split("\n")
    columns = _columns(ghost, lines) if unit == "\t" else 0
    for index, line in enumerate(lines):
        if (index == 0 and ghost.line_prefix) or is_blank(line):
            continue
        own = indentation_of(line)
        if unit == "\t" and " " in own:
            count = len(own.expandtabs(columns))
            lines[index] = "\t" * (count // columns) + " " * (count % columns) + line[len(own) :]
        elif unit != "\t" and "\t" in own:
            lines[index] = own.replace("\t", unit) + line[len(own) :]
    return ghost.having("\n".join(lines))


def _columns(ghost: Ghost, lines: list[str]) -> int:
    """How many spaces the model takes a tab for, judged by the first line it indented."""
    for index, line in enumerate(lines):
        own = indentation_of(line)
        if (index == 0 and ghost.line_prefix) or is_blank(line) or not own or "\t" in own:
            continue
        above = ghost.line_prefix + lines[0] if index else ghost.previous
        levels = indentation_of(above).count("\t") + opens_block(above, ghost.syntax)
        if levels and len(own) % levels == 0 and len(own) // levels in (2, 4, 8):
            return len(own) // levels
        return 4 if len(own) % 4 == 0 else 2 if len(own) % 2 == 0 else TAB_COLUMNS
    return TAB_COLUMNS


def reindented(ghost: Ghost) -> Ghost:
    """Move all following lines by one constant where the first of them shows that the model lost count."""
    if ghost.mode != "block" or not ghost.line_prefix:
        return ghost
    lines = ghost.text.split("\n")
    if len(lines) < 2 or is_blank(lines[1]):
        return ghost
    shift = _shift(ghost, ghost.line_prefix + lines[0], lines[1])
    if not shift:
        return ghost
    unit = ghost.around.unit
    moved = [lines[0]]
    for line in lines[1:]:
        columns = max(0, line_depth(line) + shift)
        own = "\t" * (columns // TAB_COLUMNS) + " " * (columns % TAB_COLUMNS) if unit == "\t" else " " * columns
        moved.append(line if is_blank(line) else own + line.lstrip(" \t"))
    return ghost.having("\n".join(moved))


def _shift(ghost: Ghost, head: str, second: str) -> int:
    column, unit = line_depth(head), indentation_columns(ghost.around.unit)
    found = line_depth(second)
    if is_lone_closer(second):
        return column - found if opens_block(head, ghost.syntax) and found < column else 0
    if opens_block(head, ghost.syntax):
        wrong = found <= column or found >= column + 2 * unit
        return column + unit - found if wrong and not CONTINUES_STATEMENT.match(second) else 0
    # a line may only be deeper than the one above it if it continues it
    continues = CONTINUED.match(second) or CONTINUED.match(head)
    return column - found if found > column and not continues and not _unclosed(head) else 0


def _unclosed(line: str) -> bool:
    return sum(line.count(c) for c in "([{") > sum(line.count(c) for c in ")]}")


def dedented(ghost: Ghost) -> Ghost:
    """Stop where the text leaves the block; the closer that ends the block may come along if nothing else has it."""
    if ghost.mode != "block":
        return ghost
    lines = ghost.text.split("\n")
    head = ghost.line_prefix + lines[0]
    column = line_depth(head)
    # when the cursor's own line opens a block, that statement is all there is to show
    statement = not is_blank(ghost.line_prefix) and opens_block(head, ghost.syntax)
    for index, line in enumerate(lines[1:], 1):
        own = line_depth(line)
        if is_blank(line) or own > column or (own == column and not statement):
            continue
        if own == column and CONTINUES_STATEMENT.match(line) and not is_lone_closer(line):
            continue
        ends = is_lone_closer(line) and not held(ghost, line) and (own == column or _opened_above(ghost, own))
        return ghost.having("\n".join(lines[: index + ends]))
    return ghost


def _opened_above(ghost: Ghost, column: int) -> bool:
    """Whether the line above which a closer at this column would face is one that opens something."""
    for line in reversed(ghost.around.above):
        if not is_blank(line) and line_depth(line) <= column:
            return line_depth(line) == column and (opens_block(line, ghost.syntax) or line.rstrip()[-1] in "([{")
    return False


def blank_tail(ghost: Ghost) -> Ghost:
    """No blanks at the end of a line, no blank lines at the end; one blank stays before more of the same line."""
    lines = ghost.text.split("\n")
    if not ghost.syntax.is_prose:
        lines = [*(line.rstrip(" \t") for line in lines[:-1]), lines[-1]]
    text = "\n".join(lines)
    bare = text.rstrip()
    rest = ghost.line_suffix[:1]
    keeps = ghost.mode == "line" and bare != text and (rest.isalnum() or rest in {"_", '"', "'", "(", "[", "{", "="})
    return ghost.having(f"{bare} " if keeps and rest else bare)


def line_above_end(ghost: Ghost) -> Ghost:
    """The line the cursor stands on moves down, and takes the indentation before the cursor with it."""
    if ghost.mode != "line-above" or is_blank(ghost.text) or "\n" in ghost.text:
        return ghost
    return ghost.having(f"{ghost.text}\n{ghost.line_prefix}")


def newlines(ghost: Ghost) -> Ghost:
    """The document's own terminator."""
    return ghost.having(ghost.text.replace("\n", ghost.newline)) if ghost.newline != "\n" else ghost
