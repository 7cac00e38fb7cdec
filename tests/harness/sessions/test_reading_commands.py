"""Commands that only read see the repository as the user does."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from lsp_harness.harness.sessions.reading_commands import ReadingCommands
from lsp_harness.process.safe_git import read_user_settings
from lsp_harness.session.tasks.task_request import ShellWork
from tests.session.permission.small_project import make_project

OTHER_USER = 54_321


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


def test_only_settings_that_name_no_program_are_kept():
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
