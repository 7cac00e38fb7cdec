"""Frequencies of rows of tokens in a text. Names and literals count by their kind."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import log

from lsp_harness.syntax.lexemes import Lexeme
from lsp_harness.syntax.recovery.token_edit import Trial, decode_token

SMOOTHING = 0.3
"""The count of a row that does not occur in the text."""
POSSIBLE_TOKENS = 20
"""The assumed number of different tokens after two others."""
NEW_LINE = "\n"


class TokenUsage:
    """The counts of all rows of three tokens of a text."""

    def __init__(self, tokens: Sequence[Lexeme]) -> None:
        self._tokens = tokens

    def rarity(self, row: Sequence[str]) -> tuple[float, float]:
        """Return how unlikely a row of tokens is after its first two, in nats, and how many of its triples are new.

        A triple is new if it does not occur in the text.
        """
        triples, pairs = self._counts
        total = unseen_rows = 0.0
        for first, second, third in zip(row, row[1:], row[2:], strict=False):
            count = triples[first, second, third]
            unseen_rows += not count
            total -= log((count + SMOOTHING) / (pairs[first, second] + SMOOTHING * POSSIBLE_TOKENS))
        return total, unseen_rows

    def tokens_around(self, trial: Trial) -> list[str]:
        """Return the signs around an edit in the edited text: two on each side, and the new one."""
        tokens, position = self._tokens, trial.position
        skip = 0 if trial.action == "insert" else 1
        left = token_signs(tokens[max(0, position - 2) : position])[-2:]
        right = token_signs(tokens[position + skip : position + skip + 2])
        if (
            skip
            and position + 1 < len(tokens)
            and not tokens[position + 1].starts_line
            and tokens[position].starts_line
        ):
            right = [NEW_LINE, *right]
        inserted = [] if trial.action == "delete" else [decode_token(trial.token)]
        if trial.edit.new.startswith(b"\n"):
            inserted = [NEW_LINE, *inserted]
        return [*left, *inserted, *right][: len(left) + len(inserted) + 2]

    def count_row(self, before: bytes, token: bytes, after: bytes) -> int:
        """Return how often exactly these three tokens stand in a row."""
        return self._rows[before, token, after]

    @cached_property
    def _counts(self) -> tuple[Counter[tuple[str, str, str]], Counter[tuple[str, str]]]:
        row = token_signs(self._tokens)
        return Counter(zip(row, row[1:], row[2:], strict=False)), Counter(pairwise(row))

    @cached_property
    def _rows(self) -> Counter[tuple[bytes, bytes, bytes]]:
        texts = [token.text for token in self._tokens]
        return Counter(zip(texts, texts[1:], texts[2:], strict=False))


def token_signs(tokens: Sequence[Lexeme]) -> list[str]:
    """Return the sign of each token: the text of signs and keywords, the kind of all others, and `\\n` where a line
    begins.
    """
    signs: list[str] = []
    for token in tokens:
        if token.starts_line:
            signs.append(NEW_LINE)
        signs.append(decode_token(token.text) if token.kind in ("keyword", "mark", "open", "close") else token.kind)
    return signs
