"""Contents are saved in git or as copies: what is left out, what fails, what is damaged and what is removed later."""

import asyncio
import json
import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from lsp_harness.errors import FileError, FileMissing, UsageError
from lsp_harness.kernel.checkpoints import checkpoint_file, content_store
from lsp_harness.kernel.checkpoints.file_state import MAX_FILE_BYTES, content_digest
from tests.support.checkpoint_folders import Make, read_tree

pytestmark = pytest.mark.process


async def test_private_and_large_files_are_not_saved(kind: str, make: Make, root: Path, tmp_path: Path):
    (root / ".gitignore").write_text("ignored\n")
    (root / ".env").write_text("TOKEN=hunter2-secret")
    (root / "ignored").write_text("hunter2-ignored")
    with (root / "large").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    checkpoints = make()
    whole = await checkpoints.capture()
    named = await checkpoints.capture([".env", "ignored", "large"])
    for name in (".env", "ignored", "large"):
        (root / name).write_text("changed")
    await checkpoints.seal(whole.checkpoint_id)
    await checkpoints.seal(named.checkpoint_id)

    done = await checkpoints.restore(named.checkpoint_id)
    assert sorted(done.skipped) == [".env", "ignored", "large"]
    assert sorted((await checkpoints.restore(whole.checkpoint_id)).skipped) == [".env", "large"]
    assert done.event.paths == ()
    for digest in map(content_digest, (b"TOKEN=hunter2-secret", b"hunter2-ignored")):
        assert not [path for path in tmp_path.rglob("*") if path.name == digest[2:]]


