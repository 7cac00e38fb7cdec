"""Tests of figures, goals and percentiles."""

import json

import pytest

from benchmarks.engine.figures import Figure, Goal, Result, p50, p95, percentile, read_result
from benchmarks.engine.step_curve import read_prefill_chunk_tokens, step_ms


def test_percentiles_are_linear_between_ranks() -> None:
    values = [4.0, 1.0, 3.0, 2.0]
    assert p50(values) == 2.5
    assert p95(values) == pytest.approx(3.85)
    assert (percentile(values, 0), percentile(values, 1)) == (1.0, 4.0)
    assert p50([]) is None


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal(2), True),
        (Goal(1.9), False),
        (Goal(2, is_minimum=True), True),
        (Goal(2.1, is_minimum=True), False),
        (Goal(0.5, "ratio"), True),
        (Goal(0.4, "ratio"), False),
        (None, None),
    ],
)
def test_a_goal_bounds_the_value_or_the_ratio(goal: Goal | None, met: bool | None) -> None:
    assert Figure("f", 2.0, 4.0, goal=goal).met is met


def test_a_goal_without_a_measurement_is_neither_met_nor_missed() -> None:
    assert Figure("f", None, 4.0, goal=Goal(1)).met is None
    assert Figure("f", 2.0, None, goal=Goal(1, "ratio")).met is None
    assert Figure("f", 2.0, 0.0, goal=Goal(1, "ratio")).met is None


def test_a_result_survives_json() -> None:
    figures = [Figure("f", 2.0, 4.0, "that", "ms", Goal(0.5, "ratio")), Figure("g", None)]
    result = Result("typing", "keys", figures, ["note"], {"chart": {"ours": [1.0]}}, {"cores": 2})
    body = json.loads(json.dumps(result.to_json()))
    assert (body["figures"][0]["ratio"], body["figures"][0]["met"]) == (0.5, True)
    assert read_result(body) == result


def test_the_cost_curve_of_the_engine_is_interpolated() -> None:
    props = {"curve": {"decode_ms": {"1": 10.0, "16": 40.0, "4": 16.0}, "chunk": 16}}
    assert (step_ms(props, 4), step_ms(props, 10), step_ms(props, 32)) == (16.0, 28.0, None)
    assert read_prefill_chunk_tokens(props) == 16
    assert (step_ms({}, 1), read_prefill_chunk_tokens({})) == (None, None)
