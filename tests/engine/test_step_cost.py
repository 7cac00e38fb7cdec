"""Tests of the cost of a step and of the choices that follow from it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest

from lsp_harness.engine.decode import step_cost as module
from lsp_harness.engine.decode.step_cost import MEASURED_SIZES, StepCost

CPU = {1: 19, 2: 41, 3: 53, 4: 60, 6: 83, 8: 78, 12: 98, 16: 106, 32: 212, 64: 300, 128: 420}
"""Milliseconds for the 0.5B model on two cores of another machine than this."""
GPU = {size: 10 + size / 100 for size in MEASURED_SIZES}


def make_step_cost(curve: Mapping[int, float]) -> StepCost:
    return StepCost({size: float(ms) for size, ms in curve.items()})


def test_the_cost_of_a_step_is_interpolated_and_extrapolated():
    cpu = make_step_cost(CPU)

    assert [cpu.step_ms(n) for n in (1, 2, 5, 16, 24, 256)] == [19, 41, 71.5, 106, 159, 840]
    assert cpu.step_ms(0) == 19


def test_the_number_of_candidates_follows_from_the_curve():
    assert make_step_cost(CPU).best_candidate_count() == 8
    assert make_step_cost(CPU).best_candidate_count(max_candidates=5) == 5
    assert make_step_cost({1: 10, 2: 20, 4: 40, 8: 80}).best_candidate_count() == 1
    assert make_step_cost(GPU).best_candidate_count() == 8


def test_parts_of_a_prompt_are_as_short_as_speed_allows():
    assert make_step_cost(CPU).chunk_tokens() == 128
    assert make_step_cost({1: 10, 16: 20, 64: 75, 128: 150}).chunk_tokens() == 16
    # a few tokens at a time would never be worth it
    assert make_step_cost({1: 10, 2: 20, 128: 1280}).chunk_tokens() == 16


def test_speeds_are_those_of_the_curve():
    facts = make_step_cost(CPU).props()

    assert (facts["prompt_per_second"], facts["generated_per_second"]) == (304.8, 52.6)
    assert facts["decode_ms"]["8"] == 78
    assert (facts["candidates"], facts["chunk"]) == (8, 128)


def test_live_figures_move_the_whole_curve():
    cpu = make_step_cost(CPU)
    for _ in range(200):
        cpu.observe(1, 38.0)

    assert cpu.step_ms(1) == pytest.approx(38, rel=0.01)
    assert cpu.step_ms(16) == pytest.approx(212, rel=0.01)
    assert cpu.generated_tokens_per_second == pytest.approx(26.3, rel=0.01)
    assert (cpu.best_candidate_count(), cpu.chunk_tokens()) == (8, 128)
    # one stall is not the machine's speed
    cpu.observe(1, 60_000.0)
    assert cpu.step_ms(1) < 45


def test_every_size_is_measured_from_an_empty_sequence():
    steps: list[int] = []

    def decode(tokens: Sequence[int]) -> None:
        steps.append(len(tokens))

    result = StepCost.measure(decode, lambda: steps.append(0))

    assert set(result.measured_ms) == set(MEASURED_SIZES)
    assert all(ms > 0 for ms in result.measured_ms.values())
    assert [after for step, after in pairwise(steps) if step] == [0] * (len(steps) // 2)


def test_a_delayed_step_does_not_change_the_curve(monkeypatch: pytest.MonkeyPatch):
    now, size, calls = [0.0], [0], Counter[int]()
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])

    def decode(tokens: Sequence[int]) -> None:
        size[0] = len(tokens)
        calls[size[0]] += 1
        held_up = size[0] == 12 or (size[0] == 32 and calls[32] == 1)
        now[0] += 9.0 if held_up else 0.001 * size[0]

    measured_ms = StepCost.measure(decode, lambda: None).measured_ms
    assert measured_ms[32] == pytest.approx(32)
    # every time it was measured something was in the way; no step costs more than a larger one
    assert measured_ms[12] == pytest.approx(16)


def test_a_long_step_is_measured_once_unless_it_was_delayed(monkeypatch: pytest.MonkeyPatch):
    now, calls = [0.0], Counter[int]()
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])

    def decode(tokens: Sequence[int]) -> None:
        size = len(tokens)
        calls[size] += 1
        now[0] += 0.01 * size * (2 if size == 64 and calls[64] == 1 else 1)

    assert StepCost.measure(decode, lambda: None).measured_ms[64] == pytest.approx(640)
    # one step of 16 tokens comes before the measurement
    assert (calls[1], calls[12], calls[16] - 1, calls[32], calls[64], calls[128]) == (3, 3, 2, 1, 2, 1)


def test_a_curve_that_cannot_be_saved_is_measured_again(tmp_path: Path):
    make_step_cost(CPU).save(tmp_path / "missing" / "machine.json", "this")

    assert StepCost.load(tmp_path / "missing" / "machine.json", "this") is None


def test_a_curve_is_saved_under_its_key(tmp_path: Path):
    file = tmp_path / "machine.json"
    assert StepCost.load(file, "this") is None
    make_step_cost(CPU).save(file, "this")
    make_step_cost(GPU).save(file, "that")

    result = StepCost.load(file, "this")
    assert result is not None
    assert (result.measured_ms, result.move_ms, result.move_cost_ms) == (CPU, None, inf)
    StepCost({size: float(ms) for size, ms in CPU.items()}, 150.0).save(file, "this")
    result = StepCost.load(file, "this")
    assert result
    result.observe(1, 2 * CPU[1])
    assert 150 < result.move_cost_ms < 300
    assert StepCost.load(file, "other") is None


@pytest.mark.parametrize("text", ["{", "[]", '{"this": 1}', '{"this": {"1": "fast"}}', '{"this": {"1": 2}}'])
def test_an_invalid_record_is_measured_again(tmp_path: Path, text: str):
    file = tmp_path / "machine.json"
    file.write_text(text)

    assert StepCost.load(file, "this") is None
    make_step_cost(CPU).save(file, "this")
    assert StepCost.load(file, "this")
