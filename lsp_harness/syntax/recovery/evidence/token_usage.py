"""How usual a row of tokens is in a text: what stands between what, names and literals aside."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import log

from lsp_harness.syntax.lexemes import Lexeme
from lsp_harness.syntax.recovery.token_edit import Trial, shown

SMOOTHING = 0.3
"""How often a row is taken to be seen that is nowhere in the text."""
KINDS = 20
"""How many tokens are taken to be possible after two others."""
NEW_LINE = "\n"


class Usage:
    """The rows of three tokens of a text, counted."""

    def __init__(self, tokens: Sequence[Lexeme]) -> None:
        self._tokens = tokens

    def rarity(self, signs: Sequence[str]) -> tuple[float, float]:
        """How unlikely a row is after its first two tokens (in nats), and how many of its threes the text does not have."""
        triples, pairs = self._counts
        total = unseen = 0.0
        for first, second, third in zip(signs, signs[1:], signs[2:], strict=False):
            count = triples[first, second, third]
            unseen += not count
            total -= log((count + SMOOTHING) / (pairs[first, second] + SMOOTHING * KINDS))
        return total, unseen

    def around(self, trial: Trial) -> list[str]:
        """The tokens around an edit as they are after it: two on each side, and the new one."""
        tokens, at = self._tokens, trial.at
        skip = 0 if trial.action == "insert" else 1
        left = signs(tokens[max(0, at - 2) : at])[-2:]
        right = signs(tokens[at + skip : at + skip + 2])
        if skip and at + 1 < len(tokens) and not tokens[at + 1].starts_line and tokens[at].starts_line:
            right = [NEW_LINE, *right]
        new = [] if trial.action == "delete" else [shown(trial.token)]
        if trial.edit.new.startswith(b"\n"):
            new = [NEW_LINE, *new]
        return [*left, *new, *right][: len(left) + len(new) + 2]

    def times(self, before: bytes, token: bytes, after: bytes) -> int:
        """How often three tokens stand in a row, by their letters."""
        return self._written[before, token, after]

    @cached_property
    def _counts(self) -> tuple[Counter[tuple[str, str, str]], Counter[tuple[str, str]]]:
        row = signs(self._tokens)
        return Counter(zip(row, row[1:], row[2:], strict=False)), Counter(pairwise(row))

    @cached_property
    def _written(self) -> Counter[tuple[bytes, bytes, bytes]]:
        texts = [token.text for token in self._tokens]
        return Counter(zip(texts, texts[1:], texts[2:], strict=False))


def signs(tokens: Sequence[Lexeme]) -> list[str]:
    """Tokens as what they do: signs and keywords by their letters, all else by its kind, and where lines begin."""
    found: list[str] = []
    for token in tokens:
        if token.starts_line:
            found.append(NEW_LINE)
        found.append(shown(token.text) if token.kind in ("keyword", "mark", "open", "close") else token.kind)
    return found
