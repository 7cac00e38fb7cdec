"""Tests of the folder to which a file belongs, by the identity of both on disk."""

import os
from pathlib import Path

import pytest

from lsp_harness.files import folders
from lsp_harness.files.folders import (
    find_files_shown_as,
    find_folder,
    find_path_inside,
    find_paths_inside,
    is_same_file,
)


@pytest.fixture
def linked_folders(tmp_path: Path) -> Path:
    """Make a folder `real` with a file, and links to the folder, a file, an inner and an outer folder."""
    (tmp_path / "real" / "app").mkdir(parents=True)
    (tmp_path / "real" / "app" / "main.py").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "inner").symlink_to("app")
    (tmp_path / "real" / "other.py").symlink_to("app/main.py")
    (tmp_path / "real" / "out").symlink_to("../outside")
    (tmp_path / "real" / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "roots", "root", "path"),
    [
        ("real/app/main.py", ["real"], "real", "app/main.py"),
        ("real/app/main.py", ["link"], "link", "app/main.py"),
        ("link/app/main.py", ["real"], "real", "app/main.py"),
        ("link/app/main.py", ["real", "link"], "link", "app/main.py"),
        ("real/app/main.py", ["link", "real"], "real", "app/main.py"),
        ("link/app/main.py", ["link", "real/app"], "real/app", "main.py"),
        ("link/app/new/main.py", ["real"], "real", "app/new/main.py"),
        ("real/x/../app/main.py", ["link"], "link", "app/main.py"),
        ("outside/../link/app/main.py", ["real"], "real", "app/main.py"),
        ("real/inner/main.py", ["real"], "real", "app/main.py"),
        ("real/inner/main.py", ["real", "real/app"], "real/app", "main.py"),
        ("real/other.py", ["link"], "link", "app/main.py"),
        ("real/out/a.py", ["real"], "real", "out/a.py"),
        ("real/out/a.py", ["real", "outside"], "outside", "a.py"),
        ("real/loop/a.py", ["real"], "real", "loop/a.py"),
        ("real", ["link"], "link", "."),
        ("realer/a.py", ["real"], None, ""),
        ("outside/a.py", ["real"], None, ""),
        ("outside/a.py", [], None, ""),
        ("gone/a.py", ["gone"], "gone", "a.py"),
        ("gone/x/../../away/a.py", ["gone"], None, ""),
    ],
)
def test_a_file_is_in_the_innermost_folder(
    linked_folders: Path, file: str, roots: list[str], root: str | None, path: str
):
    folder = find_folder(linked_folders / file, [linked_folders / name for name in roots])
    assert (folder and (folder.folder, str(folder.path))) == (root and (linked_folders / root, path))


def test_a_path_without_a_folder_is_in_no_folder(linked_folders: Path):
    assert find_folder(None, [linked_folders]) is None
    assert find_path_inside(Path("/a\0b"), linked_folders) is None


def test_a_change_of_a_link_is_one_of_both(linked_folders: Path):
    assert find_paths_inside(linked_folders / "link" / "other.py", linked_folders / "real") == {
        Path("other.py"),
        Path("app/main.py"),
    }
    assert find_paths_inside(linked_folders / "link" / "app" / "main.py", linked_folders / "real") == {
        Path("app/main.py")
    }
    assert find_paths_inside(linked_folders / "outside" / "a.py", linked_folders / "real") == set()


def test_the_same_folder_by_two_names(linked_folders: Path):
    assert is_same_file(linked_folders / "link", linked_folders / "real")
    assert is_same_file(linked_folders / "gone", linked_folders / "gone")
    assert not is_same_file(linked_folders / "gone", linked_folders / "lost")
    assert not is_same_file(linked_folders / "real", linked_folders / "outside")


@pytest.mark.parametrize("name", ["APP/MAIN.PY", "App/main.py", "app/main.py"])
def test_a_case_insensitive_file_system_keeps_its_own_spelling(
    linked_folders: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    identity = folders.read_file_identity

    def folding(path: str | Path) -> folders.FileIdentity | None:
        """Return the identity of a file as a case-insensitive file system finds it."""
        folder_path = Path("/")
        for part in Path(path).parts[1:]:
            names = os.listdir(folder_path) if folder_path.is_dir() else []
            folder_path /= next((each for each in names if each.casefold() == part.casefold()), part)
        return identity(folder_path)

    monkeypatch.setattr(folders, "read_file_identity", folding)
    assert find_folder(linked_folders / "real" / name, [linked_folders / "real"]) == (
        linked_folders / "real",
        Path("app/main.py"),
    )
    assert find_folder(linked_folders / "REAL" / name, [linked_folders / "real"]) == (
        linked_folders / "real",
        Path("app/main.py"),
    )


def test_the_file_that_a_client_cannot_spell_is_found(tmp_path: Path):
    folder = os.fsencode(tmp_path) + b"/inform\xe1tica"
    os.mkdir(folder)
    assert find_files_shown_as(tmp_path / "inform\ufffdtica" / "a.py") == [Path(os.fsdecode(folder + b"/a.py"))]
    assert find_files_shown_as(tmp_path / "a.py") == []
