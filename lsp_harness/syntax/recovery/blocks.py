"""Blocks that words begin and end (`def` … `end`, `if` … `fi`), compared with the indentation."""

from collections.abc import Callable, Iterator, Sequence

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.lexemes import BLOCK_MIDDLE_WORDS, Lexeme


def continues_block(token: Lexeme, language: LanguageSpec) -> bool:
    """Return whether a token at the beginning of a line continues or ends a block of an earlier line."""
    return token.kind == "close" or token.text in BLOCK_MIDDLE_WORDS or token.text in language.tokens.block_end_words


def find_misaligned_lines(
    tokens: Sequence[Lexeme], indentation: Callable[[int], int], language: LanguageSpec
) -> Iterator[int]:
    """Yield the first tokens of lines that do not fit the blocks around them.

    Such a line stands where a block must end but does not end it, or it has a block below it but begins none, or it
    ends a block that no line above it can have begun.

    Args:
        tokens: The tokens of the text.
        indentation: Returns the width of the indentation of the line of a token.
        language: The language of the text.
    """
    beginnings, ends = language.tokens.block_begin_words, language.tokens.block_end_words
    if not beginnings:
        return
    levels: list[tuple[int, int, bool]] = []
    """The open lines: the first token, the width of the indentation, and whether the line begins a block."""
    firsts = [position for position, token in enumerate(tokens) if token.starts_line]
    for position, following in zip(firsts, [*firsts[1:], len(tokens)], strict=True):
        width, token = indentation(position), tokens[position]
        begins = any(other.text in beginnings for other in tokens[position:following]) and not any(
            other.text in ends for other in tokens[position + 1 : following]
        )
        while levels and levels[-1][1] > width:
            levels.pop()
        same = levels[-1] if levels and levels[-1][1] == width else None
        if token.text in ends:
            if same is None:
                yield position
            else:
                if not same[2]:
                    yield same[0]
                levels.pop()
            continue
        if continues_block(token, language):
            continue
        if same is not None:
            if same[2]:
                yield position
            levels.pop()
        levels.append((position, width, begins))
