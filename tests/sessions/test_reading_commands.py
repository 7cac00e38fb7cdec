"""Commands that only read start no program of a repository, and see it as the user does."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from lsp_harness.errors import UsageError
from lsp_harness.kernel.tasks.task_request import ShellWork
from lsp_harness.process.safe_git import read_user_settings
from lsp_harness.sessions import reading_commands
from lsp_harness.sessions.reading_commands import ReadingCommands
from tests.permission.small_project import make_project, run_git

OTHER_USER = 54_321
SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reading_commands, "_is_strong", lambda choice: False)
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("x\n")
    trap = root / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'mark'}\n")
    trap.chmod(0o755)
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "one")
    return root


def git_text(root: Path, *arguments: str, text: str = "") -> str:
    """Return what a command of git prints."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=root, input=text, capture_output=True, check=True, text=True).stdout


def starts_trap(root: Path, command: str, *without: str) -> bool:
    """Run a command as the product does, and return whether it started the trap."""
    work = asyncio.run(ReadingCommands([root]).confine(ShellWork(command, root)))
    environment = {name: value for name, value in (work.env or {}).items() if name not in without}
    subprocess.run(work.argv, cwd=root, env={**environment, "HOME": str(root.parent)}, capture_output=True, check=False)
    return (root.parent / "mark").exists() or (root.parent / ".gnupg").exists()


def test_no_program_checks_signatures_for_a_log_format_of_the_repository(root: Path) -> None:
    lines = git_text(root, "cat-file", "commit", "HEAD").splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if line.startswith("committer ")) + 1
    text = "".join([*lines[:place], SIGNATURE, *lines[place:]])
    signed = git_text(root, "hash-object", "-t", "commit", "-w", "--stdin", text=text).strip()
    run_git(root, "update-ref", "refs/heads/main", signed)
    run_git(root, "config", "format.pretty", "%G?")
    run_git(root, "config", "gpg.program", "./trap")
    assert not starts_trap(root, "git log")
    run_git(root, "config", "--unset", "gpg.program")
    assert not starts_trap(root, "git log")


def test_git_does_not_fetch_by_a_protocol_that_the_repository_allows(root: Path) -> None:
    blob = git_text(root, "rev-parse", "HEAD:a.py").strip()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{root / 'trap'}",
        "protocol.ext.allow": "always",
    }.items():
        run_git(root, "config", key, value)
    # older versions of git do not know this variable
    assert not starts_trap(root, "git show HEAD:a.py", "GIT_NO_LAZY_FETCH")


def test_git_starts_no_difference_in_submodules(root: Path) -> None:
    module = root / "module"
    module.mkdir()
    run_git(module, "init", "-q", "-b", "main")
    for text in ("1", "2"):
        (module / "x").write_text(text)
        run_git(module, "add", ".")
        run_git(module, "commit", "-q", "-m", text)
        run_git(root, "add", "module")
        run_git(root, "commit", "-q", "-m", text)
    run_git(module, "config", "diff.external", "../trap")
    run_git(root, "config", "diff.submodule", "diff")
    (root / ".gitmodules").write_text('[submodule "m"]\n\tpath = module\n\turl = x\n\tignore = none\n')
    assert not starts_trap(root, "git diff HEAD~1 HEAD")


async def test_only_commands_that_may_start_git_read_the_settings_of_git(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / ".git" / "config").write_text("[core\n")
    for command in ("cat a.py", "ls | sort", "find . -exec wc -l {} +"):
        await ReadingCommands([root]).confine(ShellWork(command, root))
    for command in ("git status", "ls; git log", "find . -exec git blame {} +"):
        with pytest.raises(UsageError, match="settings of git"):
            await ReadingCommands([root]).confine(ShellWork(command, root))


@pytest.mark.skipif(not ReadingCommands.can_confine(), reason="no sandbox works here that hides files")
async def test_git_has_the_settings_of_the_user_without_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home, root = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    root.mkdir()
    make_project(root)
    trust = f"[safe]\n\tdirectory = /elsewhere\n\tdirectory = {root}\n"
    (home / ".gitconfig").write_text(f"[user]\n\tname = Ann Lee\n{trust}[core]\n\tpager = evil\n")
    monkeypatch.setenv("HOME", str(home))
    if os.geteuid() == 0:
        for path in (root, root / ".git"):
            os.chown(path, OTHER_USER, OTHER_USER)

    work = await ReadingCommands([root]).confine(ShellWork("git config user.name && git log --oneline | wc -l", root))
    done = await asyncio.to_thread(subprocess.run, work.argv, cwd=root, env=work.env, capture_output=True, text=True)

    assert done.stdout.split("\n")[0] == "Ann Lee"
    assert int(done.stdout.split("\n")[1]) > 0, done.stderr


def test_only_settings_without_programs_are_passed_to_git():
    entries = [
        ("global", "user.email", "a@example.org"),
        ("global", "safe.directory", "/a"),
        ("system", "safe.directory", "/b"),
        ("global", "core.pager", "evil"),
        ("global", "url.https://token@host.insteadof", "https://host"),
        ("local", "user.name", "stranger"),
    ]
    listing = "".join(f"{scope}\0{key}\n{value}\0" for scope, key, value in entries).encode()
    assert read_user_settings(listing) == [
        ("user.email", "a@example.org"),
        ("safe.directory", "/a"),
        ("safe.directory", "/b"),
    ]
