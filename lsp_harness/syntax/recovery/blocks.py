"""Blocks that words begin and end, as far as the indentation shows them: `def` … `end`, `if` … `fi`."""

from collections.abc import Callable, Iterator, Sequence

from lsp_harness.syntax.lexemes import BLOCK_END_WORDS, BLOCK_MIDDLE_WORDS, Lexeme

BEGINNINGS: dict[str, frozenset[bytes]] = {
    "ruby": frozenset(b"def class module if unless while until for case begin do".split()),
    "lua": frozenset(b"function if for while do repeat".split()),
    "bash": frozenset(b"if for while until case select do then".split()),
}


def goes_on(token: Lexeme, language: str) -> bool:
    """Whether a token at the beginning of a line belongs to what a line before began."""
    return token.kind == "close" or token.text in BLOCK_MIDDLE_WORDS or token.text in BLOCK_END_WORDS.get(language, ())


def odd_lines(tokens: Sequence[Lexeme], indentation: Callable[[int], int], language: str) -> Iterator[int]:
    """The first tokens of lines that do not fit the blocks around them.

    A line that stands where a block should end and does not end it; a line before a block that begins none; an end without a
    line that could have begun its block.
    """
    beginnings, ends = BEGINNINGS.get(language), BLOCK_END_WORDS.get(language, frozenset[bytes]())
    if not beginnings:
        return
    levels: list[tuple[int, int, bool]] = []
    """The lines that are not ended: the first token, the indentation, and whether the line begins a block."""
    firsts = [at for at, token in enumerate(tokens) if token.starts_line]
    for at, following in zip(firsts, [*firsts[1:], len(tokens)], strict=True):
        width, token = indentation(at), tokens[at]
        begins = any(one.text in beginnings for one in tokens[at:following]) and not any(
            one.text in ends for one in tokens[at + 1 : following]
        )
        while levels and levels[-1][1] > width:
            levels.pop()
        same = levels[-1] if levels and levels[-1][1] == width else None
        if token.text in ends:
            if same is None:
                yield at
            else:
                if not same[2]:
                    yield same[0]
                levels.pop()
            continue
        if goes_on(token, language):
            continue
        if same is not None:
            if same[2]:
                yield at
            levels.pop()
        levels.append((at, width, begins))
