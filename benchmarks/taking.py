"""A user who knows what they want to write, the recorded text: what they take of a suggestion, and the keys they
press."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from benchmarks.engine.simulated_editor import count_common_prefix_bytes
from lsp_harness.text.position import decode, encode

Deed = Literal["whole", "line", "word", "type"]
Fit = Literal["whole", "line", "word", "none"]
"""The part of a suggestion that matches the text that will be written."""
WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")
WHOLE_SHARE = 0.75
"""Of the suggestions that are what will be written, those that are taken; the others are typed through."""
PART_SHARE = 0.5
"""The same where only the first line, or only the first word, is."""
LINE = re.compile(r"\n?[^\n]+(?=\n)")
"""Of several, as the plugin takes it."""
BACK = "\b"
NAMED: dict[str, str] = {BACK: "<BS>", "\n": "<CR>", "\t": "<C-v><Tab>", "<": "<lt>"}


class Taker:
    """A user who decides once about each suggestion; equal seeds give equal decisions."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._about = ""
        self._deed: Deed = "type"
        self.fits: Counter[Fit] = Counter()
        """Of all suggestions that were decided about."""

    def decide(self, written: str, ghost: str, text: str) -> Deed:
        """Decide about the suggestion `ghost` behind the text `written`, with `text` as the final text."""
        if not ghost or not text.startswith(written):
            return "type"
        if self._about != written + ghost:
            self._about, self._deed = written + ghost, self._choose(ghost, text[len(written) :])
        elif self._deed in ("line", "word"):
            # it was taken; the rest is not what will be written
            self._deed = "type"
        return self._deed

    def _choose(self, ghost: str, ahead: str) -> Deed:
        found = fit(ghost, ahead)
        self.fits[found] += 1
        takes = self._dice.random() < (WHOLE_SHARE if found == "whole" else PART_SHARE)
        return found if takes and found != "none" else "type"


def fit(ghost: str, ahead: str) -> Fit:
    """Return how much of a suggestion agrees with the text `ahead`."""
    if ahead.startswith(ghost):
        return "whole"
    if (line := LINE.match(ghost)) and ahead.startswith(line.group()):
        return "line"
    word = WORD.match(ghost)
    return "word" if word and ahead.startswith(word.group()) else "none"


def list_remaining_states(states: Sequence[str], written: str) -> list[str]:
    """Return the states of a trace that come after the text `written`."""
    ahead = next((n for n, state in enumerate(states) if len(state) > len(written)), len(states))
    return list(states[ahead:])


def split_keys(written: str, state: str) -> list[str]:
    """Return the keys that turn one state into the other: characters, `BACK`, and line breaks with indentation."""
    old, new = encode(written), encode(state)
    same = count_common_prefix_bytes(old, new)
    typed = re.finditer(r"\n[ \t]*|.", decode(new[same:]), re.DOTALL)
    return [BACK] * len(decode(old[same:])) + [piece.group() for piece in typed]


def list_key_names(written: str, state: str) -> list[str]:
    """Return the keys by Neovim's names."""
    return ["".join(NAMED.get(character, character) for character in part) for part in split_keys(written, state)]
