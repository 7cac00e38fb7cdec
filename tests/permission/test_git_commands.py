"""Commands of git that only read: they print no secrets of the index or the history, and start no programs."""

from pathlib import Path

import pytest

from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.protected_paths import ProtectedPaths
from tests.permission.gates import decide, make_bash_action
from tests.permission.small_project import make_two_files, run_git

pytestmark = pytest.mark.process


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_two_files(tmp_path / "project")


def test_git_prints_no_secret_file_of_its_index(root: Path) -> None:
    entry = bytes(60) + (len(b".env")).to_bytes(2, "big") + b".env"
    (root / ".git" / "objects").mkdir(parents=True)
    (root / ".git" / "index").write_bytes(b"DIRC" + b"\0\0\0\2" + b"\0\0\0\1" + entry + bytes(26))
    assert decide(root, "git grep KEY", "ask") == "ask"
    assert decide(root, "git log -p", "auto") == "ask"
    assert decide(root, "git status") == "allow"


PRINTING = [
    *("git log -p", "git log --binary", "git log --color-words", "git log --patch-with-raw", "git log --check"),
    *("git show", "git show --stat HEAD~1:x.pem", "git show -s HEAD~1:x.pem", "git grep k HEAD~1", "git diff HEAD~1"),
    *("git diff --cached", "git cat-file -p HEAD~1:x.pem", "git stash show -p", "git for-each-ref --format='%(raw)'"),
]
"""Commands of git that print what stands in files of earlier commits."""


def test_git_prints_no_secret_of_its_history(root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "one")
    assert all(decide(root, command) == "allow" for command in PRINTING[:6])
    run_git(root, "checkout", "-q", "-b", "side")
    (root / "x.pem").write_text("k\n")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "two")
    run_git(root, "rm", "-q", "x.pem")
    run_git(root, "commit", "-q", "-m", "three")
    run_git(root, "checkout", "-q", "main")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "four")
    run_git(root, "merge", "-q", "--no-edit", "side")
    run_git(root, "branch", "-q", "-D", "side")
    run_git(root, "config", "log.showRoot", "false")
    for command in PRINTING:
        assert decide(root, command) == "deny", command
    for command in ("git log --stat -3", "git diff", "git grep x", "git blame a.py", "git status", "git log -S x"):
        assert decide(root, command) == "allow", command


def test_a_secret_that_only_a_merge_or_the_first_commit_has_is_found(root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "config", "log.showRoot", "false")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "one")
    run_git(root, "checkout", "-q", "-b", "side")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "two")
    run_git(root, "checkout", "-q", "main")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "three")
    assert decide(root, "git log -p") == "allow"
    run_git(root, "merge", "-q", "--no-commit", "side")
    (root / "x.pem").write_text("k\n")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "four")
    run_git(root, "rm", "-q", "x.pem")
    run_git(root, "commit", "-q", "-m", "five")
    assert decide(root, "git log -p") == "deny"
    run_git(root, "checkout", "-q", "--orphan", "other")
    run_git(root, "reset", "-q", "--hard")
    run_git(root, "branch", "-q", "-D", "main", "side")
    (root / ".git" / "logs" / "HEAD").unlink()
    (root / "a.txt").write_text("k\n")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "one")
    assert decide(root, "git log -p") == "allow"


def test_git_status_prints_no_changed_secret(root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    (root / ".env").write_text("k\n")
    run_git(root, "add", "-f", ".")
    assert decide(root, "git status -v") == "deny"
    assert decide(root, "git status") == "allow"


def test_git_does_not_look_into_submodules_without_a_sandbox(root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    run_git(root / "sub", "init", "-q", "-b", "main")
    run_git(root / "sub", "commit", "-q", "--allow-empty", "-m", "one")
    run_git(root, "add", "sub")
    for command in ("git status", "git diff", "git diff-files", "git describe --dirty", "git submodule status"):
        assert decide(root, command) == "deny"
        assert decide(root, command, "ask") == "ask"
        assert decide(root, command, "auto") == "allow"
        confined = GatePolicy(mode="plan", protected=ProtectedPaths((root,)), can_confine=lambda: True)
        assert Gate(confined).explain(make_bash_action(command)).decision is not None
    assert decide(root, "git ls-files") == "allow"


@pytest.mark.parametrize("place", ["project", "tree"])
def test_settings_of_worktrees_name_other_files_too(root: Path, place: str) -> None:
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "one")
    run_git(root, "worktree", "add", "-q", "../tree")
    folder = root.parent / place
    assert decide(folder, "git blame a.py") == "allow"
    run_git(root, "config", "extensions.worktreeConfig", "true")
    run_git(folder, "config", "--worktree", "blame.ignoreRevsFile", ".env")
    # git prints the lines of this file that are no revisions
    assert decide(folder, "git blame a.py") == "deny"
    assert decide(folder, "git check-attr -a a.py") == "deny"
    assert decide(folder, "git fsck") == "deny"


def test_a_login_in_the_settings_of_git_is_a_secret(root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    commands = ("cat .git/config", "grep x .git/config", "grep -r x .git", "head .git/conf*", "sort < .git/config")
    assert [decide(root, command) for command in commands] == ["allow"] * len(commands)
    run_git(root, "config", "http.https://example.com/.extraheader", "AUTHORIZATION: basic eDp5")
    assert [decide(root, command) for command in commands] == ["deny"] * len(commands)


def test_an_unreadable_index_may_contain_secrets(root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", ".")
    assert decide(root, "git grep x") == "allow"
    index = root / ".git" / "index"
    index.write_bytes(index.read_bytes()[:-20] + b"link" + bytes(24))
    assert decide(root, "git grep x") == "deny"


def test_names_in_the_index_become_other_words(root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    (root / "a b").write_text("x\n")
    run_git(root, "add", ".")
    (root / "a b").unlink()
    for command in ("cat $(git ls-files)", "git ls-files | xargs cat", "for f in $(git ls-files); do cat $f; done"):
        assert decide(root, command) == "deny"
    run_git(root, "rm", "-q", "--cached", "a b")
    assert decide(root, "cat $(git ls-files)") == "allow"


def test_a_repository_within_the_workspace_is_not_read(root: Path) -> None:
    for name in ("HEAD", "objects", "refs"):
        (root / "sub" / name).mkdir()
    assert decide(root, "cd sub && git status") == "deny"
    assert decide(root, "git status") == "allow"
