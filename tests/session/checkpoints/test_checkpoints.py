"""Files get the content and the mode that they had before a turn."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.errors import FileError, HarnessError, StaleDocument, UsageError
from lsp_harness.session.checkpoints import file_swap
from lsp_harness.session.events.code_events import EditReverted
from lsp_harness.session.events.tool_events import CheckpointCreated
from lsp_harness.session.permission.action import Action, Decision
from tests.support.checkpoint_folders import Make, texts


async def test_named_files_are_restored_with_bytes_and_modes(kind: str, make: Make, root: Path, events: list[Any]):
    (root / "a.py").write_bytes(b"one\r\ntwo\n\xff no newline")
    (root / "run.sh").write_bytes(b"#!/bin/sh\n")
    (root / "run.sh").chmod(0o754)
    (root / "gone.txt").write_bytes(b"")
    before = texts(root)
    checkpoints = make()
    created = await checkpoints.capture(["a.py", root / "run.sh", "gone.txt", "new/deep/b.py"])
    (root / "a.py").write_bytes(b"changed")
    (root / "run.sh").write_bytes(b"changed")
    (root / "run.sh").chmod(0o600)
    (root / "gone.txt").unlink()
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "b.py").write_bytes(b"created")

    assert sorted(await checkpoints.seal(created.checkpoint_id)) == ["a.py", "gone.txt", "new/deep/b.py", "run.sh"]
    done = await checkpoints.restore(created.checkpoint_id, turn=3)

    assert texts(root) == before
    assert not (root / "new").exists()
    assert created == CheckpointCreated(created.checkpoint_id, kind, ("a.py", "run.sh", "gone.txt", "new/deep/b.py"))
    reverted = EditReverted(created.checkpoint_id, ("a.py", "gone.txt", "new/deep/b.py", "run.sh"), 3)
    assert done.event == reverted
    assert events == [created, reverted]
    assert done.skipped == {}


async def test_an_undo_can_be_undone(kind: str, make: Make, root: Path):
    (root / "a").write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a"])
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)
    done = await checkpoints.restore(created.checkpoint_id)
    assert (root / "a").read_text() == "old"

    await checkpoints.restore(done.backup, force=True)
    assert (root / "a").read_text() == "new"


async def test_the_whole_folder_is_restored(kind: str, make: Make, root: Path):
    (root / "src").mkdir()
    (root / "src" / "a.py").write_bytes(b"a\r\n")
    (root / "src" / "odd\nname").write_bytes(b"odd")
    (root / "link").symlink_to("src/a.py")
    (root / "moved").write_bytes(b"moved")
    (root / "file").write_bytes(b"a folder takes its name")
    (root / ".gitattributes").write_text("* text eol=crlf filter=x ident working-tree-encoding=UTF-16\n")
    (root / "id").write_text("$Id$\n")
    before = texts(root)
    checkpoints = make()
    created = await checkpoints.capture()
    shutil.rmtree(root / "src")
    (root / "link").unlink()
    (root / "link").mkdir()
    (root / "link" / "inner").write_text("x")
    (root / "moved").rename(root / "elsewhere")
    (root / "file").unlink()
    (root / "file").mkdir()
    (root / "file" / "deep").write_text("y")
    (root / "dangling").symlink_to("nowhere")
    (root / "id").write_text("changed")

    await checkpoints.seal(created.checkpoint_id)
    done = await checkpoints.restore([created.checkpoint_id])

    assert texts(root) == before
    assert created.kind == kind
    assert created.paths == ()
    assert done.skipped == {}


async def test_files_that_the_turn_did_not_touch_stay_as_they_are(kind: str, make: Make, root: Path):
    for name in "ab":
        (root / name).write_text("old")
    checkpoints = make()
    created = await checkpoints.capture()
    (root / "a").write_text("by the turn")
    await checkpoints.seal(created.checkpoint_id)
    (root / "b").write_text("by the user")
    (root / "c").write_text("by the user")

    await checkpoints.restore(created.checkpoint_id)
    assert {name: (root / name).read_text() for name in "abc"} == {
        "a": "old",
        "b": "by the user",
        "c": "by the user",
    }


async def test_a_later_change_is_not_lost(kind: str, make: Make, root: Path):
    for name in "ab":
        (root / name).write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a", "b", "c"])
    for name in "abc":
        (root / name).write_text("by the turn")
    await checkpoints.seal(created.checkpoint_id)
    (root / "b").write_text("by the user")
    before = texts(root)

    with pytest.raises(StaleDocument, match=r"^b was changed after the turn"):
        await checkpoints.restore(created.checkpoint_id)
    assert texts(root) == before

    await checkpoints.restore(created.checkpoint_id, ["a"])
    assert (root / "a").read_text() == "old"
    assert (root / "c").exists()
    await checkpoints.restore(created.checkpoint_id, force=True)
    assert (root / "b").read_text() == "old"
    assert not (root / "c").exists()


async def test_several_checkpoints_of_a_turn_are_undone_together(kind: str, make: Make, root: Path):
    (root / "a").write_text("0")
    checkpoints, ids = make(), list[str]()
    for text in "12":
        ids.append((await checkpoints.capture(["a"])).checkpoint_id)
        (root / "a").write_text(text)
        await checkpoints.seal(ids[-1])

    await checkpoints.restore(ids)
    assert (root / "a").read_text() == "0"


async def test_a_change_between_two_edits_of_a_turn_is_not_lost(kind: str, make: Make, root: Path):
    (root / "a").write_text("0")
    checkpoints, ids = make(), list[str]()
    for text in "12":
        ids.append((await checkpoints.capture(["a"])).checkpoint_id)
        (root / "a").write_text(text)
        await checkpoints.seal(ids[-1])
        if text == "1":
            (root / "a").write_text("by the user")

    with pytest.raises(StaleDocument):
        await checkpoints.restore(ids)
    await checkpoints.restore(ids[-1])
    assert (root / "a").read_text() == "by the user"


async def test_a_turn_without_an_end_is_undone_by_force_only(kind: str, make: Make, root: Path):
    (root / "a").write_text("old")
    created = await make().capture(["a"])
    assert (await make().restore(created.checkpoint_id)).event.paths == ()
    (root / "a").write_text("new")

    with pytest.raises(StaleDocument, match="whose end is not known"):
        await make().restore(created.checkpoint_id)
    await make().restore(created.checkpoint_id, force=True)
    assert (root / "a").read_text() == "old"


async def test_files_that_were_ignored_before_the_turn_are_not_removed(kind: str, make: Make, root: Path):
    (root / ".gitignore").write_text("ignored\n")
    (root / "ignored").write_text("precious")
    checkpoints = make()
    created = await checkpoints.capture()
    (root / ".gitignore").write_text("")
    (root / "ignored").write_text("precious, and changed by the turn")
    await checkpoints.seal(created.checkpoint_id)

    done = await checkpoints.restore(created.checkpoint_id)
    assert (root / ".gitignore").read_text() == "ignored\n"
    assert (root / "ignored").read_text() == "precious, and changed by the turn"
    assert list(done.skipped) == ["ignored"]


async def test_no_link_leads_out_of_the_folder(kind: str, make: Make, root: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "a").mkdir()
    (root / "a" / "b").write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a/b"])
    shutil.rmtree(root / "a")
    (root / "a").symlink_to(outside)
    (outside / "b").write_text("outside")
    await checkpoints.seal(created.checkpoint_id)

    with pytest.raises(HarnessError):
        await checkpoints.restore(created.checkpoint_id, force=True)
    assert (outside / "b").read_text() == "outside"
    for path in ("../outside/b", outside / "b", "a/b", "."):
        with pytest.raises(UsageError):
            await checkpoints.capture([path])


async def test_a_link_that_is_edited_stands_for_its_target(kind: str, make: Make, root: Path):
    (root / "target").write_text("old")
    (root / "link").symlink_to("target")
    checkpoints = make()
    created = await checkpoints.capture(["link"])
    (root / "link").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    await checkpoints.restore(created.checkpoint_id)
    assert (root / "target").read_text() == "old"
    assert (root / "link").is_symlink()


async def test_after_a_failure_nothing_is_changed(
    kind: str, make: Make, root: Path, monkeypatch: pytest.MonkeyPatch, events: list[Any]
):
    for name in ("a", "b", "c"):
        (root / name).write_text("old")
    checkpoints = make()
    created = await checkpoints.capture()
    (root / "a").write_text("new")
    (root / "b").unlink()
    (root / "d").write_text("new")
    (root / "c").chmod(0o600)
    await checkpoints.seal(created.checkpoint_id)
    before = texts(root)
    rename, calls = os.rename, list[Any]()

    def fail(source: Any, target: Any) -> None:
        calls.append(target)
        if len(calls) == 5:
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(file_swap.os, "rename", fail)
    with pytest.raises(FileError, match="nothing was restored"):
        await checkpoints.restore(created.checkpoint_id)
    monkeypatch.undo()

    assert texts(root) == before
    assert not [event for event in events if isinstance(event, EditReverted)]


async def test_the_gate_decides_about_a_restoration(kind: str, make: Make, root: Path):
    asked: list[Action] = []

    async def deny(action: Action) -> Decision:
        asked.append(action)
        return Decision("deny", "mode", "plan mode changes nothing")

    (root / "a").write_text("old")
    checkpoints = make(gate=deny)
    created = await checkpoints.capture(["a"])
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    with pytest.raises(UsageError, match="plan mode changes nothing"):
        await checkpoints.restore(created.checkpoint_id)
    assert (root / "a").read_text() == "new"
    assert [(action.tool, action.kind, action.paths) for action in asked] == [("undo", "edit", (root / "a",))]


async def test_the_repository_of_the_user_is_not_touched(kind: str, make: Make, root: Path):
    (root / ".git" / "objects").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "inner" / ".git").mkdir(parents=True)
    (root / "inner" / ".git" / "config").write_text("")
    (root / "inner" / "a").write_text("old")
    before = texts(root)
    checkpoints = make()
    created = await checkpoints.capture()
    (root / "inner" / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    await checkpoints.restore(created.checkpoint_id)
    assert texts(root) == before


async def test_a_cancelled_restoration_is_completed_and_recorded(
    kind: str, make: Make, root: Path, events: list[Any], monkeypatch: pytest.MonkeyPatch
):
    (root / "a").write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a"])
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)
    loop, rename = asyncio.get_running_loop(), os.rename
    restoring = asyncio.ensure_future(checkpoints.restore(created.checkpoint_id, turn=1))

    def cancel(source: Any, target: Any) -> None:
        loop.call_soon_threadsafe(restoring.cancel)
        rename(source, target)

    monkeypatch.setattr(file_swap.os, "rename", cancel)
    await asyncio.wait({restoring})

    assert restoring.cancelled()
    assert (root / "a").read_text() == "old"
    assert events[-1] == EditReverted(created.checkpoint_id, ("a",), 1)
