"""Tests of reading edits from the development set and from the history of a repository."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.engine.real_edits import RealEdit, choose_edits_of_different_files, load_real_edits
from lsp_harness.errors import UsageError


def git(repo: Path, *arguments: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(repo), *author, *arguments], check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init")
    file = folder / "a.py"
    file.write_text("def f(): 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def commit(repo: Path, name: str, text: str) -> None:
    (repo / name).write_text(text)
    git(repo, "add", ".")
    git(repo, "commit", "-m", "more")


def test_languages_of_the_set_take_turns(eval_data: Path) -> None:
    edits = load_real_edits(None)
    assert [edit.language for edit in edits[:6]] == ["python", "rust", "typescript"] * 2
    assert edits[0].text == "result = price_1(value) + 1"
    assert edits[0].before.endswith("# 0\n")


def test_without_the_set_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_HARNESS_EVAL_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=r"set LSP_HARNESS_EVAL_DATA .* --repo"):
        load_real_edits(None)


def test_a_set_that_is_no_gzip_file_cannot_be_read(eval_data: Path) -> None:
    (eval_data / "fim_repo.jsonl.gz").write_text("{}")
    with pytest.raises(UsageError, match="cannot be read"):
        load_real_edits(None)


def test_lines_that_a_commit_added_are_an_edit_at_their_place(repo: Path) -> None:
    commit(repo, "a.py", "def f(): 1\n    if f is None:\n        return 1\n")
    [edit] = load_real_edits(repo)
    assert edit == RealEdit("a.py", "python", "def f(): 1\n    ", "\n", "if f is None:\n        return 1")
    assert edit.before + edit.text + edit.after == (repo / "a.py").read_text()


def test_changed_lines_other_texts_and_secrets_are_no_edits(repo: Path) -> None:
    commit(repo, "a.py", "def a_changed_line(): 1\n")
    commit(repo, "notes.txt", "a line of text that nobody can parse\n")
    commit(repo, "key.py", f"token = 'ghp_{'a' * 36}'\nanother = 'line of code'\n")
    with pytest.raises(UsageError, match="no usable edit"):
        load_real_edits(repo)


def test_a_folder_that_is_no_repository_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read as a git repository"):
        load_real_edits(tmp_path)


def test_edits_of_different_files_come_first_and_then_repeat() -> None:
    edits = [RealEdit(path, "python", "", "", path) for path in ("a", "a", "b")]
    assert [edit.path for edit in choose_edits_of_different_files(edits, 3)] == ["a", "b", "a"]
