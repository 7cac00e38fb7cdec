"""Tests of the bookkeeping of the KV cache, with a memory that checks every truncation and copy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from lsp_harness.engine.cache.cached_sequence import (
    CLIENT_IDLE_S,
    MAX_LOGITS_ROWS,
    CachedSequence,
    common_prefix_length,
    drop_old_logits,
)
from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
from lsp_harness.engine.cache.slot_table import Slot
from lsp_harness.errors import EngineBusy, EngineRefused


def test_logits_are_kept_for_the_last_used_sequences():
    sequences = [
        CachedSequence(logits_rows=dict.fromkeys(range(100, 110)), last_used_s=float(number)) for number in range(4)
    ]
    sequences.append(CachedSequence(logits_rows=dict.fromkeys(range(MAX_LOGITS_ROWS)), last_used_s=-1.0))
    drop_old_logits(sequences)

    assert [len(sequence.logits_rows) for sequence in sequences] == [MAX_LOGITS_ROWS - 30, 10, 10, 10, 0]
    # The shortest prefix keeps its logits: it is the prompt, and the others are steps of its healing.
    assert list(sequences[0].logits_rows) == [100, 101]


class FakeMemory:
    """A memory of lists. Truncating or copying tokens that do not exist fails."""

    def __init__(self, slots: int) -> None:
        self.sequences: list[list[int]] = [[] for _ in range(slots)]

    def truncate(self, seq: int, length: int) -> bool:
        assert 0 <= length <= len(self.sequences[seq])
        del self.sequences[seq][length:]
        return True

    def copy(self, source: int, target: int, length: int, start: int = 0) -> None:
        assert source != target
        assert start == len(self.sequences[target]), "cells of another sequence would get mixed in"
        assert start < length <= len(self.sequences[source])
        self.sequences[target] += self.sequences[source][start:length]


class Desk:
    """A KV cache and its memory, and requests that use it like `Generation`. Each request takes a second."""

    def __init__(self, cells: int, slots: int, memory: FakeMemory | None = None, *, cuts: bool = True) -> None:
        self.memory = memory or FakeMemory(slots)
        self.time = 0.0
        self.kv = KvCache(self.memory, CacheLimits(cells=cells, slots=slots), now=self.now, can_truncate=cuts)

    def now(self) -> float:
        self.time += 0.5
        return self.time

    def add(self, slot: Slot, tokens: list[int]) -> None:
        self.kv.append(slot, tokens)
        self.memory.sequences[slot.seq] += tokens

    def whole(self, prompt: list[int], extra: int = 0, client: str = "") -> int:
        """Run a request and return how many of its tokens were cached."""
        slot = self.kv.acquire(prompt, extra, client=client)
        reused = len(slot.tokens)
        self.add(slot, prompt[reused:])
        self.add(slot, [-1] * extra)
        self.kv.release(slot)
        return reused


CELLS, SLOTS = 40, 4
PROMPTS = st.lists(st.integers(0, 2), min_size=1, max_size=16)


class RandomRequests(RuleBasedStateMachine):
    """Random requests, several at a time. They are evaluated in parts, and some have several candidates."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk(CELLS, SLOTS)
        self.kv = self.desk.kv
        setattr(self.kv, "MAX_DISCARDED_TOKENS", 4)  # noqa: B010 - a small world
        self.is_busy: dict[int, tuple[Slot, list[int], int]] = {}

    @rule(prompt=PROMPTS, extra=st.integers(0, 12), branches=st.integers(1, 3), client=st.sampled_from("ab"))
    def take(self, prompt: list[int], extra: int, branches: int, client: str) -> None:
        before = {seq: list(slot.tokens) for seq, (slot, _, _) in self.is_busy.items()}
        try:
            slot = self.kv.acquire(prompt, extra, branches=branches, client=client)
        except EngineRefused:
            assert len(prompt) + extra * branches > CELLS
            return
        except EngineBusy:
            assert self.is_busy
            return
        finally:
            assert before == {seq: slot.tokens for seq, (slot, _, _) in self.is_busy.items()}
        assert slot.is_busy
        assert slot.seq not in self.is_busy
        assert slot.tokens == prompt[: len(slot.tokens)]
        assert len(slot.tokens) < len(prompt) or slot.logits_rows[len(prompt)] == prompt
        self.is_busy[slot.seq] = (slot, prompt, len(prompt) + extra)

    @precondition(lambda self: self.is_busy)
    @rule(data=st.data(), count=st.integers(1, 8), token=st.integers(0, 2))
    def evaluate(self, data: st.DataObject, count: int, token: int) -> None:
        slot, prompt, end = self.is_busy[data.draw(st.sampled_from(sorted(self.is_busy)))]
        if len(slot.tokens) < len(prompt):
            self.desk.add(slot, prompt[len(slot.tokens) :][:count])
            if len(slot.tokens) == len(prompt):
                self.kv.keep_logits(slot, prompt)
        else:
            while slot.pending_forks:
                other = self.kv.fork(slot)
                self.is_busy[other.seq] = (other, prompt, end)
            self.desk.add(slot, [token] * min(count, end - len(slot.tokens)))

    @precondition(lambda self: self.is_busy)
    @rule(data=st.data(), count=st.integers(0, 3))
    def take_back(self, data: st.DataObject, count: int) -> None:
        slot, prompt, _ = self.is_busy[data.draw(st.sampled_from(sorted(self.is_busy)))]
        if len(slot.tokens) - count >= len(prompt):
            self.kv.truncate(slot, len(slot.tokens) - count)

    @precondition(lambda self: self.is_busy)
    @rule(data=st.data())
    def catch_up(self, data: st.DataObject) -> None:
        slot, prompt, _ = self.is_busy[data.draw(st.sampled_from(sorted(self.is_busy)))]
        before = len(slot.tokens)
        if before < len(prompt):
            self.kv.catch_up(slot, prompt)
            assert before <= len(slot.tokens) < len(prompt)
            assert slot.tokens == prompt[: len(slot.tokens)]

    @precondition(lambda self: self.is_busy)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        slot, _, _ = self.is_busy.pop(data.draw(st.sampled_from(sorted(self.is_busy))))
        self.kv.release(slot)

    @invariant()
    def the_book_says_what_memory_holds(self) -> None:
        assert [slot.tokens for slot in self.kv.slots] == self.desk.memory.sequences
        assert {slot.seq for slot in self.kv.slots if slot.is_busy} == set(self.is_busy)
        assert all(len(slot.cells) == len(slot.tokens) for slot in self.kv.slots)

    @invariant()
    def a_cell_is_counted_once(self) -> None:
        cells = {cell for slot in self.kv.slots for cell in slot.cells}
        assert self.kv.used_cells == len(cells) <= CELLS

    @invariant()
    def slots_with_a_cell_in_common_agree_up_to_it(self) -> None:
        at = {(cell, n): slot.tokens[: n + 1] for slot in self.kv.slots for n, cell in enumerate(slot.cells)}
        for slot in self.kv.slots:
            for n, cell in enumerate(slot.cells):
                assert at[cell, n] == slot.tokens[: n + 1]

    @invariant()
    def what_was_promised_is_there(self) -> None:
        pinned = {cell for slot in self.kv.slots if slot.is_busy for cell in slot.cells}
        assert len(pinned) + sum(slot.reserved_cells for slot in self.kv.slots) <= CELLS
        assert sum(slot.pending_forks for slot in self.kv.slots) <= SLOTS - len(self.is_busy)


