"""Tests of sequences on disk: which are written, which are read back, and which are refused."""

import os
import stat
from pathlib import Path
from time import time

import pytest

from lsp_harness.engine.cache.disk_cache import DiskCache, prune_folders
from lsp_harness.engine.decode.model_runtime import ModelRuntime
from lsp_harness.engine.decode.step_cost import StepCost
from lsp_harness.inference.request import Owner, Sampling

from .conftest import CURVE, Bench

PROMPT = list(range(5, 205))
OPEN = Owner("editor", persist=True)
SHORT = Sampling(n_predict=4)


@pytest.fixture
def disk_cache(machine: Bench, tmp_path: Path) -> DiskCache:
    return restart(machine, tmp_path / "kv")


def restart(machine: Bench, folder: Path, limit: int = 2**30) -> DiskCache:
    """Empty the memory of the machine as after a restart, and return the cache on disk."""
    machine.forget()
    disk_cache = DiskCache(machine.llama, folder, limit)
    machine.kv.on_evict = disk_cache.save_evicted
    machine.model = ModelRuntime(machine.llama, machine.kv, StepCost(CURVE), disk_cache)
    return disk_cache


def keep(machine: Bench, disk_cache: DiskCache) -> int:
    return sum(disk_cache.save(slot) for slot in machine.kv.slots)


def test_a_sequence_is_read_from_disk_after_a_restart(machine: Bench, disk_cache: DiskCache, tmp_path: Path):
    first, _ = machine.run(PROMPT, SHORT, owner=OPEN)
    assert keep(machine, disk_cache) == 1

    again = restart(machine, tmp_path / "kv")
    text, last = machine.run(PROMPT, SHORT, owner=OPEN)

    assert text == first
    assert (last.usage.evaluated, last.usage.reused) == (1, 199)
    assert (again.restored_count, again.written_count) == (1, 0)
    # what came from disk needs not be written again
    assert keep(machine, again) == 0


def test_files_are_for_this_user_alone(machine: Bench, disk_cache: DiskCache, tmp_path: Path):
    machine.run(PROMPT, SHORT, owner=OPEN)
    mask = os.umask(0)
    try:
        keep(machine, disk_cache)
    finally:
        os.umask(mask)

    [file] = (tmp_path / "kv").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "kv").stat().st_mode) == 0o700


def test_a_sequence_that_may_not_be_written_is_not(machine: Bench, disk_cache: DiskCache, tmp_path: Path):
    machine.run(PROMPT, SHORT, owner=Owner("editor"))

    assert keep(machine, disk_cache) == 0
    assert list((tmp_path / "kv").iterdir()) == []


def test_short_sequences_are_not_written(machine: Bench, disk_cache: DiskCache):
    machine.run(PROMPT[:40], SHORT, owner=OPEN)

    assert keep(machine, disk_cache) == 0


def test_a_longer_sequence_replaces_the_one_that_it_continues(machine: Bench, disk_cache: DiskCache, tmp_path: Path):
    machine.run(PROMPT[:100], SHORT, owner=OPEN)
    keep(machine, disk_cache)
    machine.run(PROMPT, SHORT, owner=OPEN)
    keep(machine, disk_cache)

    assert len(list((tmp_path / "kv").iterdir())) == 1
    restart(machine, tmp_path / "kv")
    assert machine.run(PROMPT, SHORT)[1].usage.evaluated == 1


