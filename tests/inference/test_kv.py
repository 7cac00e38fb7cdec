"""Book-keeping of resident sequences, against a memory that checks every cut and copy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lsp_harness.errors import EngineBusy, EngineRefused
from lsp_harness.inference.kv import Kv, Slot, common


class FakeMemory:
    """Sequences as lists; cutting or copying what is not there fails."""

    def __init__(self, slots: int) -> None:
        self.held: list[list[int]] = [[] for _ in range(slots)]

    def cut(self, seq: int, length: int) -> bool:
        assert 0 <= length <= len(self.held[seq])
        del self.held[seq][length:]
        return True

    def copy(self, source: int, target: int, length: int) -> None:
        assert source != target
        assert not self.held[target], "cells of another sequence would get mixed in"
        assert 0 < length <= len(self.held[source])
        self.held[target] = self.held[source][:length]


class Desk:
    """A Kv and its memory, and requests that do what `generate` does."""

    def __init__(self, cells: int, slots: int) -> None:
        self.memory = FakeMemory(slots)
        self.kv = Kv(self.memory, cells=cells, slots=slots)

    def add(self, slot: Slot, tokens: list[int]) -> None:
        slot.tokens += tokens
        self.memory.held[slot.seq] += tokens

    def whole(self, prompt: list[int], extra: int = 0) -> int:
        """Run a request; how many of its tokens were resident."""
        slot = self.kv.take(prompt, extra)
        reused = len(slot.tokens)
        self.add(slot, prompt[reused:])
        self.add(slot, [-1] * extra)
        self.kv.release(slot)
        return reused


CELLS, SLOTS = 40, 3
PROMPTS = st.lists(st.integers(0, 2), min_size=1, max_size=16)


class Requests(RuleBasedStateMachine):
    """Random requests, several at a time, each evaluated bit by bit."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk(CELLS, SLOTS)
        self.kv = self.desk.kv
        setattr(self.kv, "LOSS", 4)  # noqa: B010 - a small world
        self.busy: dict[int, tuple[Slot, list[int], int]] = {}

    @rule(prompt=PROMPTS, extra=st.integers(0, 30))
    def take(self, prompt: list[int], extra: int) -> None:
        need = len(prompt) + extra
        promised = sum(end for _, _, end in self.busy.values())
        before = {seq: list(slot.tokens) for seq, (slot, _, _) in self.busy.items()}
        try:
            slot = self.kv.take(prompt, extra)
        except EngineRefused:
            assert need > CELLS
            return
        except EngineBusy:
            assert len(self.busy) == SLOTS or need + promised > CELLS
            return
        finally:
            assert before == {seq: slot.tokens for seq, (slot, _, _) in self.busy.items()}
        assert slot.busy
        assert slot.seq not in self.busy
        assert slot.tokens == prompt[: len(slot.tokens)]
        assert len(slot.tokens) < len(prompt)
        self.busy[slot.seq] = (slot, prompt, need)

    @precondition(lambda self: self.busy)
    @rule(data=st.data(), count=st.integers(1, 8), token=st.integers(0, 2))
    def evaluate(self, data: st.DataObject, count: int, token: int) -> None:
        slot, prompt, end = self.busy[data.draw(st.sampled_from(sorted(self.busy)))]
        coming = (prompt + [token] * end)[len(slot.tokens) : end]
        self.desk.add(slot, coming[:count])

    @precondition(lambda self: self.busy)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        slot, _, _ = self.busy.pop(data.draw(st.sampled_from(sorted(self.busy))))
        self.kv.release(slot)

    @invariant()
    def the_book_says_what_memory_holds(self) -> None:
        assert [slot.tokens for slot in self.kv.slots] == self.desk.memory.held
        assert {slot.seq for slot in self.kv.slots if slot.busy} == set(self.busy)

    @invariant()
    def cells_suffice(self) -> None:
        assert sum(len(held) for held in self.desk.memory.held) <= CELLS

    @invariant()
    def what_was_promised_is_there(self) -> None:
        idle = sum(len(slot.tokens) for slot in self.kv.slots if not slot.busy)
        assert idle + sum(end for _, _, end in self.busy.values()) <= CELLS


TestRequests = Requests.TestCase
TestRequests.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


@given(a=st.lists(st.integers(0, 1)), b=st.lists(st.integers(0, 1)), shared=st.lists(st.integers(0, 9)))
def test_the_common_prefix_is_found(a: list[int], b: list[int], shared: list[int]):
    one, other = shared + a, shared + b
    expected = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))

    assert common(one, other) == expected


@pytest.mark.parametrize(("shared", "own"), [(0, 20), (0, 400), (50, 400)])
def test_two_prompts_in_turn_both_stay_resident(shared: int, own: int):
    desk = Desk(cells=4000, slots=8)
    prompts = [[1] * shared + [kind] * own for kind in (2, 3)]

    reused = [desk.whole(prompt, extra=10) for _ in range(3) for prompt in prompts]

    assert reused == [0, shared, *([shared + own - 1] * 4)]


def test_two_small_cursor_sites_that_share_only_the_fim_tokens_both_stay_resident():
    desk = Desk(cells=4000, slots=8)
    sites = [[90, 91] + [kind] * 120 for kind in (2, 3)]

    reused = [desk.whole(site, extra=10) for _ in range(3) for site in sites]

    assert reused == [0, 2, *([121] * 4)]


def test_what_was_generated_and_not_accepted_is_cut_off_in_place():
    desk = Desk(cells=4000, slots=8)
    desk.whole([1] * 100, extra=64)

    assert desk.whole([1] * 100 + [2], extra=64) == 100
    assert [len(slot.tokens) for slot in desk.kv.slots] == [165, *([0] * 7)]


def test_a_jump_back_keeps_the_long_sequence_and_shares_its_beginning():
    desk = Desk(cells=4000, slots=8)
    long = list(range(1000))
    desk.whole(long)

    assert desk.whole([*long[:300], -5]) == 300
    assert desk.whole(long) == 999


def test_the_least_recently_used_makes_room():
    desk = Desk(cells=100, slots=8)
    for kind in (1, 2, 3):
        desk.whole([kind] * 30)
    assert desk.whole([1] * 30) == 29

    desk.whole([4] * 30)

    assert [slot.tokens[:1] for slot in desk.kv.slots] == [[1], [], [3], [4], [], [], [], []]


def test_every_slot_busy_is_said():
    desk = Desk(cells=100, slots=2)
    desk.kv.take([1], 0)
    desk.kv.take([2], 0)

    with pytest.raises(EngineBusy, match="slot"):
        desk.kv.take([3], 0)


def test_room_promised_to_a_request_in_progress_is_not_given_away():
    desk = Desk(cells=100, slots=2)
    slow = desk.kv.take([1] * 60, 0)

    with pytest.raises(EngineBusy, match="in progress"):
        desk.kv.take([2] * 50, 0)
    desk.kv.release(slow)
    assert desk.kv.take([2] * 50, 0).tokens == []


def test_a_memory_that_cannot_be_cut_starts_again():
    class Recurrent(FakeMemory):
        def cut(self, seq: int, length: int) -> bool:
            return length in (0, len(self.held[seq])) and super().cut(seq, length)

    desk = Desk(cells=100, slots=1)
    desk.memory = Recurrent(1)
    desk.kv = Kv(desk.memory, cells=100, slots=1)
    desk.whole([1, 2, 3])

    assert desk.whole([1, 2, 4]) == 0
    assert desk.whole([1, 2, 4, 5]) == 3
