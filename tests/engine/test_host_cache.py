"""Tests of sequences in host memory: which are copied there, which come back, and that none is lost."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from lsp_harness.engine.cache.cached_sequence import CLIENT_IDLE_S
from lsp_harness.engine.cache.disk_cache import DiskCache
from lsp_harness.engine.cache.host_cache import HostCache
from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.engine.decode.model_runtime import ModelRuntime, Prompt, TokenRequest
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.inference.request import Owner, Sampling

from .conftest import CURVE, Bench

HOT = 256
SHORT = Sampling(n_predict=4)
A, B, C = ([200 + step, *(n * step % 190 + 5 for n in range(199))] for step in (1, 3, 7))


@pytest.fixture
def machine(llama: Llama) -> Bench:
    return use_host_cache(Bench(llama))


def use_host_cache(
    machine: Bench, *, limit: int = 768, saved: DiskCache | None = None, now: Callable[[], float] = monotonic
) -> Bench:
    """Give the bench a host cache and few fast cells."""
    machine.forget()
    machine.kv = KvCache(
        machine.llama, CacheLimits(cells=machine.llama.n_ctx, slots=machine.llama.n_seq, fast_cells=HOT), now=now
    )
    machine.host_cache = HostCache(machine.llama, limit, now)
    machine.model = ModelRuntime(machine.llama, machine.kv, StepCost(CURVE), saved, machine.host_cache)
    return machine


def list_host_lengths(machine: Bench) -> list[int]:
    assert machine.host_cache
    return [len(sequence.tokens) for sequence in machine.host_cache.sequences]


def test_a_parked_sequence_gives_the_same_answer(machine: Bench):
    first, _ = machine.run(A, SHORT)
    machine.run(B, SHORT)
    assert (machine.kv.used_cells, list_host_lengths(machine)) == (203, [203])
    assert machine.kv.cached_length(A) < 16

    again, last = machine.run(A, SHORT)

    assert again == first
    # The logits after its last token were copied with it.
    assert (last.usage.evaluated, last.usage.reused) == (0, 200)
    assert len(list_host_lengths(machine)) == 1
    assert machine.kv.cached_length(B) < 16


def test_a_prompt_reuses_the_beginning_of_a_parked_sequence(machine: Bench):
    machine.run(A, SHORT)
    machine.run(B, SHORT)

    _, last = machine.run([*A[:150], 7, 7], SHORT)

    assert (last.usage.evaluated, last.usage.reused) == (2, 150)


def test_the_cached_length_includes_parked_sequences(machine: Bench):
    machine.run(A, SHORT)
    machine.run(B, SHORT)

    assert machine.model.cached_length(A) == 200
    assert machine.model.cached_length(C) < 16


def test_no_sequence_is_parked_while_there_are_free_cells(machine: Bench):
    machine.run(A[:100], SHORT)
    machine.run(B[:100], SHORT)

    assert (machine.kv.used_cells, list_host_lengths(machine)) == (206, [])


def test_only_one_of_several_candidates_is_parked(machine: Bench):
    machine.together(TokenRequest((Prompt(A),), Sampling(n_predict=24, n=3, temperature=1.0)))
    machine.run(B, SHORT)

    assert len(list_host_lengths(machine)) == 1
    assert machine.model.cached_length(A) == 200


def test_a_longer_parked_sequence_replaces_the_one_that_it_continues(machine: Bench):
    machine.run(A[:150], SHORT)
    machine.run(B, SHORT)
    machine.run(A, SHORT)
    machine.run(C, SHORT)

    assert sorted(list_host_lengths(machine)) == [203, 203]


def test_the_host_cache_is_bounded_and_evicts_idle_clients_first(machine: Bench):
    now = 100.0
    use_host_cache(machine, limit=450, now=lambda: now)
    machine.run(A, SHORT, owner=Owner("gone"))
    now += CLIENT_IDLE_S + 1
    for step in (3, 7, 11):
        now += 1
        machine.run([200 + step, *(n * step % 190 + 5 for n in range(199))], SHORT, owner=Owner("here"))

    assert machine.host_cache
    assert [sequence.client for sequence in machine.host_cache.sequences] == ["here", "here"]
    assert machine.host_cache.eviction_count == 1
    assert machine.model.cached_length(A) < 16
    assert machine.model.cached_length(B) == 200


def test_a_client_at_work_in_the_cells_is_not_idle(machine: Bench):
    now = 100.0
    use_host_cache(machine, limit=500, now=lambda: now)
    d, e, f = ([200 + step, *(n * step % 190 + 5 for n in range(199))] for step in (11, 13, 17))
    for at, client, prompt in (
        (100, "other", d),
        (103, "other", B),
        (105, "typist", A),
        (175, "other", e),
        (178, "typist", [9, 9]),
        (180, "other", f),
    ):
        now = float(at)
        machine.run(prompt, SHORT, owner=Owner(client))

    assert machine.host_cache
    # the typist has parked nothing for a minute, but is at work: the oldest go, not his
    assert A in [sequence.tokens[:200] for sequence in machine.host_cache.sequences]
    assert B not in [sequence.tokens[:200] for sequence in machine.host_cache.sequences]


def test_a_needed_parked_sequence_is_not_evicted(machine: Bench):
    use_host_cache(machine, limit=410)
    machine.run(A, SHORT)
    machine.run(B, SHORT)
    machine.run(C, SHORT)
    assert list_host_lengths(machine) == [203, 203]

    _, last = machine.run(A, SHORT)

    assert last.usage.evaluated == 0


def test_a_sequence_that_is_too_large_evicts_no_other_sequence(machine: Bench):
    use_host_cache(machine, limit=210)
    machine.run(A, SHORT)
    machine.run([n * 13 % 190 + 5 for n in range(220)], SHORT)
    machine.run(B, SHORT)

    assert machine.host_cache
    assert [sequence.tokens[:200] for sequence in machine.host_cache.sequences] == [A]
    assert machine.host_cache.eviction_count == 1


def test_a_sequence_keeps_its_owner_when_another_client_reads_its_beginning(machine: Bench):
    machine.run(A, SHORT, owner=Owner("mine"))
    machine.run(B, SHORT, owner=Owner("other"))

    machine.run([*A[:50], 7, 7], SHORT, owner=Owner("other"))

    assert [slot.client for slot in machine.kv.slots if slot.tokens[:200] == A] == ["mine"]


def test_sequences_with_and_without_permission_to_save_are_both_parked(machine: Bench):
    mine = TokenRequest((Prompt(A),), SHORT, Owner("mine", persist=True))
    other = TokenRequest((Prompt([*A, 7, 7]),), SHORT, Owner("other"))
    machine.together(mine, other)
    machine.run(B, SHORT)

    assert machine.host_cache
    assert True in {sequence.persist for sequence in machine.host_cache.sequences if sequence.tokens[:200] == A}


def test_after_a_crowd_the_remaining_sequences_move_to_the_lowest_cells(
    machine: Bench, monkeypatch: pytest.MonkeyPatch
):
    last = [9, *A[:80]]
    machine.together(*(TokenRequest((Prompt(prompt),), SHORT) for prompt in (A, B, C, last)))
    moved: list[int] = []
    put = machine.llama.load_state
    monkeypatch.setattr(machine.llama, "load_state", lambda seq, state: moved.append(seq) or put(seq, state))

    _, first = machine.run(last, SHORT)
    _, second = machine.run(last, SHORT)

    assert (first.usage.evaluated, second.usage.evaluated, len(moved)) == (0, 0, 1)


def test_a_long_sequence_in_the_lowest_cells_is_not_moved(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    long = [n * 13 % 190 + 5 for n in range(400)]
    machine.run(long, SHORT)
    monkeypatch.setattr(machine.llama, "load_state", lambda *_: pytest.fail("moved"))

    assert machine.run(long, SHORT)[1].usage.evaluated == 0


def test_the_latest_sequence_stays_when_the_host_cache_is_full(machine: Bench):
    use_host_cache(machine, limit=300)
    machine.run(A, SHORT, owner=Owner("one"))
    machine.run(B, SHORT, owner=Owner("two"))
    machine.run(C, SHORT, owner=Owner("three"))

    # A and B are each the newest of somebody at work
    assert machine.host_cache
    assert [sequence.tokens[:200] for sequence in machine.host_cache.sequences] == [B]


def test_a_sequence_is_evaluated_again_if_there_is_no_memory_to_park_it(
    machine: Bench, monkeypatch: pytest.MonkeyPatch
):
    def full(_: int) -> None:
        raise MemoryError

    first, _ = machine.run(A, SHORT)
    monkeypatch.setattr(machine.llama, "read_state", full)
    machine.run(B, SHORT)

    assert list_host_lengths(machine) == []
    assert machine.run(A, SHORT)[0] == first


def test_a_state_that_does_not_fit_any_more_is_evaluated_again(machine: Bench):
    first, _ = machine.run(A, SHORT)
    machine.run(B, SHORT)
    assert machine.host_cache
    machine.host_cache.sequences[0].state = machine.host_cache.sequences[0].state[:100]

    again, last = machine.run(A, SHORT)

    assert (again, last.usage.evaluated) == (first, 200)
    assert machine.host_cache.eviction_count == 1


def test_a_parked_sequence_is_saved_in_the_format_of_llama_cpp(machine: Bench, tmp_path: Path):
    machine.run(A, SHORT)
    [slot] = [slot for slot in machine.kv.slots if slot.tokens]
    llama = machine.llama
    assert llama.save_state(slot.seq, slot.tokens, tmp_path / "theirs")
    llama.write_state(slot.tokens, llama.read_state(slot.seq), tmp_path / "ours")

    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_sequence_that_leaves_the_host_cache_is_written_to_disk(machine: Bench, tmp_path: Path):
    tokens = [n * 13 % 190 + 5 for n in range(300)]
    saved = DiskCache(machine.llama, tmp_path / "kv", 2**30)
    use_host_cache(machine, limit=310, saved=saved)
    first, _ = machine.run(tokens, SHORT, owner=Owner(persist=True))
    machine.run(B, SHORT)
    assert (list_host_lengths(machine), saved.written_count) == ([303], 0)
    machine.run(C, SHORT)
    machine.run(A, SHORT)
    assert (machine.model.cached_length(tokens) < 16, saved.written_count) == (True, 1)

    again, last = machine.run(tokens, SHORT)

    assert (again, last.usage.evaluated, saved.restored_count) == (first, 1, 1)


def test_an_idle_engine_frees_cells_for_parked_sequences(machine: Bench):
    a, b, c, d = (prompt[:80] for prompt in (A, B, C, [*range(20, 100)]))
    for prompt in (a, b, c, d):
        machine.run(prompt, SHORT)
    assert (machine.kv.used_cells, list_host_lengths(machine)) == (3 * 83, [83])

    assert [machine.model.evict_ahead() for _ in range(3)] == [True, True, False]

    # what was used last stays; the key that brings another back moves nothing else
    assert (machine.kv.cached_length(d), list_host_lengths(machine)) == (80, [83, 83, 83])
    evicted = machine.kv.eviction_count
    assert machine.run(a, SHORT)[1].usage.evaluated == 0
    assert machine.kv.eviction_count == evicted


def test_without_parked_sequences_no_cells_are_freed_ahead(machine: Bench):
    for prompt in (A[:80], B[:80], C[:80]):
        machine.run(prompt, SHORT)

    assert not machine.model.evict_ahead()
    assert (machine.kv.used_cells, list_host_lengths(machine)) == (3 * 83, [])


def test_the_last_used_sequence_is_not_evicted_ahead(machine: Bench):
    machine.run(A, SHORT)
    machine.run(B, SHORT)

    assert not machine.model.evict_ahead()
    assert machine.kv.cached_length(B) == 200
