"""A request to run a task, and its result."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lsp_harness.kernel.tasks.task_output import TaskOutput
from lsp_harness.process.command_shell import find_shell

Execution = Literal["inline", "background", "auto"]
"""`inline` waits for the end, `background` does not wait, and `auto` waits for a while."""
TaskStatus = Literal["completed", "failed", "cancelled", "started"]
INLINE_MS = 5_000
"""Default wait of `auto`, in milliseconds."""
MAX_INLINE_MS = 60_000


@dataclass(frozen=True, slots=True)
class ShellWork:
    """A program to run, with all that it starts.

    Attributes:
        command: A command for the shell as a text, or a program and its arguments.
        cwd: The folder in which it runs.
        env: The whole environment. The default is that of this process.
        timeout_s: Time after which it is ended.
    """

    command: str | Sequence[str]
    cwd: Path
    env: Mapping[str, str] | None = None
    timeout_s: float | None = None

    @property
    def argv(self) -> list[str]:
        """The program and its arguments."""
        return find_shell().command(self.command) if isinstance(self.command, str) else list(self.command)


TaskWork = ShellWork | Callable[[TaskOutput], Awaitable[str]]
"""The content of a task: run a program, or a function that writes progress to the output and returns its result."""


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A request to run a task.

    Attributes:
        kind: The kind of the work: "shell", "tests", "subagent", "index", "download" or another word.
        title: One line for a person.
        work: What the task does.
        execution: How long the caller waits.
        inline_ms: How long `auto` waits, at most `MAX_INLINE_MS`.
        call_id: The tool call that needs the task.
        session_id: The session of a subagent.
    """

    kind: str
    title: str
    work: TaskWork
    execution: Execution = "inline"
    inline_ms: int = INLINE_MS
    call_id: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of a task until now.

    Attributes:
        status: "started" for a task that still runs, else how it ended.
        task_id: The id of the task.
        answer: The text that a function returned, up to 8 KiB.
        output: The output, or the stub of its artifact. It is empty for a task that still runs.
        exit_code: The exit status of a command that ended by itself.
        summary: One line about the result, or why it failed or was cancelled.
        artifact_id: The artifact with the whole output, if it is large.
        log: The file with the output.
    """

    status: TaskStatus
    task_id: str
    answer: str = ""
    output: str = ""
    exit_code: int | None = None
    summary: str = ""
    artifact_id: str = ""
    log: Path = Path()
