"""Requests of other processes to end a task: a pipe with the name of each task that runs."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.errors import ConfigError
from lsp_harness.process.request_pipe import RequestPipe, remove_left, send_request


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
        self._pipe: RequestPipe | None = None
        with suppress(OSError, ConfigError):
            path = _pipe_path(task_id)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            self._pipe = RequestPipe(path, on_request)

    def close(self) -> None:
        """Stop listening for the signal to stop."""
        if self._pipe:
            self._pipe.close()
            self._pipe = None


def request_stop(task_id: str) -> bool:
    """Ask the process that runs a task to end it. Return whether it listens."""
    try:
        return send_request(_pipe_path(task_id))
    except (OSError, ConfigError):
        return False


def remove_pipe(task_id: str) -> None:
    """Remove the pipe of a task whose process was killed. Do nothing if there is none."""
    with suppress(OSError, ConfigError, ValueError):
        path = _pipe_path(task_id)
        # the id is from a log, which may come from elsewhere
        if path.name == task_id:
            remove_left(path)


def _pipe_path(task_id: str) -> Path:
    return paths.runtime_folder() / "tasks" / task_id
