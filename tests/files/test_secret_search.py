"""The search for files with secrets in a folder."""

import os
from pathlib import Path

import pytest

from lsp_harness.files.secret_search import find_secret_files
from lsp_harness.files.walk import TooManyFilesError


def test_secrets_are_found_by_their_names_also_in_ignored_folders(tmp_path: Path) -> None:
    for name in (".env", "a/key.pem", "node_modules/x/credentials.json", ".ssh/config", "a/code.py", ".ENV.local"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = {path.relative_to(tmp_path).as_posix() for path in find_secret_files([tmp_path])}
    # a folder for secrets counts as a whole
    assert found == {".env", ".ENV.local", "a/key.pem", "node_modules/x/credentials.json", ".ssh"}


def test_other_names_of_a_secret_are_found(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("")
    (tmp_path / "deep").mkdir()
    os.link(tmp_path / ".env", tmp_path / "deep/notes.txt")
    (tmp_path / "other.txt").write_text("")
    os.link(tmp_path / "other.txt", tmp_path / "more.txt")
    assert set(find_secret_files([tmp_path])) == {tmp_path / ".env", tmp_path / "deep/notes.txt"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / ".env").symlink_to("missing")
    assert find_secret_files([tmp_path]) == [tmp_path / ".env"]


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / str(number)).write_text("")
    with pytest.raises(TooManyFilesError, match="too many to look for secrets"):
        find_secret_files([tmp_path], max_entries=3)
