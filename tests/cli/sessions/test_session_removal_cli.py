"""`lsp-harness sessions delete` and `prune`: what goes, what stays, and what is asked."""

import os
from pathlib import Path

import pytest

from lsp_harness.config import paths
from lsp_harness.errors import UsageError
from lsp_harness.events.session_events import InvocationReceived, SessionStarted
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.sessions.session_removal import delete_sessions
from tests.cli.conftest import Shell

LONG_AGO = 1_000_000_000


def save_session(folder: Path, *, parent: str = "", is_old: bool = False) -> str:
    """Write a session of a folder, and return its id."""
    log = SessionLog(paths.sessions_folder())
    log.append(SessionStarted(str(folder), "code", "m", parent=parent))
    log.turn().append(InvocationReceived("message", "hello"))
    log.close()
    if is_old:
        os.utime(log.path, (LONG_AGO, LONG_AGO))
    return log.id


def test_delete_removes_the_named_sessions_with_all_their_files(shell: Shell) -> None:
    first, second, third = (save_session(shell.folder) for _ in range(3))
    (SessionStore().path(first).parent / "undo").mkdir()
    result = shell.run("sessions", "delete", first[-8:], second)
    assert (result.code, result.out) == (0, f"2 sessions deleted: {first}, {second}\n")
    assert [path.name for path in SessionStore().folder.iterdir()] == [third]


def test_delete_takes_no_session_of_another_folder_by_a_part_of_its_name(shell: Shell, tmp_path: Path) -> None:
    other = save_session(tmp_path / "other")
    save_session(shell.folder)
    refused = shell.run("sessions", "delete", other[-8:])
    assert (refused.code, "belongs to" in refused.err) == (2, True)
    assert shell.run("sessions", "delete", " ").code == 2
    assert shell.run("sessions", "delete").code == 2
    assert len(SessionStore().ids()) == 2
    assert shell.run("sessions", "delete", other).code == 0


def test_an_open_session_and_one_that_another_needs_stay(shell: Shell) -> None:
    store = SessionStore()
    parent = save_session(shell.folder)
    fork = store.fork(parent).log
    fork.close()
    refused = shell.run("sessions", "delete", parent)
    assert (refused.code, f"delete {parent[-6:]} {fork.id[-6:]}" in refused.err) == (2, True)
    opened = store.open(fork.id)
    with pytest.raises(UsageError, match="is open in"):
        delete_sessions(store, [parent, fork.id])
    assert store.ids() == sorted([parent, fork.id])
    opened.log.close()
    delete_sessions(store, [parent, fork.id])
    assert store.ids() == []


def test_prune_asks_for_a_yes_and_deletes_what_was_not_used_for_a_long_time(shell: Shell, tmp_path: Path) -> None:
    old, young = save_session(shell.folder, is_old=True), save_session(shell.folder)
    elsewhere = save_session(tmp_path / "else", is_old=True)
    for option, code in (((), 1), (("--dry-run", "--yes"), 0)):
        shown = shell.run("sessions", "prune", *option)
        assert (shown.code, old[-6:] in shown.out, young[-6:] in shown.out) == (code, True, False)
        assert len(SessionStore().ids()) == 3
    assert shell.run("sessions", "prune", "--yes", "--json").json == {"deleted": [old], "found": [old]}
    assert SessionStore().ids() == sorted([young, elsewhere])
    assert shell.run("sessions", "prune", "--yes").out == "no session is older than 30 days\n"
    assert shell.run("sessions", "prune", "--yes", "--all").out.endswith("1 session deleted\n")
    assert shell.run("sessions", "prune", "--days", "-1").code == 2
    assert SessionStore().ids() == [young]


def test_prune_keeps_an_old_session_that_a_young_one_continues(shell: Shell) -> None:
    first = save_session(shell.folder, is_old=True)
    second = save_session(shell.folder, parent=first, is_old=True)
    third = save_session(shell.folder, parent=second)
    lonely = save_session(shell.folder, is_old=True)
    assert shell.run("sessions", "prune", "--yes").code == 0
    assert SessionStore().ids() == sorted([first, second, third])
    assert lonely not in SessionStore().ids()