@pytest.mark.parametrize(
    "script", ["exit 1", "echo nonsense", "kill -9 $$", "exec sleep 1000"], ids=["fails", "lies", "dies", "hangs"]
)
async def test_copies_are_made_if_git_is_broken(
    script: str, make: Make, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(content_store.shutil, "which", lambda name: str(program))
    monkeypatch.setattr(content_store, "GIT_LIMIT_S", 0.3)
    (root / "a").write_text("old")
    checkpoints = make()
    created = await checkpoints.capture()
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    await checkpoints.restore(created.checkpoint_id)
    assert created.kind == "copies"
    assert (root / "a").read_text() == "old"


async def test_an_empty_folder_has_a_checkpoint(kind: str, make: Make, root: Path):
    checkpoints = make()
    created = await checkpoints.capture()
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    await checkpoints.restore(created.checkpoint_id)
    assert read_tree(root) == {}


async def test_a_folder_that_is_too_large_is_saved_in_part(kind: str, make: Make, root: Path):
    for name in ("a", "b"):
        (root / name).write_text("old")
    checkpoints = make(limit_s=0.0)
    created = await checkpoints.capture()
    (root / "a").write_text("new, and longer")
    (root / "c").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    done = await checkpoints.restore(created.checkpoint_id)
    # files that are not known are not removed
    assert (root / "c").exists()
    assert done.event.paths == ()


async def test_copies_are_made_if_git_takes_too_long(
    make: Make, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "git"
    program.write_text(f"""#!/bin/sh
case "$*" in *stdin-paths*) exec sleep 1000;; esac
exec {shutil.which("git")} "$@"
""")
    program.chmod(0o700)
    monkeypatch.setattr(content_store.shutil, "which", lambda name: str(program))
    (root / "a").write_text("old")
    checkpoints = make(limit_s=0.3)

    assert (await checkpoints.capture()).kind == "copies"
    (root / "a").write_text("new")
    created = await checkpoints.capture()
    (root / "a").write_text("newer")
    await checkpoints.restore(created.checkpoint_id, force=True)
    assert (root / "a").read_text() == "new"


async def test_without_time_for_all_files_the_newest_ones_are_saved(
    make: Make, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "git"
    program.write_text(f"""#!/bin/sh
case "$*" in *stdin-paths*) [ -e {tmp_path}/once ] && exec sleep 1000; touch {tmp_path}/once;; esac
exec {shutil.which("git")} "$@"
""")
    program.chmod(0o700)
    monkeypatch.setattr(content_store.shutil, "which", lambda name: str(program))
    monkeypatch.setattr(content_store, "SAVE_BATCH", 1)
    for number, name in enumerate("ab"):
        (root / name).write_text("old")
        os.utime(root / name, (number, number))
    checkpoints = make(limit_s=1.0)
    created = await checkpoints.capture()
    for name in "ab":
        (root / name).write_text("new text")

    done = await checkpoints.restore(created.checkpoint_id, force=True)
    assert created.kind == "git"
    assert done.event.paths == ("b",)
    assert list(done.skipped) == ["a"]
    assert {name: (root / name).read_text() for name in "ab"} == {"a": "new text", "b": "old"}


async def test_captures_at_the_same_time_do_not_disturb_each_other(kind: str, make: Make, root: Path):
    for name in "abc":
        (root / name).write_text("old")
    checkpoints, others = make(), make()
    made = await asyncio.gather(*(checkpoints.capture([name]) for name in "abc"), *(others.capture() for _ in range(2)))

    assert len({created.checkpoint_id for created in made}) == 5
    assert {created.kind for created in made} == {kind}


async def test_checkpoints_that_are_missing_or_damaged(kind: str, make: Make, root: Path, tmp_path: Path):
    (root / "a").write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a"])
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    for checkpoint_id in ("../../etc/passwd", "x", ""):
        with pytest.raises(UsageError):
            await checkpoints.restore(checkpoint_id)
    with pytest.raises(FileMissing):
        await checkpoints.restore("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    name = content_digest(b"old")[2:]
    [content] = [path for path in tmp_path.rglob(name) if path.is_file()]
    content.chmod(0o600)
    content.write_bytes(b"damaged")
    with pytest.raises(FileError):
        await checkpoints.restore(created.checkpoint_id)
    [file] = tmp_path.rglob(f"{created.checkpoint_id}.json.z")
    file.write_bytes(b"damaged")
    with pytest.raises(FileError, match="damaged"):
        await checkpoints.restore(created.checkpoint_id)
    assert (root / "a").read_text() == "new"


async def test_old_checkpoints_and_their_contents_are_removed(
    kind: str, make: Make, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(content_store, "UNUSED_S", 0)
    checkpoints, ids = make(), list[str]()
    for text in ("old", "new"):
        (root / "a").write_text(text)
        ids.append((await checkpoints.capture(["a"])).checkpoint_id)
    [states] = tmp_path.rglob("states")
    dates = [f"2026-01-{day:02}" for day in range(1, 8)]
    days = {"number": 7, "dates": dates, "first": {ids[0]: 1, ids[1]: 2}}
    (states / "days.json").write_text(json.dumps(days))
    for path in [path for path in (tmp_path / "state").rglob("*") if path.is_file()]:
        os.utime(path, (time.time() - 10, time.time() - 10))

    assert await checkpoints.prune() == 1
    with pytest.raises(FileMissing):
        await checkpoints.restore(ids[0])
    (root / "a").write_text("changed")
    await checkpoints.restore(ids[1], force=True)
    assert (root / "a").read_text() == "new"
    if kind == "copies":
        assert not list(tmp_path.rglob(content_digest(b"old")[2:]))


async def test_a_clock_that_jumps_makes_checkpoints_one_day_older(
    kind: str, make: Make, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    checkpoints = make()
    (root / "a").write_text("old")
    created = await checkpoints.capture(["a"])
    for days in (10, -10, 10, 4000, -4000, 0):
        jump_ns = days * 24 * 3600 * 10**9
        monkeypatch.setattr(checkpoint_file, "file_clock_ns", lambda folder, jump_ns=jump_ns: time.time_ns() + jump_ns)
        assert await make().prune() == 0

    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)
    await checkpoints.restore(created.checkpoint_id)
    assert (root / "a").read_text() == "old"


async def test_a_clock_ahead_of_the_file_system_does_no_harm(
    kind: str, make: Make, root: Path, monkeypatch: pytest.MonkeyPatch
):
    ahead_s = 10 * 24 * 3600
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + ahead_s)
    monkeypatch.setattr(time, "time_ns", lambda real=time.time_ns: real() + ahead_s * 10**9)
    checkpoints = make()
    created = await checkpoints.capture()
    (root / "new").write_text("new")
    await checkpoints.seal(created.checkpoint_id)
    done = await checkpoints.restore(created.checkpoint_id)

    assert done.skipped == {}
    assert not (root / "new").exists()


async def test_our_own_files_are_private(kind: str, make: Make, root: Path, tmp_path: Path):
    (root / "a").write_text("old")
    await make().capture()

    assert stat.S_IMODE((tmp_path / "state" / "checkpoints").stat().st_mode) == 0o700
