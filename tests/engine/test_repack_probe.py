"""Tests that the result of the probe is kept. The child process is a double, because some machines would crash it."""

import json
import subprocess
from pathlib import Path

import pytest

from lsp_harness.config import paths
from lsp_harness.engine.decode import repack_probe
from lsp_harness.inference.libraries.library_choice import EngineLibrary

LIBRARY = EngineLibrary("compiled", "compiled", Path(), "1")


class FakeRun:
    """A replacement of `subprocess.run` with a given exit status, which counts its calls."""

    def __init__(self, code: int | None) -> None:
        self.code = code
        self.runs: list[list[str]] = []

    def __call__(self, argv: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
        self.runs.append(argv)
        if self.code is None:
            raise subprocess.TimeoutExpired(argv, 120)
        return subprocess.CompletedProcess(argv, self.code)


@pytest.fixture(autouse=True)
def processor_with_amx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repack_probe, "may_have_amx", lambda: True)


@pytest.mark.parametrize(("code", "works"), [(0, True), (-11, False), (1, False), (None, False)])
def test_the_probe_runs_only_once(
    home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, code: int | None, works: bool
):
    (paths.cache_folder() / "probe.json").unlink()
    child = FakeRun(code)
    monkeypatch.setattr(subprocess, "run", child)

    assert [repack_probe.can_repack(tiny_model, LIBRARY) for _ in range(3)] == [works] * 3
    assert [argv[1:] for argv in child.runs] == [
        ["-P", "-m", "lsp_harness.engine.decode.repack_probe", str(tiny_model), "compiled"]
    ]


def test_another_model_under_the_same_name_is_probed_again(home: Path, monkeypatch: pytest.MonkeyPatch):
    child = FakeRun(0)
    monkeypatch.setattr(subprocess, "run", child)
    model = home / "model.gguf"
    for size in (1, 2):
        model.write_bytes(b"x" * size)
        repack_probe.can_repack(model, LIBRARY)

    assert len(child.runs) == 2


def test_an_unreadable_record_is_replaced(home: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch):
    record = paths.cache_folder() / "probe.json"
    record.write_text("{")
    monkeypatch.setattr(subprocess, "run", FakeRun(-11))

    assert repack_probe.can_repack(tiny_model, LIBRARY) is False
    assert list(json.loads(record.read_text()).values()) == [False]


def test_the_probe_itself_runs(probed: Path):
    """The answer depends on the machine, but the probe always gives one."""
    (answer,) = json.loads(probed.read_text()).values()

    assert answer in (True, False)


def test_a_processor_without_amx_is_not_probed(tiny_model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(repack_probe, "may_have_amx", lambda: False)
    child = FakeRun(-11)
    monkeypatch.setattr(subprocess, "run", child)

    assert repack_probe.can_repack(tiny_model, LIBRARY) is True
    assert child.runs == []


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("flags\t\t: fpu avx2 avx512f", False), ("flags\t\t: fpu amx_bf16 amx_tile", True), ("", True)],
)
def test_a_processor_of_unknown_features_is_probed(flags: str, expected: bool, monkeypatch: pytest.MonkeyPatch):
    # the real function, which the other tests replace
    monkeypatch.undo()
    monkeypatch.setattr(repack_probe, "_read_flags", lambda: flags)
    assert repack_probe.may_have_amx() is expected
