"""What a prompt shares with a resident sequence at other positions: moved there, not evaluated again.

When the window around the cursor moves, nearly all of the near prefix stays, only further up or down in the prompt. Its
cells are copied and their positions shifted (llama-server's cache reuse). They were computed after other text, so this is
no longer the answer of a fresh evaluation: it is done for those who allow it, and from their own client's sequences only,
lest one client's text show in the answers to another. What it costs and what it is worth: docs/adr/0010.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lsp_harness.engine.decode.cached_sequence import common
from lsp_harness.engine.decode.host_cache import Lot, Parked
from lsp_harness.engine.decode.kv_cache import Kv, Slot
from lsp_harness.errors import HarnessError

STEP = 8
"""Tokens that are looked up at once: every run of twice as many has such a group at any multiple of it."""
TRIED, RUNS, MOST = 8, 64, 256
"""Places of the same few tokens that are looked at; runs that are put in order, the longest ones, of so many found: code
repeats itself."""

MISSED = 128
"""Tokens that may stand before a run and did not where it was evaluated: it knows nothing of them, however near they are. As many
as the suffix has, which is another after a jump; what other files say is more."""

Places = dict[tuple[int, ...], list[int]]


class Memory(Protocol):
    """What llama.cpp can do with a sequence."""

    def state(self, seq: int) -> Any: ...
    def put(self, seq: int, state: Any) -> bool: ...
    def move(self, seq: int, runs: Sequence[tuple[int, int, int]]) -> None: ...


@dataclass(frozen=True, slots=True)
class Piece:
    """`size` tokens from `source` on of a sequence are those from `target` on of a prompt."""

    source: int
    target: int
    size: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What of a prompt can be moved, and where from."""

    held: Slot | Parked
    pieces: list[Piece]

    @property
    def gain(self) -> int:
        """Tokens that need not be evaluated."""
        return sum(piece.size for piece in self.pieces)

    def gaps(self, start: int, end: int) -> Iterator[int]:
        """Tokens to evaluate of a prompt that ends at `end` and is resident up to `start`: before each piece, and after
        the last."""
        for piece in self.pieces:
            if piece.target > start:
                yield piece.target - start
            start = piece.target + piece.size
        yield end - start


@dataclass(frozen=True, slots=True)
class Copy:
    """What a plan needs of a sequence, which may be given up once this was made: its `size` in tokens, its cells."""

    plan: Plan
    size: int
    state: Any
    persist: bool


class Moved:
    """Pieces that wait, in a slot of their own and at their new positions, until what comes before them is evaluated."""

    def __init__(self, kv: Kv, aside: Slot, pieces: list[Piece], *, persist: bool) -> None:
        self._kv = kv
        self._aside: Slot | None = aside
        self._pieces = pieces
        self._at = 0
        self._persist = persist

    def settle(self, slot: Slot, prompt: Sequence[int]) -> int:
        """Let `slot` go on with what waits for just its place; the number of tokens."""
        before = len(slot.tokens)
        while self._aside and self._pieces and self._pieces[0].target <= (at := len(slot.tokens)):
            piece = self._pieces.pop(0)
            # others may have evaluated part of it meanwhile
            skip = min(at - piece.target, piece.size)
            if piece.size > skip:
                self._kv.adopt(slot, self._aside, self._at + skip, prompt[at : piece.target + piece.size])
                slot.persist = slot.persist and self._persist
            self._at += piece.size
        slot.coming = sum(piece.size for piece in self._pieces)
        if not self._pieces:
            self.close()
        return len(slot.tokens) - before

    def ahead(self, at: int) -> int | None:
        """Tokens to be evaluated from position `at` on before the next piece; None when nothing waits."""
        return self._pieces[0].target - at if self._pieces else None

    def close(self) -> None:
        """Give up what still waits."""
        self._pieces.clear()
        # the slot is anybody's from then on
        aside, self._aside = self._aside, None
        if aside:
            self._kv.release(aside)
            self._kv.forget(aside)