@pytest.mark.parametrize("where", ["head", "middle", "cut"])
def test_a_damaged_file_is_ignored_with_a_line_in_the_log(
    machine: Bench, disk_cache: DiskCache, tmp_path: Path, capsys: pytest.CaptureFixture[str], where: str
):
    first, _ = machine.run(PROMPT, SHORT, owner=OPEN)
    keep(machine, disk_cache)
    [file] = (tmp_path / "kv").iterdir()
    data = bytearray(file.read_bytes())
    if where == "cut":
        del data[-100:]
    else:
        data[20 if where == "head" else len(data) // 2] ^= 0xFF
    file.write_bytes(data)

    again = restart(machine, tmp_path / "kv")
    text, last = machine.run(PROMPT, SHORT)

    assert (text, last.usage.evaluated, again.restored_count) == (first, 200, 0)
    assert file.name in capsys.readouterr().err
    assert not file.exists()


def test_foreign_files_are_removed_with_a_line_in_the_log(
    machine: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "kv"
    folder.mkdir()
    for name, data in (("a.kv", b"something else"), ("b-c.kv", b"qsgg" + bytes(60)), ("draft-1.tmp", b"half")):
        (folder / name).write_bytes(data)
    (folder / "draft-2.tmp").write_bytes(b"half")
    os.utime(folder / "draft-1.tmp", (0, 0))

    restart(machine, folder)

    # an engine that is just leaving may still be writing the other one
    assert [file.name for file in folder.iterdir()] == ["draft-2.tmp"]
    assert capsys.readouterr().err.count("it was deleted") == 3


def test_the_folder_is_bounded_and_the_oldest_go(machine: Bench, tmp_path: Path):
    folder = tmp_path / "kv"
    disk_cache = restart(machine, folder)
    machine.run(PROMPT, SHORT, owner=OPEN)
    keep(machine, disk_cache)
    [first] = folder.iterdir()
    size = first.stat().st_size

    small = restart(machine, folder, limit=2 * size + size // 2)
    for start in (300, 350, 400):
        machine.run([start // 50 + n % 7 for n in range(200)], SHORT, owner=OPEN)
        keep(machine, small)

    assert sum(file.stat().st_size for file in folder.iterdir()) <= 2 * size + size // 2
    assert len(list(folder.iterdir())) == 2
    assert not first.exists()


def test_an_evicted_sequence_is_written_before_its_eviction(machine: Bench, disk_cache: DiskCache, tmp_path: Path):
    tokens = [n % 200 + 5 for n in range(300)]
    machine.run(tokens, SHORT, owner=OPEN)
    for kind in range(5):
        machine.run([kind + 210] * 200, SHORT, owner=Owner("editor"))

    assert machine.kv.cached_length(tokens) == 0
    assert machine.run(tokens, SHORT)[1].usage.evaluated == 1


def test_a_folder_that_cannot_be_written_fails_no_request(
    machine: Bench, disk_cache: DiskCache, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    machine.run(PROMPT, SHORT, owner=OPEN)
    (tmp_path / "kv").rmdir()

    assert keep(machine, disk_cache) == 0
    assert "could not be saved" in capsys.readouterr().err
    assert machine.run(PROMPT, SHORT)[1].stop == "limit"


def write_aged_files(root: Path, **ages: int) -> None:
    """Write files of ten bytes, `<folder>_<name>`, with these ages since their last use."""
    for name, age in ages.items():
        folder, _, stem = name.partition("_")
        (root / folder).mkdir(exist_ok=True)
        file = root / folder / f"{stem}.kv"
        file.write_bytes(b"0123456789")
        os.utime(file, (1_000_000 - age, 1_000_000 - age))


def list_cache_files(root: Path) -> list[str]:
    return sorted(str(file.relative_to(root)) for file in root.glob("*/*.kv"))


def test_the_limit_includes_files_of_other_models_and_removes_the_oldest(tmp_path: Path):
    write_aged_files(tmp_path, mine_new=1, mine_old=4, other_new=2, other_old=3)
    assert sorted(file.name for file in prune_folders(tmp_path, 25)) == ["old.kv", "old.kv"]
    assert list_cache_files(tmp_path) == ["mine/new.kv", "other/new.kv"]
    assert prune_folders(tmp_path, 20) == []


def test_a_limit_of_0_removes_all_files_and_a_missing_folder_is_allowed(tmp_path: Path):
    write_aged_files(tmp_path, mine_new=1, other_old=3)
    prune_folders(tmp_path, 0)
    assert list_cache_files(tmp_path) == []
    assert prune_folders(tmp_path / "absent", 0) == []


def test_writing_a_sequence_removes_old_files_of_other_models(machine: Bench, tmp_path: Path):
    write_aged_files(tmp_path, other_old=3)
    disk_cache = restart(machine, tmp_path / "kv", limit=2**30)
    machine.run(PROMPT, SHORT, owner=OPEN)
    keep(machine, disk_cache)
    [own] = (tmp_path / "kv").glob("*.kv")
    size = own.stat().st_size
    own.unlink()
    disk_cache = restart(machine, tmp_path / "kv", limit=size + 5)
    machine.run(PROMPT, SHORT, owner=OPEN)
    keep(machine, disk_cache)
    assert list_cache_files(tmp_path) == [f"kv/{own.name}"]


def test_a_file_that_another_engine_removed_is_read_and_written_again(
    machine: Bench, disk_cache: DiskCache, tmp_path: Path
):
    machine.run(PROMPT, SHORT, owner=OPEN)
    keep(machine, disk_cache)
    again = restart(machine, tmp_path / "kv")
    prune_folders(tmp_path, 0)
    _, last = machine.run(PROMPT, SHORT, owner=OPEN)
    assert (last.usage.evaluated, again.restored_count) == (len(PROMPT), 0)
    assert keep(machine, again) == 1
    assert len(list_cache_files(tmp_path)) == 1


def test_unfinished_drafts_are_removed(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    for name, age in (("old", 10**6), ("new", 0)):
        draft = tmp_path / "mine" / f"draft-{name}.tmp"
        draft.touch()
        os.utime(draft, (time() - age, time() - age))
    prune_folders(tmp_path, 2**20)
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["draft-new.tmp"]
