"""Tests of the reports about a folder: each change is reported once, with its kind."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lsp_harness.workspace import folder_stamps
from lsp_harness.workspace.folder_stamps import ChangedFile
from lsp_harness.workspace.folder_state import FolderState


class WatchedState:
    """The state of one folder, and its reports since the last look."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = FolderState(lambda: [root])
        self._reported: list[tuple[str, str]] = []
        self.state.listeners.append(self._record_changes)

    def _record_changes(self, changes: Sequence[ChangedFile]) -> None:
        self._reported += [(str(change.path.relative_to(self.root)), change.kind) for change in changes]

    async def look(self) -> list[tuple[str, str]]:
        await self.state.refresh()
        return self.take()

    def take(self) -> list[tuple[str, str]]:
        reported, self._reported = sorted(self._reported), []
        return reported


@pytest.fixture
def watch(tmp_path: Path) -> WatchedState:
    for name in ("a.py", "b.py", "data/one.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    return WatchedState(tmp_path)


def rename_folder(root: Path) -> None:
    (root / "data").rename(root / "input")


def swap_files(root: Path) -> None:
    (root / "a.py").rename(root / "c.py")
    (root / "b.py").rename(root / "a.py")
    (root / "c.py").rename(root / "b.py")


def keep_the_time(root: Path) -> None:
    status = (root / "a.py").stat()
    (root / "a.py").write_text("2")
    os.utime(root / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))


def install(root: Path) -> None:
    (root / ".venv/lib/python3.11/site-packages/tables").mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text("")


def write_caches(root: Path) -> None:
    for folder in (".git/objects", "__pycache__", ".mypy_cache"):
        (root / folder).mkdir(parents=True)
        (root / folder / "x").write_text("1")
    (root / ".mypy_cache/CACHEDIR.TAG").write_text("")


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda root: (root / "new.py").write_text("1"), [("new.py", "created")]),
        # of the same size, and perhaps within one tick of the clock of the disk
        (lambda root: (root / "a.py").write_text("2"), [("a.py", "changed")]),
        (keep_the_time, [("a.py", "changed")]),
        (lambda root: (root / "a.py").unlink(), [("a.py", "deleted")]),
        (swap_files, [("a.py", "changed"), ("b.py", "changed")]),
        (rename_folder, [("data/one.json", "deleted"), ("input/one.json", "created")]),
        (install, [(".venv/lib/python3.11/site-packages/tables", "created")]),
        (write_caches, []),
    ],
)
async def test_a_look_lists_the_change_of_each_file(
    watch: WatchedState, act: Callable[[Path], object], expected: list[tuple[str, str]]
) -> None:
    assert await watch.look() == []
    act(watch.root)
    assert await watch.look() == expected
    assert await watch.look() == []


async def test_a_branch_is_a_change(watch: WatchedState) -> None:
    (watch.root / ".git").mkdir()
    (watch.root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    await watch.look()
    (watch.root / ".git/HEAD").write_text("ref: refs/heads/next\n")
    assert await watch.look() == [(".git/HEAD", "changed")]


async def test_two_reports_of_one_change_count_once_with_the_kind_on_disk(watch: WatchedState) -> None:
    await watch.look()
    (watch.root / "new.py").write_text("1")
    for kind in ("changed", "created"):
        watch.state.record([(watch.root / "new.py", kind)])  # type: ignore[list-item]
    assert watch.take() == [("new.py", "created")]
    assert await watch.look() == []
    # nothing happened, whatever is said
    watch.state.record([(watch.root / "a.py", "changed"), (watch.root / "gone.py", "deleted")])
    assert watch.take() == []


async def test_before_the_first_look_reports_are_used_unchecked(watch: WatchedState) -> None:
    watch.state.record([(watch.root / "a.py", "created"), (watch.root / "gone.py", "deleted")])
    assert watch.take() == [("a.py", "created"), ("gone.py", "deleted")]
    (watch.root / "a.py").unlink()
    assert await watch.look() == [("a.py", "deleted")]


async def test_a_report_about_a_folder_becomes_reports_about_its_files(watch: WatchedState) -> None:
    await watch.look()
    rename_folder(watch.root)
    watch.state.record([(watch.root / "data", "deleted"), (watch.root / "input", "created")])
    assert await watch.look() == [("data/one.json", "deleted"), ("input/one.json", "created")]


async def test_changes_of_the_file_itself_are_left_out(watch: WatchedState) -> None:
    await watch.look()
    before = watch.state.changes_without(watch.root / "a.py")
    (watch.root / "a.py").write_text("2")
    await watch.look()
    assert watch.state.changes_without(watch.root / "a.py") == before
    (watch.root / "b.py").write_text("2")
    await watch.look()
    assert watch.state.changes_without(watch.root / "a.py") == before + 1


async def test_a_folder_with_too_many_files_may_always_be_another_one(
    watch: WatchedState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_stamps, "MAX_ENTRIES", 1)
    monkeypatch.setattr("lsp_harness.workspace.folder_state.FEW_ENTRIES", 1)
    monkeypatch.setattr(folder_stamps.look_at_folder, "__defaults__", (1,))
    await watch.look()
    before = watch.state.changes_without(None)
    await watch.look()
    assert watch.state.changes_without(None) > before


async def test_a_change_of_the_settings_file_of_the_user_is_reported(
    watch: WatchedState, tmp_path_factory: pytest.TempPathFactory
):
    file = tmp_path_factory.mktemp("home") / "config.toml"
    heard: list[ChangedFile] = []
    watch.state.listeners = [heard.extend]
    watch.state.extra_files = lambda: [file]
    await watch.state.refresh()
    file.write_text("a = 1\n")
    await watch.state.refresh()
    assert [change.path for change in heard] == [file]


async def test_a_new_named_pipe_is_not_opened(watch: WatchedState) -> None:
    await watch.look()
    # only a file that was made just now is read
    os.mkfifo(watch.root / "pyproject.toml")
    assert await watch.look() == [("pyproject.toml", "created")]