TestRequests = RandomRequests.TestCase
TestRequests.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


@given(a=st.lists(st.integers(0, 1)), b=st.lists(st.integers(0, 1)), shared=st.lists(st.integers(0, 9)))
def test_the_common_prefix_is_found(a: list[int], b: list[int], shared: list[int]):
    result, other = shared + a, shared + b
    expected = next(
        (i for i, (x, y) in enumerate(zip(result, other, strict=False)) if x != y), min(len(result), len(other))
    )

    assert common_prefix_length(result, other) == expected


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


def test_tokens_that_were_generated_and_not_accepted_are_cut_off_in_place():
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


def test_a_request_without_a_free_slot_is_refused():
    desk = Desk(cells=100, slots=2)
    desk.kv.acquire([1], 0)
    desk.kv.acquire([2], 0)

    with pytest.raises(EngineBusy, match="too many requests are in progress"):
        desk.kv.acquire([3], 0)


def test_cells_that_are_reserved_for_a_running_request_are_not_used():
    desk = Desk(cells=100, slots=2)
    slow = desk.kv.acquire([1] * 60, 0)

    with pytest.raises(EngineBusy, match="in progress"):
        desk.kv.acquire([2] * 50, 0)
    desk.kv.release(slow)
    assert desk.kv.acquire([2] * 50, 0).tokens == []