class Shift:
    """Finds what can be moved, in the cells and in the lot, and moves it: runs of `least` tokens unless a request says
    otherwise, none with 0."""

    LEAST = 16
    """No shorter runs, whoever asks: what is found would be chance, and each takes a step of its own."""

    def __init__(self, memory: Memory, kv: Kv, lot: Lot | None = None, *, least: int = 0) -> None:
        self._memory = memory
        self._kv = kv
        self._lot = lot
        self.least = least

    def plan(
        self, prompt: Sequence[int], client: str, least: int, start: int, extra: int = 0, branches: int = 1
    ) -> Plan | None:
        """The most that can be had of `prompt` from `start` on, in runs of `least` tokens or more, if there is room for
        that, too, where `extra` tokens are to be generated in each of `branches`."""
        least = max(self.LEAST, least)
        places = _places(prompt, start)
        plans = [
            Plan(held, found)
            for held in self._of(client)
            if (found := knowing(pieces(held.tokens, prompt, places, least, start), common(held.tokens, prompt)))
        ]
        best = max(plans, key=lambda plan: plan.gain, default=None)
        if best is None:
            return None
        room = len(best.held.tokens) + 1 + len(prompt) - best.gain + extra * branches
        return best if self._kv.fits(room, branches + 1) else None

    def copy(self, plan: Plan) -> Copy | None:
        """None where the machine has no memory for it."""
        held = plan.held
        try:
            state = self._memory.state(held.seq) if isinstance(held, Slot) else held.state
        except MemoryError:
            return None
        return Copy(plan, len(held.tokens), state, held.persist)

    def move(self, copy: Copy, slot: Slot, *, urgent: bool) -> Moved | None:
        """Put the pieces for `slot` aside, at their new positions; None where there is no room."""
        plan = copy.plan
        # they need no cells again
        slot.coming = plan.gain
        aside = self._kv.aside(copy.size + 1, plan.gain, urgent=urgent)
        if aside is None:
            slot.coming = 0
            return None
        moved = Moved(self._kv, aside, list(plan.pieces), persist=copy.persist)
        try:
            if self._memory.put(aside.seq, copy.state):
                self._memory.move(aside.seq, [(piece.source, piece.target, piece.size) for piece in plan.pieces])
                return moved
        except HarnessError as error:
            sys.stderr.write(f"a part of a prompt could not be reused and is evaluated again: {error}\n")
        slot.coming = 0
        moved.close()
        return None

    def _of(self, client: str) -> list[Slot | Parked]:
        return [
            held for held in (*self._kv.sequences, *(self._lot.sequences if self._lot else ())) if held.client == client
        ]


def _places(prompt: Sequence[int], start: int) -> Places:
    """Where each `STEP` tokens of `prompt` are from `start` on. Its last token is always evaluated: what it predicts is
    wanted."""
    places: Places = {}
    for at in range(start, len(prompt) - STEP):
        places.setdefault(tuple(prompt[at : at + STEP]), []).append(at)
    return places


def pieces(old: Sequence[int], prompt: Sequence[int], places: Places, least: int, start: int) -> list[Piece]:
    """Those runs of `least` (twice STEP) or more tokens that are in `old` and in `prompt` from `start` on, in the same
    order in both, which are the most tokens together."""
    runs: list[Piece] = []
    known: dict[int, int] = {}
    for at in range(0, len(old) - STEP + 1, STEP):
        for place in places.get(tuple(old[at : at + STEP]), ())[:TRIED]:
            # by how far it moved: the end of the last run
            if known.get(place - at, 0) <= at and len(runs) < MOST:
                run = _run(old, prompt, at, place, start)
                known[place - at] = run.source + run.size
                runs.append(run)
    longest = sorted((run for run in runs if run.size >= least), key=lambda run: -run.size)[:RUNS]
    chains: list[tuple[int, list[Piece]]] = [(0, [])]
    for run in sorted(longest, key=lambda run: run.source):
        longer = [(gain + rest.size, [*chain, rest]) for gain, chain in chains if (rest := _after(run, chain, least))]
        chains.append(max(longer, key=_gain))
    return max(chains, key=_gain)[1]


def knowing(found: list[Piece], shared: int) -> list[Piece]:
    """Those in order that were evaluated after nearly all that stands before them now, `shared` tokens being the same from the
    beginning: what is moved past more would say what it said without that."""
    known = shared
    for n, piece in enumerate(found):
        if piece.target - known > MISSED:
            return found[:n]
        # what is shared may reach into the first of them
        known += max(0, piece.target + piece.size - max(piece.target, shared))
    return found


def _gain(chain: tuple[int, list[Piece]]) -> int:
    return chain[0]


def _after(run: Piece, chain: list[Piece], least: int) -> Piece | None:
    """What of `run` comes after `chain` in both, if it is `least` tokens."""
    last = chain[-1] if chain else Piece(0, 0, 0)
    cut = max(0, last.source + last.size - run.source, last.target + last.size - run.target)
    return Piece(run.source + cut, run.target + cut, run.size - cut) if run.size - cut >= least else None


def _run(old: Sequence[int], prompt: Sequence[int], at: int, place: int, start: int) -> Piece:
    """All that the two have in common around `at` and `place`."""
    back = 0
    while at > back and place - back > start and old[at - back - 1] == prompt[place - back - 1]:
        back += 1
    at, place = at - back, place - back
    return Piece(at, place, common(old[at:], prompt[place:-1]))
