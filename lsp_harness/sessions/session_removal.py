"""The removal of saved sessions: what may be deleted, and the deletion itself."""

import shutil
from collections.abc import Sequence
from contextlib import suppress

from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import FileError, HarnessError, UsageError
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import SessionLock, find_holder
from lsp_harness.kernel.log.session_store import SessionStore, short_ids

DAY_S = 86_400
PARENT_TYPES = frozenset({"session.forked", "session.started"})
"""Types of the first event of a session that name the session it continues or belongs to."""


def find_parents(store: SessionStore) -> dict[str, str]:
    """Return id → the session that it continues, or whose subagent it is. Logs that cannot be read are left out."""
    parents = dict[str, str]()
    for id in store.ids():
        with suppress(FileError, UsageError):
            first = next(iter(read_log(store.path(id))), None)
            parent = first.data.get("parent") if first and first.type in PARENT_TYPES else None
            if isinstance(parent, str) and parent:
                parents[id] = parent
    return parents


def find_idle(store: SessionStore, ids: Sequence[str], before_s: float) -> list[str]:
    """Return the sessions that may be deleted because nothing was written to them for a long time, the oldest first.

    A session that is open stays, and so does one that a session that stays continues.

    Args:
        store: The folder of all sessions.
        ids: The sessions to choose from.
        before_s: The time, in seconds since 1970, since which nothing was written.
    """
    idle = {id for id in ids if _written_s(store, id) < before_s and find_holder(store.path(id).parent) is None}
    parents = find_parents(store)
    while kept := {parents[id] for id in parents.keys() - idle} & idle:
        idle -= kept
    return sorted(idle)


def delete_sessions(store: SessionStore, ids: Sequence[str]) -> None:
    """Delete sessions with their logs, their artifacts and the texts of their undos. Either all may go, or none goes.

    Args:
        store: The folder of all sessions.
        ids: The whole ids of the sessions.

    Raises:
        UsageError: Another session continues one of them, or a process has one open.
        FileError: A folder cannot be deleted.
    """
    names, gone = short_ids(store.ids()), set(ids)
    for child, parent in find_parents(store).items():
        if parent in gone and child not in gone:
            raise UsageError(
                f"the session {names[child]} continues {names[parent]}, whose events it needs; "
                f"delete both: lsp-harness sessions delete {names[parent]} {names[child]}"
            )
    locks = [SessionLock(store.path(id).parent) for id in ids]
    try:
        for lock in locks:
            lock.acquire()
        for id in ids:
            # without its log it is no session any more, also if the rest cannot be deleted
            store.path(id).unlink(missing_ok=True)
    except OSError as error:
        raise FileError(
            f"the session cannot be deleted ({describe_system_error(error)}); change who may write there"
        ) from error
    finally:
        for lock in locks:
            lock.release()
    for id in ids:
        shutil.rmtree(store.path(id).parent, ignore_errors=True)


def _written_s(store: SessionStore, id: str) -> float:
    """Return when something was last written to a session. A session that cannot be seen is young."""
    try:
        return store.path(id).stat().st_mtime
    except (OSError, HarnessError):
        return float("inf")
