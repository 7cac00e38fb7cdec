"""Files get the content and the mode that they had before a turn."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.errors import FileError, HarnessError, StaleDocument, UsageError
from lsp_harness.events.code_events import EditReverted
from lsp_harness.events.tool_events import CheckpointCreated
from lsp_harness.kernel.checkpoints.checkpoints import Restoration, RestorationGuard
from lsp_harness.kernel.checkpoints.file_swap import FileSwap
from lsp_harness.permission.action import Action, Decision
from tests.support.checkpoint_folders import Make, read_tree

pytestmark = pytest.mark.process


async def test_named_files_are_restored_with_bytes_and_modes(kind: str, make: Make, root: Path, events: list[Any]):
    (root / "a.py").write_bytes(b"one\r\ntwo\n\xff no newline")
    (root / "run.sh").write_bytes(b"#!/bin/sh\n")
    (root / "run.sh").chmod(0o754)
    (root / "gone.txt").write_bytes(b"")
    before = read_tree(root)
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

    assert read_tree(root) == before
    assert not (root / "new").exists()
    assert created == CheckpointCreated(created.checkpoint_id, kind, ("a.py", "run.sh", "gone.txt", "new/deep/b.py"))
    paths = ("a.py", "gone.txt", "new/deep/b.py", "run.sh")
    reverted = EditReverted(created.checkpoint_id, paths, 3, done.backup)
    assert done == Restoration(reverted, ("new/deep/b.py",), {}, (), done.backup)
    assert events == [created, CheckpointCreated(done.backup, kind, paths), reverted]


async def test_an_undo_can_be_undone(kind: str, make: Make, root: Path):
    (root / "a").write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a"])
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)
    done = await checkpoints.restore(created.checkpoint_id)
    assert (root / "a").read_text() == "old"

    await checkpoints.restore(done.backup)
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
    before = read_tree(root)
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

    assert read_tree(root) == before
    assert created.kind == kind
    assert created.paths == ()
    assert done.skipped == {}


async def test_files_that_the_turn_did_not_change_stay(kind: str, make: Make, root: Path):
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
    before = read_tree(root)

    with pytest.raises(StaleDocument, match=r"^b was changed after the turn"):
        await checkpoints.restore(created.checkpoint_id)
    assert read_tree(root) == before

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


async def test_the_target_of_an_edited_link_is_restored(kind: str, make: Make, root: Path):
    (root / "target").write_text("old")
    (root / "link").symlink_to("target")
    checkpoints = make()
    created = await checkpoints.capture(["link"])
    (root / "link").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    await checkpoints.restore(created.checkpoint_id)
    assert (root / "target").read_text() == "old"
    assert (root / "link").is_symlink()


async def test_after_a_failed_restoration_all_files_are_unchanged(
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
    before = read_tree(root)
    put, calls = FileSwap.put, list[str]()

    def fail(swap: FileSwap, path: str) -> None:
        put(swap, path)
        calls.append(path)
        if len(calls) == 3:
            raise swap._make_failure(path, OSError(28, "No space left on device"))

    monkeypatch.setattr(FileSwap, "put", fail)
    with pytest.raises(FileError, match="nothing was restored"):
        await checkpoints.restore(created.checkpoint_id)
    monkeypatch.undo()

    assert read_tree(root) == before
    assert not [event for event in events if isinstance(event, EditReverted)]


async def test_the_gate_decides_about_a_restoration(kind: str, make: Make, root: Path):
    asked: list[Action] = []

    async def deny(action: Action) -> Decision:
        asked.append(action)
        return Decision("deny", "mode", "plan mode changes nothing")

    (root / "a").write_text("old")
    checkpoints = make(guard=RestorationGuard(deny))
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
    before = read_tree(root)
    checkpoints = make()
    created = await checkpoints.capture()
    (root / "inner" / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    await checkpoints.restore(created.checkpoint_id)
    assert read_tree(root) == before


async def test_a_cancelled_restoration_is_completed_and_recorded(
    kind: str, make: Make, root: Path, events: list[Any], monkeypatch: pytest.MonkeyPatch
):
    (root / "a").write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a"])
    (root / "a").write_text("new")
    await checkpoints.seal(created.checkpoint_id)
    loop, put = asyncio.get_running_loop(), FileSwap.put
    restoring = asyncio.ensure_future(checkpoints.restore(created.checkpoint_id, turn=1))

    def cancel(swap: FileSwap, path: str) -> None:
        loop.call_soon_threadsafe(restoring.cancel)
        put(swap, path)

    monkeypatch.setattr(FileSwap, "put", cancel)
    await asyncio.wait({restoring})

    assert restoring.cancelled()
    assert (root / "a").read_text() == "old"
    assert events[-1] == EditReverted(created.checkpoint_id, ("a",), 1, events[-2].checkpoint_id)


async def test_an_edit_of_this_program_is_recorded_before_its_write(kind: str, make: Make, root: Path):
    (root / "a").write_text("old")
    created = await make().capture_edit({root / "a": b"new", root / "d" / "b": b"created", root / "c": None})
    # killed before anything was written
    assert (await make().restore(created.checkpoint_id)).event.paths == ()

    (root / "a").write_text("new")
    (root / "d").mkdir()
    (root / "d" / "b").write_text("created")
    (root / "d" / "b").chmod(0o600)
    done = await make().restore(created.checkpoint_id)
    assert (done.event.paths, done.removed) == (("a", "d/b"), ("d/b",))
    assert read_tree(root) == {"a": (0o644, b"old")}
    await make().restore(done.backup)
    assert read_tree(root) == {"a": (0o644, b"new"), "d/b": (0o600, b"created")}


@pytest.mark.parametrize("is_sealed", [True, False])
async def test_a_save_of_the_user_after_an_edit_is_not_undone(kind: str, make: Make, root: Path, is_sealed: bool):
    for name in "ab":
        (root / name).write_text("old")
    checkpoints = make()
    created = await checkpoints.capture_edit({root / "a": b"new", root / "b": b"new"})
    (root / "a").write_text("new")
    (root / "b").write_text("by the user")
    if is_sealed:
        assert await checkpoints.seal(created.checkpoint_id) == ("a",)

    done = await checkpoints.restore(created.checkpoint_id, is_partial=True)
    assert (done.event.paths, done.event.kept, dict(done.skipped)) == (
        ("a",),
        ("b",),
        {"b": "it was changed after the turn"},
    )
    assert {name: (root / name).read_text() for name in "ab"} == {"a": "old", "b": "by the user"}
    with pytest.raises(StaleDocument, match=r"^b was changed"):
        await checkpoints.restore(created.checkpoint_id, is_partial=True)


async def test_changes_during_a_command_are_undone_only_on_request(kind: str, make: Make, root: Path):
    for name in "ab":
        (root / name).write_text("old")
    checkpoints, ids = make(), list[str]()
    ids.append((await checkpoints.capture_edit({root / "a": b"edited"})).checkpoint_id)
    (root / "a").write_text("edited")
    ids.append((await checkpoints.capture()).checkpoint_id)
    (root / "b").write_text("by the command, or by the user")
    (root / "c").write_text("by the command")
    await checkpoints.seal(ids[-1])

    seen = await checkpoints.preview(ids, with_commands=False)
    done = await checkpoints.restore(ids, with_commands=False, is_partial=True)
    assert (seen.event.paths, seen.unsure) == (done.event.paths, done.unsure) == (("a",), ("b", "c"))
    assert {name: (root / name).read_text() for name in "abc"} == {
        "a": "old",
        "b": "by the command, or by the user",
        "c": "by the command",
    }
    rest = await checkpoints.restore(ids, is_partial=True)
    assert (rest.event.paths, rest.removed) == (("b", "c"), ("c",))
    assert (root / "b").read_text() == "old"


async def test_the_texts_before_and_after_a_turn_can_be_read(kind: str, make: Make, root: Path, tmp_path: Path):
    (root / "a").write_text("old")
    checkpoints, ids = make(), list[str]()
    ids.append((await checkpoints.capture_edit({root / "a": b"edited"})).checkpoint_id)
    (root / "a").write_text("edited")
    ids.append((await checkpoints.capture()).checkpoint_id)
    (root / "a").write_text("changed by a command")
    await checkpoints.seal(ids[-1])
    (root / "a").write_text("by the user")

    found = await checkpoints.texts(ids, ["a", "unknown"], tmp_path / "texts")
    assert {path: {name: file.read_text() for name, file in files.items()} for path, files in found.items()} == {
        "a": {"before": "old", "after": "changed by a command"}
    }


async def test_a_protected_file_is_kept_and_other_files_are_restored(kind: str, make: Make, root: Path):
    async def allow(action: Action) -> Decision:
        assert action.paths == (root / "a",)
        return Decision("allow", "mode")

    for name in "ab":
        (root / name).write_text("old")
    guard = RestorationGuard(allow, lambda path: "it is protected" if path.name == "b" else "")
    checkpoints = make().for_undo(guard, lambda event: None)
    created = await checkpoints.capture()
    for name in "ab":
        (root / name).write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    done = await checkpoints.restore(created.checkpoint_id)
    assert done.event.paths == ("a",)
    assert dict(done.skipped) == {"b": "it may not be changed: it is protected"}
    assert (root / "b").read_text() == "new"


@pytest.mark.parametrize("saves", ["in place", "by a new file", "before it is moved"])
async def test_a_save_in_the_moment_of_the_restoration_is_not_lost(
    kind: str, make: Make, root: Path, saves: str, monkeypatch: pytest.MonkeyPatch
):
    for name in "ab":
        (root / name).write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a", "b", "c"])
    for name in "abc":
        (root / name).write_text("new")
    await checkpoints.seal(created.checkpoint_id)
    check = FileSwap._is_there

    def save(swap: FileSwap, file: Path) -> bool:
        if file.name == ("c" if saves == "before it is moved" else "b"):
            if saves == "by a new file":
                (root / "b.tmp").write_text("by the user")
                (root / "b.tmp").rename(root / "b")
            else:
                file.write_text("by the user")
        return check(swap, file)

    monkeypatch.setattr(FileSwap, "_is_there", save)
    with pytest.raises(FileError, match="another program has written it just now"):
        await checkpoints.restore(created.checkpoint_id)
    changed = "c" if saves == "before it is moved" else "b"
    assert read_tree(root) == {name: (0o644, b"by the user" if name == changed else b"new") for name in "abc"}


async def test_a_killed_restoration_is_completed_by_the_next_one(
    kind: str, make: Make, root: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in "ab":
        (root / name).write_text("old")
    checkpoints = make()
    created = await checkpoints.capture(["a", "b"])
    for name in "ab":
        (root / name).write_text("new")
    await checkpoints.seal(created.checkpoint_id)

    class Killed(BaseException):
        pass

    def kill(swap: FileSwap, path: str) -> None:
        if path == "b":
            swap._release()
            raise Killed
        put(swap, path)

    put = FileSwap.put
    monkeypatch.setattr(FileSwap, "put", kill)
    with pytest.raises(Killed):
        await checkpoints.restore(created.checkpoint_id)
    monkeypatch.undo()
    assert {name: (root / name).read_text() for name in "ab"} == {"a": "old", "b": "new"}
    assert list(root.glob(".lsp-harness-*"))

    await make().restore(created.checkpoint_id)
    assert read_tree(root) == dict.fromkeys("ab", (420, b"old"))
