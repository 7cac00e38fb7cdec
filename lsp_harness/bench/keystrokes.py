"""How an edit is typed: key by key, sometimes two at a time, sometimes wrong and taken back.

The keys are drawn from a seed, so that every run and every side gets the same ones.
"""

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsp_harness.bench.real_edits import RealEdit

DOUBLE_KEY_SHARE = 0.15
"""Share of requests that see two new characters: fingers that roll, and an editor that is asked once for both."""
TYPO_SHARE = 0.03
"""Share of keys that miss: the wrong character, its deletion, and the right one."""
NEIGHBOUR_KEYS = dict(zip("abcdefghijklmnopqrstuvwxyz", "snvfrdghujklknmkpqwtdyhcbtx", strict=False))
INDENT = re.compile(r"\n[ \t]*")


@dataclass(frozen=True, slots=True)
class KeyTrace:
    """`typed` is what stands in the hole after each key, deletions included."""

    edit: RealEdit
    typed: tuple[str, ...]


def make_trace(edit: RealEdit, seed: int, most: int) -> KeyTrace:
    """The first `most` keys of an edit."""
    dice = random.Random(f"{seed}/{edit.path}/{edit.text}")
    states: list[str] = []
    at = 0
    while at < len(edit.text) and len(states) < most:
        # the editor indents the new line itself
        line = INDENT.match(edit.text, at)
        step = len(line.group()) if line else 1 + (dice.random() < DOUBLE_KEY_SHARE)
        wrong = NEIGHBOUR_KEYS.get(edit.text[at])
        if wrong and dice.random() < TYPO_SHARE:
            states += [edit.text[:at] + wrong, edit.text[:at]]
        at = min(at + step, len(edit.text))
        states.append(edit.text[:at])
    return KeyTrace(edit, tuple(states[:most]))


def make_traces(edits: Sequence[RealEdit], requests: int, *, each: int, seed: int = 0) -> list[KeyTrace]:
    """As many edits as give `requests` keys, none more than `each`; the last is cut."""
    found: list[KeyTrace] = []
    left = requests
    for edit in edits:
        if left <= 0:
            break
        trace = make_trace(edit, seed, min(each, left))
        found.append(trace)
        left -= len(trace.typed)
    return found


def languages(found: Iterable[KeyTrace]) -> list[str]:
    """Languages of some traces, sorted."""
    return sorted({trace.edit.language for trace in found})
