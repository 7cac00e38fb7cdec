"""Files get the content and the mode that they had before a turn."""

import asyncio
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_harness.errors import FileError, FileMissing, HarnessError, StaleDocument, UsageError
from lsp_harness.session.checkpoints import content_store, file_swap
from lsp_harness.session.checkpoints.checkpoints import Checkpoints
from lsp_harness.session.checkpoints.file_state import MAX_FILE_BYTES, content_digest
from lsp_harness.session.events.code_events import EditReverted
from lsp_harness.session.events.tool_events import CheckpointCreated
from lsp_harness.session.permission.action import Action, Decision

Make = Callable[..., Checkpoints]
Texts = dict[str, tuple[int, bytes]]
KINDS = ("git", "copies")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    if request.param == "copies":
        hide_git(monkeypatch)
    # settings of the user that would change texts
    hostile = tmp_path / "gitconfig"
    hostile.write_text(
        '[core]\n autocrlf = true\n eol = crlf\n hooksPath = /no/such\n fsmonitor = /no/such\n[filter "x"]\n'
        " clean = rev\n smudge = rev\n required = true\n"
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(hostile))
    monkeypatch.setenv("GIT_INDEX_FILE", "/no/such/index")
    monkeypatch.setenv("GIT_DIR", "/no/such/git")
    return request.param


def hide_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_store.shutil, "which", lambda name: None)


@pytest.fixture
def events() -> list[Any]:
    return []


@pytest.fixture
def make(root: Path, tmp_path: Path, events: list[Any]) -> Make:
    def make(**options: Any) -> Checkpoints:
        return Checkpoints(root, tmp_path / "state", events.append, **options)

    return make


def texts(root: Path) -> Texts:
    """Return the mode and the content of each file, and the target of each link."""
    found: Texts = {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *(name for name in folders if (Path(folder) / name).is_symlink())]:
            path = Path(folder) / name
            content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(root))] = (
                0 if path.is_symlink() else stat.S_IMODE(path.stat().st_mode),
                content,
            )
    return found


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


@pytest.mark.parametrize(
    "script", ["exit 1", "echo nonsense", "kill -9 $$", "exec sleep 1000"], ids=["fails", "lies", "dies", "hangs"]
)
async def test_with_a_broken_git_copies_are_made(
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
    assert texts(root) == {}


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


async def test_when_git_takes_too_long_copies_are_made(
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


async def test_without_time_for_all_files_the_last_changed_ones_are_saved(
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
    [file] = tmp_path.rglob(f"{ids[0]}.json.z")
    long_ago = time.time() - 8 * 24 * 3600
    os.utime(file, (long_ago, long_ago))
    for path in [path for path in (tmp_path / "state").rglob("*") if path != file and path.is_file()]:
        os.utime(path, (time.time() - 10, time.time() - 10))

    assert await checkpoints.prune() == 1
    with pytest.raises(FileMissing):
        await checkpoints.restore(ids[0])
    (root / "a").write_text("changed")
    await checkpoints.restore(ids[1], force=True)
    assert (root / "a").read_text() == "new"
    if kind == "copies":
        assert not list(tmp_path.rglob(content_digest(b"old")[2:]))


async def test_our_own_files_are_private(kind: str, make: Make, root: Path, tmp_path: Path):
    (root / "a").write_text("old")
    await make().capture()

    assert stat.S_IMODE((tmp_path / "state" / "checkpoints").stat().st_mode) == 0o700


NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/f", "x.sh", "g"])
CONTENTS = st.binary(max_size=20) | st.sampled_from([b"a\r\nb", b"\n", b"a\r", "ä\n".encode()])
STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "delete", "rename", "mode", "link"]), NAMES, NAMES, CONTENTS), max_size=12
)


def do_steps(root: Path, steps: Iterable[tuple[str, str, str, bytes]]) -> None:
    """Change files at random. A step that is not possible is left out."""
    for step, name, other, content in steps:
        path, target = root / name, root / other
        try:
            match step:
                case "write":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                case "delete":
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
                case "rename":
                    target.parent.mkdir(parents=True, exist_ok=True)
                    path.rename(target)
                case "mode":
                    path.chmod(0o600 + len(content) % 0o200)
                case _:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.symlink_to(other)
        except OSError:
            continue


@pytest.mark.parametrize("kind_name", KINDS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=STEPS, second=STEPS)
def test_any_changes_are_undone(kind_name: str, first: Any, second: Any, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("random")
    root = folder / "root"
    root.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        if kind_name == "copies":
            hide_git(patch)
        do_steps(root, first)
        before = texts(root)

        async def run() -> None:
            checkpoints = Checkpoints(root, folder / "state", lambda event: None)
            created = await checkpoints.capture()
            do_steps(root, second)
            await checkpoints.seal(created.checkpoint_id)
            done = await checkpoints.restore(created.checkpoint_id)
            assert done.skipped == {}

        asyncio.run(run())
    assert texts(root) == before
