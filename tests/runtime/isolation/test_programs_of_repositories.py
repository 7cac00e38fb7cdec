"""A repository that names programs in its settings: none of them runs for a worktree."""

import subprocess
from pathlib import Path

import pytest

from lsp_harness.process.safe_git import read_overrides
from lsp_harness.runtime.isolation.worktree import Worktree

FILTER = '[filter "x"]\n\tclean = touch MARK; cat\n\tsmudge = touch MARK; cat\n\trequired = true\n'
PROCESS = '[filter "x"]\n\tprocess = touch MARK; exit 1\n\tsmudge = touch MARK; cat\n\tclean = touch MARK; cat\n'
STRANGE = '[filter "x=y.\\"Z w"]\n\tclean = touch MARK; cat\n\tsmudge = touch MARK; cat\n'
OTHERS = """[core]
\tfsmonitor = touch MARK
\tsshCommand = touch MARK
\talternateRefsCommand = touch MARK
\tpager = touch MARK; cat
\teditor = touch MARK
[diff]
\texternal = touch MARK; true
[diff "d"]
\ttextconv = touch MARK; cat
\tcommand = touch MARK; true
[log]
\tshowSignature = true
[gpg]
\tprogram = touch MARK
[alias]
\tadd = !touch MARK
[hook "own"]
\tevent = post-checkout
\tcommand = touch MARK
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use empty settings of the user, in a home of the test."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def repository(tmp_path: Path, home: Path) -> Path:
    """Return a repository with two commits and a changed file, which has no settings of its own yet."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.py").write_text("a = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    (root / "a.py").write_text("a = 2\n")
    return root


def git(root: Path, *arguments: str):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=root, check=True)


def read_objects(root: Path) -> bytes:
    command = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, cwd=root, check=True, capture_output=True).stdout


def add_settings(root: Path, text: str, mark: Path, file: str = ".git/config"):
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as settings:
        settings.write(text.replace("MARK", str(mark)))


async def use_worktree(root: Path, parent: Path) -> str:
    """Do all that happens to a worktree of an agent, and return the changed text of its file."""
    worktree = await Worktree.create(root, parent)
    (worktree.folder / "a.py").write_text("a = 3\n")
    assert await worktree.count_changes() == 1
    [change], more = await worktree.read_changes()
    await Worktree.find(worktree.folder)
    await worktree.discard()
    assert (change.before, more) == (b"a = 2\n", 0)
    return (change.after or b"").decode()


@pytest.mark.parametrize("settings", [FILTER, PROCESS, OTHERS], ids=["filter", "process", "others"])
async def test_no_program_of_the_settings_runs(repository: Path, tmp_path: Path, settings: str):
    add_settings(repository, settings, tmp_path / "mark")
    (repository / ".git/info/attributes").write_text("*.py filter=x diff=d\n")
    assert await use_worktree(repository, tmp_path / "trees") == "a = 3\n"
    assert not (tmp_path / "mark").exists()


async def test_no_filter_with_a_strange_name_runs(repository: Path, tmp_path: Path):
    add_settings(repository, STRANGE, tmp_path / "mark")
    (repository / ".git/info/attributes").write_text('*.py filter=x=y."Z\n')
    add_settings(repository, STRANGE.replace(" w", ""), tmp_path / "mark")
    assert await use_worktree(repository, tmp_path / "trees") == "a = 3\n"
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("condition", ["include", 'includeIf "gitdir:**"', 'includeIf "onbranch:**"'])
async def test_no_filter_of_an_included_file_runs(repository: Path, tmp_path: Path, condition: str):
    add_settings(repository, FILTER, tmp_path / "mark", "more.ini")
    add_settings(repository, f"[{condition}]\n\tpath = ../more.ini\n", tmp_path / "mark")
    (repository / ".gitattributes").write_text("*.py filter=x\n")
    assert await use_worktree(repository, tmp_path / "trees") == "a = 3\n"
    assert not (tmp_path / "mark").exists()


async def test_no_filter_of_the_settings_of_a_worktree_runs(repository: Path, tmp_path: Path):
    add_settings(repository, "[extensions]\n\tworktreeConfig = true\n", tmp_path / "mark")
    add_settings(repository, FILTER, tmp_path / "mark", ".git/config.worktree")
    (repository / ".gitattributes").write_text("*.py filter=x\n")
    assert await use_worktree(repository, tmp_path / "trees") == "a = 3\n"
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("folder", [".git/hooks", "hooks"])
async def test_no_hook_runs(repository: Path, tmp_path: Path, folder: str):
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        add_settings(repository, "#!/bin/sh\ntouch MARK\n", tmp_path / "mark", f"{folder}/{name}")
        (repository / folder / name).chmod(0o755)
    if folder == "hooks":
        add_settings(repository, "[core]\n\thooksPath = hooks\n", tmp_path / "mark")
    assert await use_worktree(repository, tmp_path / "trees") == "a = 3\n"
    assert not (tmp_path / "mark").exists()


async def test_a_filter_of_the_user_runs_with_the_command_of_the_user(repository: Path, home: Path, tmp_path: Path):
    (home / ".gitconfig").write_text('[filter "x"]\n\tclean = sed s/a/b/\n\tsmudge = sed s/b/a/\n')
    add_settings(repository, FILTER, tmp_path / "mark")
    (repository / ".gitattributes").write_text("*.py filter=x\n")
    assert await use_worktree(repository, tmp_path / "trees") == "a = 3\n"
    assert not (tmp_path / "mark").exists()
    assert b"b = 2\n" in read_objects(repository)


def test_each_setting_of_a_repository_is_replaced_by_the_value_of_the_user():
    listed = {
        "global": {"filter.lfs.clean": "git-lfs clean -- %f", "core.pager": "less"},
        "local": {
            "core.bare": "false",
            "filter.lfs.clean": "evil",
            "filter.a.b.smudge": "evil",
            "filter.a.b.required": "true",
            "diff.d.textconv": "evil",
            "core.pager": "evil",
            "pager.log": "evil",
            "user.name": "a",
            "hook.h.i.command": "evil",
        },
        "worktree": {"core.fsmonitor": "evil", "gpg.ssh.program": "evil", "alias.st": "!evil"},
    }
    entries = [f"{scope}\0{key}\n{value}\0" for scope, keys in listed.items() for key, value in keys.items()]
    assert read_overrides("".join(entries).encode()) == {
        "filter.lfs.clean": "git-lfs clean -- %f",
        "filter.a.b.smudge": "",
        "filter.a.b.required": "false",
        "diff.d.textconv": "cat",
        "core.pager": "less",
        "pager.log": "false",
        "hook.h.i.enabled": "false",
        "core.fsmonitor": "false",
        "gpg.ssh.program": "false",
        "alias.st": "",
    }
