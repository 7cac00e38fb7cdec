"""Simulated typing of an edit: key by key, sometimes two keys at once, sometimes with a mistake that is deleted.

The keys depend only on a seed, so all runs and both servers get the same keys.
"""

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.engine.real_edits import RealEdit

DOUBLE_KEY_SHARE = 0.15
"""Share of requests that contain two new characters, as after fast typing."""
TYPO_SHARE = 0.03
"""Share of keys with a mistake: the wrong character, its deletion, and the right character."""
NEIGHBOUR_KEYS = dict(zip("abcdefghijklmnopqrstuvwxyz", "snvfrdghujklknmkpqwtdyhcbtx", strict=False))
INDENT = re.compile(r"\n[ \t]*")


@dataclass(frozen=True, slots=True)
class KeyTrace:
    """The keys of an edit. `states` is the text in the hole after each key, deletions included."""

    edit: RealEdit
    states: tuple[str, ...]


def make_trace(edit: RealEdit, seed: int, max_keys: int) -> KeyTrace:
    """Return the first `max_keys` keys of an edit."""
    generator = random.Random(f"{seed}/{edit.path}/{edit.text}")
    states: list[str] = []
    position = 0
    while position < len(edit.text) and len(states) < max_keys:
        # the editor indents the new line
        line = INDENT.match(edit.text, position)
        step = len(line.group()) if line else 1 + (generator.random() < DOUBLE_KEY_SHARE)
        wrong = NEIGHBOUR_KEYS.get(edit.text[position])
        if wrong and generator.random() < TYPO_SHARE:
            states += [edit.text[:position] + wrong, edit.text[:position]]
        position = min(position + step, len(edit.text))
        states.append(edit.text[:position])
    return KeyTrace(edit, tuple(states[:max_keys]))


def make_traces(edits: Sequence[RealEdit], requests: int, *, max_keys: int, seed: int = 0) -> list[KeyTrace]:
    """Return the keys of as many edits as give `requests` keys, at most `max_keys` for each edit.

    The last edit is cut.
    """
    traces: list[KeyTrace] = []
    keys_left = requests
    for edit in edits:
        if keys_left <= 0:
            break
        trace = make_trace(edit, seed, min(max_keys, keys_left))
        traces.append(trace)
        keys_left -= len(trace.states)
    return traces


def list_languages(traces: Iterable[KeyTrace]) -> list[str]:
    """Return the sorted languages of some traces."""
    return sorted({trace.edit.language for trace in traces})
