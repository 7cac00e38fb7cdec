"""Edits around blocks: missing words that end a block, misspelled keywords, and the indentation of Python lines."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from lsp_harness.syntax.lexemes import grammar_keywords
from lsp_harness.syntax.recovery.blocks import continues_block
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edits.token_layout import own_line_edit
from lsp_harness.syntax.recovery.token_edit import Trial, replacement
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.text.code_lines import byte_indentation_of
from lsp_harness.text.edit import Edit

MAX_INDENTATIONS = 8
"""Maximum number of indentations that are tried for one line."""


def indentations(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield other indentations of the line of the fault and of the code line before it.

    They are the indentations of the lines above, and one step more.
    """
    if broken_text.language.block != "indent":
        return
    fault = find_python_fault(broken_text.data)
    if fault is None:
        return
    document = broken_text.tree.document
    lines = [document.line(number) for number in range(document.line_of(fault.start) + 1)]
    for number in _code_lines(lines)[:2]:
        start = document.line_starts[number]
        line = lines[number]
        old = byte_indentation_of(line)
        lines_above = [lines[other] for other in _code_lines(lines[:number])]
        for lead, note in _open_indentations(lines_above):
            if lead != old:
                yield Trial(
                    Edit(start, start + len(old), lead),
                    "replace",
                    b"indentation",
                    broken_text.token_at(start),
                    -1,
                    note,
                )


def _open_indentations(lines_above: list[bytes]) -> list[tuple[bytes, str]]:
    """Return the indentations of the open blocks above a line, the innermost first, each with a note.

    After a header the first is one step deeper.
    """
    if not lines_above:
        return [(b"", "outermost")]
    notes: dict[bytes, str] = {}
    last = lines_above[0]
    lead = byte_indentation_of(last)
    if last.rstrip().endswith(b":"):
        notes[lead + (b"\t" if lead.startswith(b"\t") else b"    ")] = "body"
    else:
        notes[lead] = "as before"
    for line in lines_above:
        other = byte_indentation_of(line)
        if len(other) <= len(lead) and other not in notes:
            notes[other] = "outer"
            lead = other
        if not other:
            break
    return list(notes.items())[:MAX_INDENTATIONS]


def _code_lines(lines: list[bytes]) -> list[int]:
    """Return the numbers of the lines with code, the last first."""
    return [
        number
        for number in range(len(lines) - 1, -1, -1)
        if lines[number].strip() and not lines[number].lstrip().startswith(b"#")
    ]


MAX_RARE_WORDS = 60
"""Maximum number of words far from the fault that are compared with keywords."""


def block_ends(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield a word that ends a block, before each line whose indentation says that the block has ended."""
    words = broken_text.language.tokens.block_end_words
    if not words:
        return
    levels: list[tuple[int, int, bool]] = []
    """The lines whose blocks are open: the first token, the width of the indentation, and whether a deeper line
    followed."""
    for position, token in enumerate(broken_text.tokens):
        if not token.starts_line:
            continue
        width = broken_text.indentation_width(position)
        while levels and levels[-1][1] >= width:
            level, level_width, deeper = levels.pop()
            if continues_block(token, broken_text.language) and level_width == width:
                if token.text not in words:
                    # `else` continues the block
                    levels.append((level, level_width, deeper))
                break
            if deeper or broken_text.tokens[level].kind == "keyword":
                yield from _block_end(broken_text, position, level, words)
        else:
            if levels:
                levels[-1] = (*levels[-1][:2], True)
            levels.append((position, width, False))
            continue
        if not continues_block(token, broken_text.language):
            levels.append((position, width, False))
    for level, _, deeper in reversed(levels):
        if deeper or broken_text.tokens[level].kind == "keyword":
            yield from _block_end(broken_text, len(broken_text.tokens), level, words)


def misspelt_keywords(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield a keyword in the place of a word that differs from it by one slip."""
    language_keywords = grammar_keywords(broken_text.tree.language)
    for position in dict.fromkeys([*broken_text.nearby_tokens, *_find_rare_words(broken_text)]):
        token = broken_text.tokens[position]
        if token.kind != "word" or len(token.text) < 2:
            continue
        for word in language_keywords:
            if (
                word != token.text
                and abs(len(word) - len(token.text)) <= 1
                and len(word) > 1
                and is_one_slip(token.text, word)
            ):
                yield replacement(broken_text, position, word, "keyword")


def else_if_words(broken_text: BrokenText) -> Iterator[Trial]:
    """Yield the spelling of the language for `else if`, `elif` and `elsif`."""
    spelling = broken_text.language.recovery.else_if
    for position in broken_text.nearby_tokens if spelling else ():
        token, next_token = (
            broken_text.tokens[position],
            broken_text.tokens[position + 1] if position + 1 < len(broken_text.tokens) else None,
        )
        if (
            token.text == b"else"
            and next_token
            and next_token.text == b"if"
            and not next_token.starts_line
            and spelling != b"else if"
        ):
            yield Trial(
                Edit(token.start, next_token.end, spelling or b""), "replace", spelling or b"", position, -1, "keyword"
            )
        elif token.text in (b"elif", b"elsif", b"elseif") and token.text != spelling:
            yield replacement(broken_text, position, spelling or b"", "keyword")


def _find_rare_words(broken_text: BrokenText) -> list[int]:
    """Return the words that occur once in the text and stand before another word, such as `interfaec Shape`."""
    tokens = broken_text.tokens
    counts = Counter(token.text for token in tokens if token.kind == "word")
    return [
        position
        for position, (token, next_token) in enumerate(pairwise(tokens))
        if token.kind == "word"
        and counts[token.text] == 1
        and not next_token.starts_line
        and next_token.kind in ("word", "keyword")
    ][:MAX_RARE_WORDS]


def is_one_slip(written: bytes, meant: bytes) -> bool:
    """Return whether two words differ by one slip: a missing, added or replaced letter, or two exchanged letters."""
    if written == meant:
        return False
    head = next(
        (i for i, (a, b) in enumerate(zip(written, meant, strict=False)) if a != b), min(len(written), len(meant))
    )
    a, b = written[head:], meant[head:]
    return a[1:] == b or b[1:] == a or a[1:] == b[1:] or (len(a) > 1 and a[:2] == b[1::-1] and a[2:] == b[2:])


def _block_end(broken_text: BrokenText, position: int, level: int, words: frozenset[bytes]) -> Iterator[Trial]:
    for word in words - {b"until"}:
        yield Trial(
            own_line_edit(broken_text, position, broken_text.line_indentation(level), word),
            "insert",
            word,
            position,
            level,
            "block",
        )
