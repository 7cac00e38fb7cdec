"""The speeds that engines measured: which entry of the file is found, and what a damaged file means."""

import json
from pathlib import Path

import pytest

from lsp_harness.inference.measured_speed import MeasuredSpeed, find_speed, make_speed_key, speed_file


def make_key(library: str, model: str, *, context: int = 4096) -> str:
    return make_speed_key("cpu", library, model, weights="plain", threads=2, gpu_layers=0, context=context)


def test_the_last_measurement_of_a_library_with_a_model_is_found(home: Path) -> None:
    entries = {
        make_key("lib", "m1"): {"step_ms": {"1": 50.0, "128": 1000.0}},
        make_key("lib", "m2"): {"step_ms": {"1": 10.0, "64": 320.0}},
        make_key("lib", "m1", context=8192): {"step_ms": {"1": 40.0, "32": 160.0, "128": 800.0}},
    }
    speed_file().parent.mkdir(parents=True, exist_ok=True)
    speed_file().write_text(json.dumps(entries))
    assert find_speed("lib", "m1") == MeasuredSpeed(200.0, 25.0)
    assert find_speed("lib", "m2") == MeasuredSpeed(200.0, 100.0)
    assert find_speed("lib2", "m1") is None


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"cpu/lib/m/plain/2/0/1": {}}', '{"cpu/lib/m/plain/2/0/1": {"step_ms": {"1": 0}}}']
)
def test_a_damaged_file_has_no_measurement(home: Path, text: str) -> None:
    assert find_speed("lib", "m") is None
    speed_file().parent.mkdir(parents=True, exist_ok=True)
    speed_file().write_text(text)
    assert find_speed("lib", "m") is None
