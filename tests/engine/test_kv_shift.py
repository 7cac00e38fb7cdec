"""Tests of moved cells: which runs of tokens are found, that they are moved, and which clients may use them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.engine.cache.disk_cache import DiskCache
from lsp_harness.engine.cache.host_cache import HostCache, HostSequence
from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
from lsp_harness.engine.cache.kv_shift import (
    MAX_MISSING_CONTEXT_TOKENS,
    KvShift,
    TokenRun,
    find_grams,
    find_runs,
    limit_missing_context,
)
from lsp_harness.engine.decode.generation import RunningRequest
from lsp_harness.engine.decode.llama import Llama, TokenRow
from lsp_harness.engine.decode.memory_probe import measure_move_ms
from lsp_harness.engine.decode.model_runtime import ModelRuntime, Prompt, TokenRequest
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import Chunk, Owner, Sampling, Usage
from tests.support.tiny import tiny_gguf

from .conftest import CURVE, Bench

SHORT = Sampling(n_predict=4)
LEAST = 16
TEXT = [n * 7 % 190 + 5 for n in range(190)]
"""No two of its tokens are the same."""
HEAD, OTHER, TAIL, END = [201] * 8, [202] * 40, [203, 204], [212, 213]


@pytest.fixture
def machine(llama: Llama) -> Bench:
    return enable_shift(Bench(llama))


def enable_shift(machine: Bench, *, hot: int = 0, saved: DiskCache | None = None) -> Bench:
    """Empty the caches of the machine, and let it move runs of at least LEAST tokens."""
    machine.forget()
    machine.kv = KvCache(
        machine.llama, CacheLimits(cells=machine.llama.n_ctx, slots=machine.llama.n_seq, fast_cells=hot)
    )
    machine.host_cache = HostCache(machine.llama, 768) if hot else None
    shift = KvShift(machine.llama, machine.kv, machine.host_cache, min_run_tokens=LEAST)
    machine.model = ModelRuntime(machine.llama, machine.kv, StepCost(CURVE, 10.0), saved, machine.host_cache, shift)
    return machine


def ask(machine: Bench, *tokens: list[int], reuse: int | None = None, owner: Owner | None = None) -> Usage:
    """Return the usage of a short answer to a prompt."""
    prompt = [token for part in tokens for token in part]
    [chunks] = machine.together(TokenRequest((Prompt(prompt),), SHORT, owner or Owner(), cache_reuse=reuse))
    usage = chunks[-1].usage
    assert usage.evaluated + usage.reused == len(prompt)
    assert machine.kv.used_cells == len({cell for slot in machine.kv.slots for cell in slot.cells})
    return usage


def find_token_runs(old: Sequence[int], prompt: Sequence[int], *, least: int = LEAST, start: int = 0) -> list[TokenRun]:
    return find_runs(old, prompt, find_grams(prompt, start), least, start)


def test_a_run_is_found_after_it_moved_down_or_up():
    assert find_token_runs([*HEAD, *TEXT], [*OTHER, *TEXT, *TAIL]) == [TokenRun(8, 40, 190)]
    assert find_token_runs([*OTHER, *TEXT], [*HEAD, *TEXT[50:], *TAIL]) == [TokenRun(90, 8, 140)]


def test_runs_keep_their_order_and_have_a_minimum_length():
    old = [*TEXT[:60], *TEXT[100:160], *TEXT[60:100]]

    assert find_token_runs(old, [*HEAD, *TEXT, *TAIL]) == [TokenRun(0, 8, 60), TokenRun(60, 108, 60)]
    assert find_token_runs(old, [*HEAD, *TEXT, *TAIL], least=61) == []


def test_the_order_of_runs_with_the_most_tokens_is_chosen():
    """After a jump downwards, the lines below the old cursor are above the new one: the shorter run, but the first."""
    below, above = TEXT[:30], TEXT[30:]

    assert find_token_runs([*HEAD, *below, 207, *above], [*OTHER, *above, 208, *below, *TAIL]) == [
        TokenRun(39, 40, 160)
    ]


def test_runs_that_overlap_are_cut_to_fit():
    """A line was inserted that begins like the line behind it and ends like the line before it."""
    old, prompt = TEXT[:120], [*OTHER, *TEXT[:60], TEXT[60], 207, TEXT[59], *TEXT[60:120], *TAIL]

    assert find_token_runs(old, prompt) == [TokenRun(0, 40, 61), TokenRun(61, 104, 59)]


def test_tokens_that_are_in_place_and_the_last_token_are_not_moved():
    assert find_token_runs(TEXT, [*TEXT[:100], *HEAD, *TEXT[100:]], start=100) == [TokenRun(100, 108, 89)]
    assert find_token_runs(TEXT, TEXT, start=len(TEXT) - 4) == []


def test_the_place_with_the_longest_run_of_equal_tokens_is_chosen():
    prompt = [*TEXT[:12], *OTHER, *TEXT[:40], *TAIL]

    assert find_token_runs([*HEAD, *TEXT], prompt) == [TokenRun(8, 52, 40)]


@given(
    st.lists(st.integers(0, 1), max_size=60),
    st.lists(st.integers(0, 1), max_size=60),
    st.integers(1, 20),
    st.integers(0, 20),
)
def test_runs_are_true_disjoint_and_in_order(old: list[int], prompt: list[int], least: int, start: int):
    source, target = 0, start
    for piece in find_token_runs(old, prompt, least=least, start=start):
        assert piece.size >= least
        assert piece.source >= source
        assert piece.target >= target
        source, target = piece.source + piece.size, piece.target + piece.size
        assert old[piece.source : source] == prompt[piece.target : target]
        assert target < len(prompt)


def test_a_run_with_too_much_missing_context_is_not_moved():
    far = TokenRun(0, MAX_MISSING_CONTEXT_TOKENS + 1, 40)
    assert limit_missing_context([far], 0) == []
    assert limit_missing_context([TokenRun(0, MAX_MISSING_CONTEXT_TOKENS, 40)], 0) == [
        TokenRun(0, MAX_MISSING_CONTEXT_TOKENS, 40)
    ]
    # what both begin with is known, and what is moved before it is
    assert limit_missing_context([far], 1) == [far]
    assert limit_missing_context([TokenRun(0, 60, 40), TokenRun(50, 100 + MAX_MISSING_CONTEXT_TOKENS - 60, 40)], 0) == [
        TokenRun(0, 60, 40),
        TokenRun(50, 100 + MAX_MISSING_CONTEXT_TOKENS - 60, 40),
    ]
    assert limit_missing_context(
        [TokenRun(0, 60, 40), TokenRun(50, 101 + MAX_MISSING_CONTEXT_TOKENS - 60, 40), far], 0
    ) == [TokenRun(0, 60, 40)]
    # a run that reaches into what is shared is known once
    assert limit_missing_context([TokenRun(20, 20, 40), TokenRun(80, 61 + MAX_MISSING_CONTEXT_TOKENS, 40)], 50) == [
        TokenRun(20, 20, 40)
    ]


def test_a_run_behind_much_new_text_is_read_again(machine: Bench):
    ask(machine, TEXT, END)
    other_tokens = [230 + n % 20 for n in range(MAX_MISSING_CONTEXT_TOKENS + 1)]
    usage = ask(machine, other_tokens, TEXT, TAIL)
    assert (usage.shifted, usage.reused) == (0, 0)
    # as soon as that is resident, its text moves with it
    usage = ask(machine, other_tokens, HEAD, TEXT, END)
    assert usage.shifted > len(TEXT) - LEAST


def test_moved_tokens_are_not_evaluated_again(machine: Bench):
    ask(machine, HEAD, TEXT, END)
    moved = ask(machine, OTHER, TEXT[30:], TAIL)

    assert (moved.shifted, moved.evaluated) == (160, 42)


def test_several_runs_are_moved_to_their_own_places(machine: Bench):
    old = [*TEXT[:40], *OTHER, *TEXT[40:80], *HEAD, *TEXT[80:120]]
    ask(machine, old, END)
    # the first goes down by eight, the second up by 32, the third by 40
    up = ask(machine, HEAD, TEXT[:120], TAIL)
    down = ask(machine, [207] * 30, TEXT[:40], [208] * 30, TEXT[40:80], [209] * 30, TEXT[80:120], [214, 215])

    assert (up.shifted, down.shifted) == (120, 120)


def test_moved_tokens_predict_the_same_as_tokens_that_were_moved_by_hand(machine: Bench, llama: Llama):
    first, second = [*HEAD, *TEXT, *END], [*OTHER, *TEXT, *TAIL]
    ask(machine, first)
    ask(machine, second)
    slot = next(slot for slot in machine.kv.slots if len(second) in slot.logits_rows)
    logits_row = slot.logits_rows[len(second)]
    machine.forget()

    def read(tokens: list[int], at: int) -> None:
        for start in range(0, len(tokens), llama.n_batch):
            llama.decode([TokenRow(0, at + start, tokens[start : start + llama.n_batch])])

    read(first, 0)
    llama.copy(0, 1, len(first))
    llama.truncate(0, 0)
    read(OTHER, 0)
    # cells of one sequence only may be moved: now they are
    llama.move_cells(1, [(8, 40, 190)])
    llama.copy(1, 0, 230, 40)
    read(TAIL, 230)
    by_hand = llama.logits(1).copy()
    llama.truncate(0, 0)
    for start in range(0, len(second), llama.n_batch):
        llama.decode([TokenRow(0, start, second[start : start + llama.n_batch])])
    fresh = llama.logits((len(second) - 1) % llama.n_batch).copy()

    assert np.allclose(logits_row, by_hand, atol=1e-3)
    assert np.abs(logits_row - fresh).max() > np.abs(logits_row - by_hand).max()


def test_no_cells_are_moved_for_a_request_that_does_not_allow_it(machine: Bench):
    ask(machine, HEAD, TEXT, END)

    assert ask(machine, OTHER, TEXT, TAIL, reuse=0).shifted == 0
    assert ask(machine, [205] * 9, TEXT, TAIL, reuse=192).shifted == 0
    assert ask(machine, [206] * 9, TEXT, [214, 215], reuse=150).shifted == 190


def test_no_cells_are_moved_between_clients(machine: Bench):
    ask(machine, HEAD, TEXT, END, owner=Owner("one"))

    assert ask(machine, OTHER, TEXT, TAIL, owner=Owner("other")).shifted == 0
    assert ask(machine, [205] * 9, TEXT, TAIL, owner=Owner("one")).shifted == 190


def test_parked_tokens_are_moved_as_well(machine: Bench):
    enable_shift(machine, hot=256)
    ask(machine, HEAD, TEXT, END)
    ask(machine, [209] * 180)
    assert machine.host_cache
    assert [len(parked.tokens) for parked in machine.host_cache.sequences] == [203]

    assert ask(machine, OTHER, TEXT, TAIL).shifted == 190


def test_an_evicted_sequence_is_moved_before_its_eviction(machine: Bench):
    """The slot is reused in place: the tokens behind the common beginning are cut off, but are wanted."""
    shared = [206] * 190
    ask(machine, shared, HEAD, TEXT[:100], END)
    usage = ask(machine, shared, TEXT[:100], TAIL)

    assert (usage.shifted, usage.evaluated) == (100, 2)
    assert sum(bool(slot.tokens) for slot in machine.kv.slots) == 1


def test_moved_text_may_be_saved_only_if_its_source_may(machine: Bench, tmp_path: Path, llama: Llama):
    enable_shift(machine, saved=DiskCache(llama, tmp_path, 2**20))
    ask(machine, HEAD, TEXT, END, owner=Owner(persist=True))
    ask(machine, OTHER, TEXT, TAIL, owner=Owner(persist=True))
    ask(machine, [205] * 9, TEXT, TAIL, owner=Owner(persist=False))
    by_beginning = {slot.tokens[0]: slot.persist for slot in machine.kv.slots if slot.tokens}

    assert by_beginning == {201: True, 202: True, 205: False}

    enable_shift(machine)
    ask(machine, HEAD, TEXT, END, owner=Owner(persist=False))
    ask(machine, OTHER, TEXT, TAIL, owner=Owner(persist=True))
    assert not any(slot.persist for slot in machine.kv.slots)


def test_candidates_and_healing_work_after_moved_cells(machine: Bench):
    ask(machine, HEAD, TEXT, END)
    work = TokenRequest(
        (Prompt([*OTHER, *TEXT, *TAIL]),), Sampling(n_predict=4, n=3, temperature=1.0), cache_reuse=LEAST
    )
    [chunks] = machine.together(work)

    assert sorted(chunk.index for chunk in chunks if chunk.stop) == [0, 1, 2]
    assert chunks[-1].usage.shifted == 190


def test_a_cancelled_request_frees_its_staging_sequence(machine: Bench):
    ask(machine, HEAD, TEXT, END)
    waiting: list[int] = []

    def cancel(_: int, runs: list[RunningRequest]) -> None:
        waiting.append(sum(slot.is_staging for slot in machine.kv.slots))
        runs[0].stop(None, "cancelled")

    [chunks] = machine.together(
        TokenRequest((Prompt([*OTHER, *TEXT, *TAIL]),), SHORT, cache_reuse=LEAST),
        after=cancel,
    )

    assert (waiting, chunks[-1].stop) == ([1], "cancelled")
    assert not any(slot.is_staging for slot in machine.kv.slots)
    assert machine.kv.used_cells == len({cell for slot in machine.kv.slots for cell in slot.cells})


def test_two_equal_prompts_share_their_moved_cells(machine: Bench):
    ask(machine, HEAD, TEXT, END)
    work = TokenRequest((Prompt([*OTHER, *TEXT, *TAIL]),), SHORT, cache_reuse=LEAST)
    both = machine.together(work, work)

    usages = [chunks[-1].usage for chunks in both]
    assert all(usage.evaluated + usage.reused == 232 for usage in usages)
    assert sum(usage.evaluated for usage in usages) < 232


def test_without_free_cells_for_a_move_the_prompt_is_read(machine: Bench):
    ask(machine, HEAD, TEXT, END)
    # 236 cells do for the prompt and its answer, but to sort out what to move takes 249
    result = machine.kv.acquire([210] * 782, 0)
    items: list[Chunk] = []
    run = RunningRequest(
        machine.model, TokenRequest((Prompt([*OTHER, *TEXT, *TAIL]),), SHORT, cache_reuse=None), items.append
    )

    assert not any(slot.is_staging for slot in machine.kv.slots)
    machine.kv.release(result)
    assert run.next_part(1024)[1:] == ([*OTHER, *TEXT, *TAIL], True)
    run.abandon()


def test_a_move_that_llama_cpp_refuses_costs_only_the_reading(
    machine: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def full(_: int, __: object) -> bool:
        return False

    ask(machine, HEAD, TEXT, END)
    with monkeypatch.context() as patch:
        patch.setattr(machine.llama, "load_state", full)
        assert ask(machine, OTHER, TEXT, TAIL).shifted == 0

    def failing(rows: Sequence[TokenRow]) -> None:
        raise EngineRefused(f"no room for {len(rows)}")

    move = machine.llama.move_cells

    def broken(seq: int, runs: Sequence[tuple[int, int, int]]) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(machine.llama, "decode", failing)
            move(seq, runs)

    with monkeypatch.context() as patch:
        patch.setattr(machine.llama, "move_cells", broken)
        assert ask(machine, [205] * 9, TEXT, [214, 215]).shifted == 0
    assert "evaluated again: no room for 1" in capsys.readouterr().err
    assert ask(machine, [206] * 9, TEXT, [216, 217]).shifted == 190


def test_moving_is_not_interrupted(machine: Bench, monkeypatch: pytest.MonkeyPatch):
    """llama.cpp moves one layer after the other; after an interruption it would move some layers twice."""
    ask(machine, HEAD, TEXT, END)
    prompt = Prompt([*OTHER, *TEXT, *TAIL])
    with monkeypatch.context() as patch:
        patch.setattr(machine.llama, "should_abort", lambda: True)
        run = RunningRequest(machine.model, TokenRequest((prompt,), SHORT, cache_reuse=LEAST), lambda _: None)
        assert machine.llama.should_abort()
    assert sum(slot.is_staging for slot in machine.kv.slots) == 1
    run.abandon()


def test_a_longer_prompt_is_chosen_if_a_move_makes_it_cheap(machine: Bench):
    ask(machine, HEAD, TEXT, END)
    long, short = Prompt([*HEAD, *OTHER, *TEXT, *TAIL]), Prompt([211] * 4)

    def rung(budget: float, reuse: int | None) -> int:
        return machine.model.choose_prompt(TokenRequest((long, short), SHORT, budget_ms=budget, cache_reuse=reuse))

    # of 232 tokens, 580 ms on the imagined CPU, those before and after the run cost 100 and 13, and moving it 10
    assert [rung(125, None), rung(120, None), rung(125, 0), rung(580, 0)] == [0, 1, 1, 0]
    # where moving takes longer than reading there is no point in it
    machine.model.step_cost.move_ms = 500
    assert rung(575, None) == 1
    assert ask(machine, OTHER, TEXT, TAIL).shifted == 0


def test_a_released_sequence_is_not_used_for_a_move(machine: Bench):
    """The slot in which tokens waited can be used by any request after they were placed."""
    ask(machine, HEAD, TEXT, TAIL)
    generation = RunningRequest(
        machine.model, TokenRequest((Prompt([*OTHER, *TEXT, *END]),), SHORT, cache_reuse=LEAST), lambda _: None
    )
    while any(slot.is_staging for slot in machine.kv.slots):
        slot, tokens, _ = generation.next_part(32)
        if any(slot.is_staging for slot in machine.kv.slots):
            machine.llama.decode([TokenRow(slot.seq, len(slot.tokens), tokens, 0)])
            generation.on_evaluated(tokens, len(tokens) - 1)
    two = RunningRequest(machine.model, TokenRequest((Prompt([210] * 40),), SHORT), lambda _: None)
    slot, tokens, _ = two.next_part(20)
    machine.llama.decode([TokenRow(slot.seq, 0, tokens, 0)])
    two.on_evaluated(tokens, 19)

    generation.next_part(32)
    generation.abandon()
    assert (len(two.evaluated_prompt), slot.is_busy) == (20, True)
    two.abandon()


def test_moved_cells_serve_only_clients_that_accept_them(machine: Bench):
    ask(machine, HEAD, TEXT, TAIL, owner=Owner("one"))
    assert ask(machine, OTHER, TEXT, END, owner=Owner("one")).shifted == 190

    # what was evaluated where it is, is for everybody; what came after it is not
    assert ask(machine, OTHER, TEXT, END, reuse=0, owner=Owner("one")).reused == 40
    machine.forget()
    enable_shift(machine)
    ask(machine, HEAD, TEXT, TAIL, owner=Owner("one"))
    ask(machine, OTHER, TEXT, END, owner=Owner("one"))
    again = ask(machine, OTHER, TEXT, END, [207], owner=Owner("one"))
    assert (again.shifted, again.reused) == (0, 232)
    assert ask(machine, OTHER, TEXT, END, [206], owner=Owner("two")).reused == 40


def test_a_parked_sequence_keeps_the_record_of_its_moves(machine: Bench):
    enable_shift(machine, hot=256)
    ask(machine, HEAD, TEXT, TAIL)
    assert ask(machine, OTHER, TEXT, END).shifted == 190
    ask(machine, [209] * 250)
    assert machine.host_cache
    assert sorted(parked.unmoved_tokens for parked in machine.host_cache.sequences if parked.unmoved_tokens < 1000) == [
        40
    ]

    assert machine.model.cached_length([*OTHER, *TEXT, *END], "") == 232
    assert machine.model.cached_length([*OTHER, *TEXT, *END]) == 40


def test_a_sequence_on_disk_keeps_the_record_of_its_moves(machine: Bench, tmp_path: Path, llama: Llama):
    saved = DiskCache(llama, tmp_path, 2**30)
    enable_shift(machine)
    ask(machine, HEAD, TEXT, TAIL, owner=Owner(persist=True))
    ask(machine, OTHER * 3, TEXT, END, owner=Owner(persist=True))
    moved = next(slot for slot in machine.kv.slots if slot.tokens[:1] == [202])
    assert saved.save(moved)
    assert [file.stem.split("-")[2:] for file in tmp_path.iterdir()] == [["120"]]

    for mover, reused in ((None, 120), ("", 312)):
        enable_shift(machine, saved=DiskCache(llama, tmp_path, 2**30))
        usage = ask(machine, OTHER * 3, TEXT, END, [207], reuse=None if mover == "" else 0)
        assert usage.reused == reused
        assert usage.shifted == 0
    # what was read again as it should be is kept beside it
    assert saved.save(HostSequence(list(moved.tokens), persist=True, state=llama.read_state(0)))


def test_a_request_for_probabilities_uses_no_moved_cells(machine: Bench):
    ask(machine, HEAD, TEXT, TAIL)
    work = TokenRequest((Prompt([*OTHER, *TEXT, *END]),), Sampling(n_predict=2, top_logprobs=2), cache_reuse=None)
    [chunks] = machine.together(work)

    assert chunks[-1].usage.shifted == 0


def test_a_model_whose_keys_do_not_move_correctly_moves_no_cells(
    machine: Bench, llama: Llama, monkeypatch: pytest.MonkeyPatch
):
    def move_to_wrong_cells(seq: int, _: object) -> None:
        move(seq, [(1, 3, 2)])

    assert measure_move_ms(llama)
    move = llama.move_cells
    with monkeypatch.context() as patch:
        patch.setattr(llama, "move_cells", move_to_wrong_cells)
        assert measure_move_ms(llama) is None
    assert machine.kv.used_cells == 0


def test_a_sequence_without_moved_cells_is_not_evicted_for_one_with_them(machine: Bench):
    enable_shift(machine, hot=256)
    ask(machine, HEAD, TEXT, TAIL)
    ask(machine, OTHER, TEXT, END)
    # the same for who wants no moved cells, and for another client
    ask(machine, OTHER, TEXT, END, reuse=0)
    ask(machine, [209] * 250)
    for mover in (None, "", "other"):
        assert machine.model.cached_length([*OTHER, *TEXT, *END], mover) == 232


def test_a_model_with_scaled_keys_moves_no_cells(tmp_path: Path, llama: Llama):
    """At every move, llama.cpp scales the keys of all sequences again."""
    scaled = Llama(
        tiny_gguf(tmp_path / "yarn.gguf", yarn=4.0),
        n_ctx=1024,
        n_seq=2,
        n_batch=32,
        threads=1,
        n_gpu_layers=0,
        repack=False,
    )
    assert measure_move_ms(scaled) is None
    scaled.close()
    Bench(llama)
    assert 0 < (measure_move_ms(llama) or 0) < 5000
