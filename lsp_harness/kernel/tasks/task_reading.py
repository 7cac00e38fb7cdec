"""Reading the output of a task from its file, while the task runs or afterwards."""

import os
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import open_regular, system_message
from lsp_harness.errors import FileError, FileMissing, UsageError
from lsp_harness.kernel.artifacts import MAX_READ_BYTES, READ_LIMIT_BYTES, is_ulid, read_part


@dataclass(frozen=True, slots=True)
class TaskRead:
    """A part of the output of a task.

    Attributes:
        text: The text.
        next_cursor: The cursor for the next part.
        is_running: Whether more may come.
    """

    text: str
    next_cursor: int
    is_running: bool


def log_path(session_folder: Path, task_id: str) -> Path:
    """Return the file with the output of a task."""
    return session_folder / "tasks" / f"{task_id}.log"


def read_output(
    session_folder: Path, task_id: str, since: int = 0, limit: int = READ_LIMIT_BYTES, *, is_running: bool = False
) -> TaskRead:
    """Read a part of the output of a task.

    Args:
        session_folder: The folder of the session.
        task_id: The id of the task.
        since: The cursor of the part before, or 0.
        limit: Maximum number of bytes.
        is_running: Whether the task still runs.

    Raises:
        UsageError: There is no such task, or an argument is not valid.
        FileError: The output cannot be read.
    """
    if not is_ulid(task_id):
        raise UsageError("the id of a task has 26 letters and digits; list the tasks to see their ids")
    if since < 0 or limit <= 0:
        raise UsageError("the output of a task is read from a cursor of 0 or more, with a limit of 1 byte or more")
    path = log_path(session_folder, task_id)
    if path.is_symlink():
        raise FileError(f"{path} is a link, not the output of a task; remove it")
    try:
        with open_regular(path) as file:
            part = read_part(file.fileno(), os.fstat(file.fileno()).st_size, since, min(limit, MAX_READ_BYTES))
    except FileMissing as error:
        raise UsageError(f"this session has no task {task_id}; list the tasks to see their ids") from error
    except OSError as error:
        raise FileError(f"the output of task {task_id} cannot be read: {system_message(error).lower()}") from error
    return TaskRead(part.text, part.next_offset, is_running)
