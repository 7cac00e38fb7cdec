"""The tasks of saved sessions, for programs that are not the process of the session.

Everything is read from the logs and the outputs on disk. A task can be ended from outside too: the process of its
session is asked, and if it is gone, the processes of the task are found by the mark that they inherit.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from lsp_harness.errors import FileError, UsageError
from lsp_harness.kernel.log.log_reader import follow_log, read_history, read_log
from lsp_harness.kernel.log.session_log import find_holder
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.projections.task_list import TaskRow, project_tasks
from lsp_harness.kernel.tasks.stop_pipe import remove_pipe, request_stop
from lsp_harness.kernel.tasks.task_output import TaskRead, read_output
from lsp_harness.process.process_tree import end_marked

END_TYPES = frozenset({"task.completed", "task.failed", "task.cancelled"})
PROGRAM_KINDS = frozenset({"shell", "tests"})
"""Kinds of tasks that are programs. The others are functions of the process of the session."""
CANCEL_WAIT_S = 15.0
"""The longest wait until the process of a session has recorded the end of a task."""


@dataclass(frozen=True, slots=True)
class SavedTask:
    """A task, the session to which it belongs, and the process that writes the session, if there is one."""

    session_id: str
    row: TaskRow
    holder: int | None

    @property
    def place(self) -> str:
        """The process that holds the session, for messages."""
        return f"the process {self.holder}" if self.holder else "another process"


def list_tasks(store: SessionStore, session_id: str) -> list[SavedTask]:
    """Return the tasks of a session in the order of their starts. Tasks that ended with their process are lost.

    Raises:
        FileError: The log cannot be read.
    """
    holder = find_holder(store.folder / session_id)
    rows = project_tasks(read_history(store.folder, session_id), is_live=holder is not None)
    return [SavedTask(session_id, row, holder) for row in rows]


def find_task(store: SessionStore, text: str) -> SavedTask:
    """Return the task whose id begins or ends with a text. The beginnings of ids are times, which are much alike.

    Raises:
        UsageError: There is no such task, or there are several.
        FileError: A log cannot be read.
    """
    wanted = text.upper()
    found = list(_find(store, wanted))
    if not text or not found:
        raise UsageError(f"there is no task {text!r}; `lsp-harness task list` shows those of the last session")
    exact = [task for task in found if task.row.task_id == wanted]
    if len(found) > 1 and not exact:
        raise UsageError(f"{len(found)} tasks begin or end with {text!r}; write more of the id")
    return (exact or found)[0]


def _find(store: SessionStore, text: str) -> Iterator[SavedTask]:
    for id in reversed(store.ids()):
        with suppress(FileError, UsageError):
            # the tasks that a fork continues belong to the session that started them
            events = list(read_log(store.path(id)))
            if not any(event.type == "task.started" for event in events):
                continue
            holder = find_holder(store.folder / id)
            for row in project_tasks(events, is_live=holder is not None):
                if row.task_id.startswith(text) or row.task_id.endswith(text):
                    yield SavedTask(id, row, holder)


def read_task(store: SessionStore, task: SavedTask, since: int) -> TaskRead:
    """Return the output of a task from a byte on.

    Raises:
        UsageError: The byte is not valid, or nothing was kept.
        FileError: The output cannot be read.
    """
    folder = store.folder / task.session_id
    return read_output(folder, task.row.task_id, since, is_running=task.row.state == "running")


async def wait_for_task(store: SessionStore, task: SavedTask, seconds: float) -> SavedTask:
    """Wait until a task has ended, or for some seconds, and return its state then."""
    if task.row.state != "running":
        return task
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            async for event in follow_log(store.path(task.session_id)):
                if event.type in END_TYPES and event.data.get("task_id") == task.row.task_id:
                    break
    return find_task(store, task.row.task_id)


async def cancel_task(store: SessionStore, task: SavedTask) -> SavedTask:
    """End a task with all its processes, and return its state then. A task that has ended stays as it is.

    If the process of the session is gone, the session is opened for a moment to record the end.

    Raises:
        UsageError: Only the process of the session can end the task, or processes are left.
    """
    row = task.row
    if row.state == "running" and request_stop(row.task_id):
        task = await wait_for_task(store, task, CANCEL_WAIT_S)
        row = task.row
    if row.state not in ("running", "lost"):
        return task
    if row.state == "running" and row.kind not in PROGRAM_KINDS:
        raise UsageError(
            f"the {row.kind} {row.task_id} runs in {task.place}, which does not answer; end it there, for example with "
            f"the command cancel_task of `lsp-harness session`"
        )
    if left := await end_marked(row.task_id):
        raise UsageError(f"processes of the task {row.task_id} do not end: {', '.join(map(str, left))}")
    if row.state == "running":
        return await wait_for_task(store, task, CANCEL_WAIT_S)
    remove_pipe(row.task_id)
    with suppress(UsageError):
        # opening a session closes what its process left open
        store.open(task.session_id).log.close()
    return find_task(store, row.task_id)