def test_a_memory_that_cannot_be_cut_starts_again():
    class Recurrent(FakeMemory):
        def truncate(self, seq: int, length: int) -> bool:
            return length in (0, len(self.sequences[seq])) and super().truncate(seq, length)

    desk = Desk(100, 1, Recurrent(1), cuts=False)
    desk.whole([1, 2, 3])

    assert desk.whole([1, 2, 4]) == 0
    assert desk.whole([1, 2, 4, 5]) == 3


def test_a_reader_of_a_memory_that_cannot_be_cut_is_never_set_back():
    class Recurrent(FakeMemory):
        def truncate(self, seq: int, length: int) -> bool:
            return length in (0, len(self.sequences[seq])) and super().truncate(seq, length)

    desk = Desk(100, 3, Recurrent(3), cuts=False)
    desk.whole([1] * 20 + [2])
    slot = desk.kv.acquire([1] * 30, 0)
    desk.add(slot, [1] * 10)

    desk.kv.catch_up(slot, [1] * 30)

    assert slot.tokens == [1] * 10


def test_no_sequence_is_evicted_for_a_request_that_cannot_fit():
    desk = Desk(cells=50, slots=3)
    desk.whole([1] * 20)
    desk.kv.acquire([2] * 20, 5)

    assert desk.kv.find_empty_slot("a", 40) is None
    assert desk.kv.cached_length([1] * 20) == 20


def test_a_staging_sequence_uses_no_reserved_slot_and_no_spare_cells():
    memory = FakeMemory(4)
    kv = KvCache(memory, CacheLimits(cells=60, slots=4, spare_cells=20, spare_slots=1))
    kv.acquire([1] * 10, 5, branches=2)

    assert kv.acquire_staging(21, 4) is None, "the other candidate's cells"
    staging = kv.acquire_staging(20, 4)
    assert staging
    assert (staging.is_busy, staging.is_staging, kv.used_cells) == (True, True, 4)
    # one slot is for the other candidate, and one is spare
    assert kv.acquire_staging(1, 1) is None
    assert kv.acquire_staging(20, 1, urgent=True)
    assert kv.acquire_staging(1, 1, urgent=True) is None


def test_a_staging_sequence_serves_no_prompt_and_can_be_dropped():
    memory = FakeMemory(3)
    kv = KvCache(memory, CacheLimits(cells=60, slots=3))
    slot, staging = kv.acquire([5] * 30, 0), kv.acquire_staging(20, 8)
    assert staging

    assert kv.cached_length([5] * 9) == 0
    kv.release(staging)
    kv.clear(staging)
    assert (kv.used_cells, staging.is_staging, slot.is_busy) == (0, False, True)


def test_a_memory_that_cannot_be_cut_shares_only_whole_sequences():
    class Recurrent(FakeMemory):
        def truncate(self, seq: int, length: int) -> bool:
            return length in (0, len(self.sequences[seq])) and super().truncate(seq, length)

        def copy(self, source: int, target: int, length: int, start: int = 0) -> None:
            assert length == len(self.sequences[source])
            super().copy(source, target, length, start)

    desk = Desk(100, 3, Recurrent(3), cuts=False)
    desk.whole([1, 2, 3, 4])
    busy = desk.kv.acquire([1, 2, 3, 4, 5], 0)

    assert busy.tokens == [1, 2, 3, 4]
    assert desk.kv.acquire([1, 2, 3, 4, 6], 0).tokens == [1, 2, 3, 4]
    assert desk.kv.acquire([1, 2, 7], 0).tokens == []


