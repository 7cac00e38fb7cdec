"""A folder of a killed process is removed by a later one, and no other folder."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lsp_harness.process import scratch_folder
from lsp_harness.process.scratch_folder import PREFIX, ScratchFolder, sweep

HOLDER = (
    "from lsp_harness.process.scratch_folder import ScratchFolder; folder = ScratchFolder();"
    "(folder.path / 'file').touch(); print(folder.path, flush=True); input()"
)


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def make_old(folder: Path) -> None:
    os.utime(folder, (0, 0))


def test_only_a_folder_of_a_process_that_ended_is_removed(temporary_folder: Path):
    environment = {**os.environ, "TMPDIR": str(temporary_folder)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout
        left, own = Path(process.stdout.readline().strip()), ScratchFolder()
        target = temporary_folder / "precious"
        target.mkdir()
        (target / "file").touch()
        (temporary_folder / f"{PREFIX}link").symlink_to(target)
        shared = temporary_folder / f"{PREFIX}shared"
        shared.mkdir()
        shared.chmod(0o755)
        for folder in (left.parent, own.path.parent, shared):
            make_old(folder)
        assert sweep() == []
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert sweep() == [left.parent]
        assert [left.exists(), own.path.exists(), shared.exists(), (target / "file").exists()] == [False] + [True] * 3
        own.remove()
        own.remove()
        assert not own.path.exists()


def test_a_folder_that_was_just_made_stays(temporary_folder: Path, monkeypatch: pytest.MonkeyPatch):
    young = Path(tempfile.mkdtemp(prefix=PREFIX))
    assert sweep() == []
    monkeypatch.setattr(scratch_folder, "YOUNG_S", -1.0)
    assert sweep() == [young]


def test_unreadable_files_are_removed_and_the_targets_of_links_stay(temporary_folder: Path):
    folder, kept = ScratchFolder(), temporary_folder / "kept"
    kept.mkdir()
    (kept / "file").touch()
    kept.chmod(0o500)
    closed = folder.path / "closed"
    (closed / "inner").mkdir(parents=True)
    (closed / "link").symlink_to(kept)
    for path in (closed / "inner", closed):
        path.chmod(0)
    folder.remove()
    assert sorted(temporary_folder.iterdir()) == [kept]
    assert ((kept / "file").exists(), kept.stat().st_mode & 0o777) == (True, 0o500)


def test_the_outer_scratch_folder_is_closed_for_other_users(temporary_folder: Path):
    folder = ScratchFolder()
    folder.path.chmod(0o777)
    assert folder.path.parent.parent == temporary_folder
    assert folder.path.parent.stat().st_mode & 0o777 == 0o700
    folder.remove()
