"""Undoing what commands did: the whole folder is copied before each command that may change files."""

import asyncio
from pathlib import Path

import pytest

from lsp_harness.errors import FileMissing, UsageError
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_undo import UndoWish
from lsp_harness.wire.event import Event
from tests.sessions.conftest import OpenScripted, ask, make_tool_call, say


def make_bash_call(command: str) -> dict[str, object]:
    return make_tool_call("bash", command=command, execution="inline")


def read_checkpoints(opened: OpenSession) -> list[list[str]]:
    found = (event for event in read_log(opened.session.log.path) if event.type == "checkpoint.created")
    return [event.data["paths"] for event in found]


async def test_an_undo_restores_removed_renamed_and_created_files(open_scripted: OpenScripted, tmp_path: Path):
    folder = tmp_path / "project"
    (folder / "old.bin").write_bytes(bytes(range(256)))
    opened = await open_scripted(make_bash_call("rm geo.py; mv old.bin new.bin; mkdir d; echo x > d/x"), say("done"))
    await ask(opened, "go")
    assert sorted(path.name for path in folder.iterdir()) == ["d", "new.bin"]
    assert read_checkpoints(opened) == [["d/x", "geo.py", "new.bin", "old.bin"]]
    await opened.undo(UndoWish(with_commands=True))
    assert (folder / "geo.py").read_text() == "PI = 3\n"
    assert (folder / "old.bin").read_bytes() == bytes(range(256))
    assert sorted(path.name for path in folder.iterdir()) == ["geo.py", "old.bin"]


async def test_an_edit_and_a_command_of_one_turn_are_undone_together(open_scripted: OpenScripted, tmp_path: Path):
    opened = await open_scripted(
        make_tool_call("edit", path="geo.py", old="PI = 3", new="PI = 4"), make_bash_call("rm geo.py"), say("done")
    )
    await ask(opened, "go")
    await opened.undo(UndoWish(with_commands=True))
    assert (tmp_path / "project" / "geo.py").read_text() == "PI = 3\n"


async def test_a_command_without_changes_is_no_turn_to_undo(open_scripted: OpenScripted, tmp_path: Path):
    opened = await open_scripted(
        make_bash_call("echo 1 > made"),
        say("a"),
        make_bash_call("true; python3 -c pass"),
        say("b"),
        make_bash_call("cat geo.py"),
        say("c"),
    )
    for prompt in "abc":
        await ask(opened, prompt)
    assert read_checkpoints(opened) == [["made"]]
    await opened.undo(UndoWish(with_commands=True))
    assert not (tmp_path / "project" / "made").exists()
    with pytest.raises(UsageError, match="nothing to undo"):
        await opened.undo(UndoWish(with_commands=True))


async def test_edits_of_a_subagent_are_undone_with_the_turn_of_its_parent(open_scripted: OpenScripted, tmp_path: Path):
    opened = await open_scripted(
        make_tool_call("agent", prompt="x", preset="edit"),
        make_tool_call("create", path="made.py", text="x = 1\n"),
        say("made"),
        say("ok"),
    )
    await ask(opened, "go")
    assert (tmp_path / "project" / "made.py").exists()
    await opened.undo(UndoWish(with_commands=True))
    assert not (tmp_path / "project" / "made.py").exists()


async def test_a_command_runs_although_no_copy_can_be_made(
    open_scripted: OpenScripted, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    opened = await open_scripted(make_bash_call("echo 1 > made"), say("a"))
    (tmp_path / "home" / "state").mkdir(parents=True, exist_ok=True)
    (tmp_path / "home" / "state" / "checkpoints").write_text("in the way")
    assert (await ask(opened, "go")).reason == "completed"
    assert (tmp_path / "project" / "made").exists()
    assert "what commands change cannot be undone" in caplog.text


async def test_a_folder_that_takes_too_long_to_copy_is_copied_only_once(
    open_scripted: OpenScripted, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lsp_harness.sessions.edit_copies.FOLDER_LIMIT_S", 0.0)
    opened = await open_scripted(make_bash_call("echo 1 > made"), make_bash_call("echo 2 > made"), say("a"))
    await ask(opened, "go")
    assert read_checkpoints(opened) == []
    assert caplog.text.count("too many files") == 1


async def test_a_written_edit_succeeds_although_its_checkpoint_is_gone(
    open_scripted: OpenScripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def fail(checkpoints: Checkpoints, checkpoint_id: str) -> tuple[str, ...]:
        raise FileMissing("there is no checkpoint")

    monkeypatch.setattr(Checkpoints, "seal", fail)
    opened = await open_scripted(make_tool_call("edit", path="geo.py", old="PI = 3", new="PI = 4"), say("done"))
    await ask(opened, "go")
    ends = [
        event.type for event in read_log(opened.session.log.path) if event.type in ("tool.completed", "tool.failed")
    ]
    assert ends == ["tool.completed"]
    # it was noted before it was written
    await opened.undo()
    assert (tmp_path / "project" / "geo.py").read_text() == "PI = 3\n"


async def test_an_ordinary_undo_keeps_changes_during_a_command(open_scripted: OpenScripted, tmp_path: Path):
    opened = await open_scripted(
        make_tool_call("edit", path="geo.py", old="PI = 3", new="PI = 4"), make_bash_call("echo x > made"), say("done")
    )
    await ask(opened, "go")
    result = await opened.undo()
    assert (result.paths, result.commands) == (("geo.py",), ("made",))
    assert (tmp_path / "project" / "made").exists()
    await opened.undo(UndoWish(with_commands=True))
    assert not (tmp_path / "project" / "made").exists()
    assert (await opened.undo(UndoWish(is_redo=True))).paths == ("made",)


async def test_an_unconfirmed_undo_needs_a_permission(open_scripted: OpenScripted, tmp_path: Path):
    opened = await open_scripted(make_tool_call("create", path="made.py", text="x = 1\n"), say("done"), has_person=True)
    await opened.set_permission_mode("acceptEdits")
    await ask(opened, "go")
    await opened.set_permission_mode("ask")
    asked = asyncio.Queue[Event]()
    opened.session.log.listeners.append(asked.put_nowait)
    undoing = asyncio.ensure_future(opened.undo(is_confirmed=False))
    question = await asked.get()
    await asyncio.sleep(0)
    opened.answer_question(str(question.data["request_id"]), {"decision": "deny"})
    with pytest.raises(UsageError, match="not allowed"):
        await undoing
    assert (tmp_path / "project" / "made.py").exists()
    assert (await opened.undo()).removed == ("made.py",)