def test_shared_cells_outlive_the_sequence_that_evaluated_them():
    desk = Desk(cells=100, slots=4)
    desk.whole([1] * 30 + [2] * 35)
    desk.whole([1] * 30 + [3] * 20)
    assert desk.kv.used_cells == 85

    # 5 more than fit: the first goes, and what it shared stays
    desk.whole([4] * 20)
    assert desk.kv.used_cells == 70
    assert desk.kv.cached_length([1] * 30 + [3] * 20) == 50


def test_sequences_of_an_idle_client_are_evicted_first():
    desk = Desk(cells=100, slots=8)
    desk.whole([1] * 30, client="idle")
    desk.time += CLIENT_IDLE_S
    desk.whole([2] * 30, client="busy")
    desk.whole([3] * 30, client="busy")

    desk.whole([4] * 30, client="busy")

    assert [desk.kv.cached_length([kind] * 30) for kind in (1, 2, 3, 4)] == [0, 30, 30, 30]


def test_clients_at_work_keep_their_newest_sequences_while_those_fit():
    desk = Desk(cells=100, slots=8)
    desk.whole([1] * 30, client="quiet")
    for kind in (2, 3, 4, 5):
        desk.whole([kind] * 30, client="loud")

    assert [desk.kv.cached_length([kind] * 30) for kind in (1, 4, 5)] == [30, 30, 30]


def test_a_listener_is_called_before_a_sequence_is_evicted():
    desk = Desk(cells=50, slots=4)
    items: list[list[int]] = []
    desk.kv.on_evict = lambda slot: items.append(list(slot.tokens))
    desk.whole([1] * 30)
    desk.whole([2] * 30)

    assert items == [[1] * 30]
    assert desk.kv.eviction_count == 1


def test_room_is_made_for_a_sequence_from_elsewhere():
    desk = Desk(cells=50, slots=2)
    desk.whole([1] * 30)

    slot = desk.kv.find_empty_slot("a", 40)

    assert slot is not None
    assert (slot.tokens, slot.is_busy, slot.client) == ([], False, "a")
    assert desk.kv.used_cells == 0
    busy = desk.kv.acquire([2] * 30, 0)
    assert desk.kv.find_empty_slot("a", 30) is None
    desk.kv.release(busy)


def test_the_last_cells_and_slots_are_reserved_for_urgent_requests():
    kv = KvCache(FakeMemory(3), CacheLimits(cells=100, slots=3, spare_cells=20, spare_slots=1))
    kv.acquire(range(70), 10)

    with pytest.raises(EngineBusy, match="cache is full"):
        kv.acquire([200], 1)
    assert kv.find_empty_slot("a", 5) is None
    urgent = kv.acquire([200], 9, urgent=True)
    assert kv.find_empty_slot("a", 5, urgent=True)
    kv.release(urgent)
    with pytest.raises(EngineRefused, match="are more than the 80 tokens of"):
        kv.acquire(range(81), 0, urgent=True)
    with pytest.raises(EngineRefused, match=r"^3 candidates are more than .*; ask for at most 2$"):
        kv.acquire([200], 1, branches=3)
    with pytest.raises(EngineRefused, match=r"^4 candidates are more than .*; ask for at most 3$"):
        kv.acquire([200], 1, branches=4, urgent=True)


def test_the_last_slots_are_reserved_for_urgent_requests():
    kv = KvCache(FakeMemory(2), CacheLimits(cells=100, slots=2, spare_slots=1))
    kv.acquire([1], 1)

    with pytest.raises(EngineBusy, match="too many requests"):
        kv.acquire([2], 1)
    assert kv.acquire([2], 1, urgent=True)
