"""Requests of other processes to end a task: a named pipe for each task that runs."""

import asyncio
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.errors import ConfigError


class StopPipe:
    """The pipe of one task. Only processes of the same user can open it.

    Without a folder for it, the task can only be ended by its own process.
    """

    def __init__(self, task_id: str, on_request: Callable[[], None]) -> None:
        """Listen in the running event loop.

        Args:
            task_id: The id of the task.
            on_request: Called for each request.
        """
        self._on_request = on_request
        self._descriptor = -1
        with suppress(OSError, ConfigError):
            self._path = _pipe_path(task_id)
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            os.mkfifo(self._path, 0o600)
            # it is open for writing too, so that it does not end when the first writer closes it
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            asyncio.get_running_loop().add_reader(self._descriptor, self._read)

    def close(self) -> None:
        """Stop listening for the signal to stop."""
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
            self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._descriptor, 64)
            self._on_request()


def request_stop(task_id: str) -> bool:
    """Ask the process that runs a task to end it. Return whether it listens."""
    try:
        path = _pipe_path(task_id)
        # without a reader this fails at once
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ConfigError):
        return False
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode) and os.write(descriptor, b"s") == 1
    except OSError:
        return False
    finally:
        os.close(descriptor)


def remove_pipe(task_id: str) -> None:
    """Remove the pipe of a task whose process was killed. Do nothing if there is none."""
    with suppress(OSError, ConfigError, ValueError):
        path = _pipe_path(task_id)
        # the id is from a log, which may come from elsewhere
        if path.name == task_id and stat.S_ISFIFO(path.lstat().st_mode):
            path.unlink()


def _pipe_path(task_id: str) -> Path:
    return paths.runtime_folder() / "tasks" / task_id
