"""The walk over a workspace: the files that it finds, and the reasons for the files that it skips."""

import os
import subprocess
from pathlib import Path

import pytest

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.walk import SkippedFile, WalkedFile, walk


def write_files(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n")
    return root


def walk_names(root: Path) -> list[str]:
    return sorted(file.path for file in walk(root, IgnoreFiles([root])) if isinstance(file, WalkedFile))


def skip_reasons(root: Path) -> dict[str, str]:
    return {skip.path: skip.reason for skip in walk(root, IgnoreFiles([root])) if isinstance(skip, SkippedFile)}


def test_files_are_yielded_with_their_time_and_size(tmp_path: Path):
    write_files(tmp_path, "a.py", "b/c.py")
    told = (tmp_path / "a.py").stat()
    assert WalkedFile("a.py", told.st_mtime_ns, told.st_size) in list(walk(tmp_path, IgnoreFiles()))
    assert walk_names(tmp_path) == ["a.py", "b/c.py"]


@pytest.mark.process
def test_the_walk_finds_the_same_files_as_git_add(tmp_path: Path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write_files(
        tmp_path, "a.py", "out/b.py", "src/c.py", "src/d.log", "src/keep.log", "src/gen/e.py", "deep/x/out/f.py"
    )
    (tmp_path / ".gitignore").write_text("/out\n*.log\n")
    (tmp_path / "src/.gitignore").write_text("!keep.log\ngen/\n!gen/e.py\n")
    (tmp_path / ".git/info/exclude").write_text("deep/x\n")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "XDG_CONFIG_HOME": str(tmp_path / "none")}
    asked = ["git", "-C", str(tmp_path), "ls-files", "--others", "--exclude-standard"]
    git = subprocess.run(asked, check=True, env=environment, capture_output=True, text=True).stdout.split()
    assert walk_names(tmp_path) == sorted(git)


def test_our_own_ignore_file_has_the_last_word(tmp_path: Path):
    write_files(tmp_path, "a.py", "b.py", "c.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / ".lspharnessignore").write_text("!a.py\nb.py\n")
    assert walk_names(tmp_path) == [".gitignore", ".lspharnessignore", "a.py", "c.py"]


def test_installed_and_cached_files_are_skipped(tmp_path: Path):
    write_files(
        tmp_path, "a.py", "node_modules/b.js", "env/pyvenv.cfg", "env/lib/c.py", "target/CACHEDIR.TAG", "target/d.rs"
    )
    assert walk_names(tmp_path) == ["a.py"]


def test_an_installed_folder_can_be_opened_as_a_workspace(tmp_path: Path):
    write_files(tmp_path, "pyvenv.cfg", "lib/c.py")
    assert walk_names(tmp_path) == ["lib/c.py", "pyvenv.cfg"]


def test_an_ignored_folder_can_be_opened_as_a_workspace(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    write_files(tmp_path, "versions/lib/a.py", "versions/lib/b.log")
    (tmp_path / ".gitignore").write_text("/versions/\n")
    (tmp_path / "versions/lib/.gitignore").write_text("*.log\n")
    assert walk_names(tmp_path / "versions/lib") == [".gitignore", "a.py"]
    assert walk_names(tmp_path / "versions") == ["lib/.gitignore", "lib/a.py"]
    assert not IgnoreFiles([tmp_path / "versions"]).ignoring_file(tmp_path / "versions/lib/a.py")
    assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "versions/lib/a.py") == ".gitignore"


def test_links_are_not_followed(tmp_path: Path):
    write_files(tmp_path, "in/a.py", "elsewhere/b.py")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/b.py").symlink_to(tmp_path / "elsewhere/b.py")
    assert walk_names(tmp_path / "in") == ["a.py"]


def test_a_folder_that_cannot_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_files(tmp_path, "a.py", "shut/b.py")
    scandir = os.scandir

    def shut(folder: str):
        # root, who may run this, can read everything
        if folder.endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", shut)
    assert skip_reasons(tmp_path) == {"shut": "permission denied"}
    assert walk_names(tmp_path) == ["a.py"]


def test_a_folder_that_disappears_is_reported(tmp_path: Path):
    write_files(tmp_path, "a.py", "gone/b.py")
    walked = walk(tmp_path, IgnoreFiles())
    assert next(walked) == WalkedFile("a.py", (tmp_path / "a.py").stat().st_mtime_ns, 6)
    (tmp_path / "gone/b.py").unlink()
    (tmp_path / "gone").rmdir()
    assert list(walked) == [SkippedFile("gone", "no such file or directory")]


def test_secrets_are_reported_only_by_their_names(tmp_path: Path):
    write_files(tmp_path, "a.py", ".env", "keys/id_rsa")
    assert walk_names(tmp_path) == ["a.py"]
    assert skip_reasons(tmp_path) == {
        ".env": "a file for secrets, by its name",
        "keys/id_rsa": "a file for secrets, by its name",
    }


def test_a_name_that_is_not_utf_8_is_reported(tmp_path: Path):
    name = os.fsdecode(b"\xff.py")
    write_files(tmp_path, "a.py", name)
    assert walk_names(tmp_path) == ["a.py"]
    assert skip_reasons(tmp_path) == {"?.py": "its name is not UTF-8"}
