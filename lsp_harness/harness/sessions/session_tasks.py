"""The tasks and artifacts of a session in the form that tools use."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.chat.tool import CallContext
from lsp_harness.chat.tools.tool_environment import Execution
from lsp_harness.session.artifacts import ArtifactStore
from lsp_harness.session.tasks.task_request import ShellWork, TaskRequest
from lsp_harness.session.tasks.task_runner import TaskRunner

COMMAND_TIMEOUT_S = 600.0
"""Time after which a command is ended. A command that should run longer is started in the background."""
TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class TaskState:
    """The state of a task, as tools see it (see `CommandOutcome`)."""

    status: str
    output: str
    task_id: str
    exit_code: int | None = None


class SessionTasks:
    """Runs the commands of tools as tasks of the session.

    Args:
        runner: Runs the tasks.
        folder: The folder in which commands run.
        environment: The environment of commands.
    """

    def __init__(self, runner: TaskRunner, folder: Path, environment: Mapping[str, str]) -> None:
        self._runner = runner
        self._folder = folder
        self._environment = environment

    async def run_command(self, command: str, execution: Execution, context: CallContext) -> TaskState:
        """Run a shell command. Raises HarnessError if it cannot be started."""
        timeout_s = None if execution == "background" else COMMAND_TIMEOUT_S
        work = ShellWork(command, self._folder, self._environment, timeout_s)
        title = " ".join(command.split())[:TITLE_CHARS]
        result = await self._runner.run(TaskRequest("shell", title, work, execution, call_id=context.call_id))
        return TaskState(result.status, result.output or result.summary, result.task_id, result.exit_code)

    async def read(self, task_id: str, since: int) -> TaskState:
        """Return the state of a task, and its output from byte `since` on. Raises HarnessError for an unknown id."""
        part = self._runner.read(task_id, since)
        result = self._runner.result(task_id)
        return TaskState(result.status, part.text, task_id, result.exit_code)

    async def wait(self, task_id: str, seconds: float) -> TaskState:
        """Wait up to some seconds for the end of a task, which runs on if it is not over then."""
        result = await self._runner.wait(task_id, seconds)
        return TaskState(result.status, result.output, task_id, result.exit_code)

    async def cancel(self, task_id: str) -> TaskState:
        """End a task and all its processes."""
        result = await self._runner.cancel(task_id)
        return TaskState(result.status, result.output, task_id, result.exit_code)


class SessionArtifacts:
    """Reads the artifacts of a session for tools.

    Args:
        store: The artifacts.
    """

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    def read(self, artifact_id: str, offset: int, limit: int) -> str:
        """Return up to `limit` bytes of an artifact from `offset` on. Raises HarnessError for an unknown id."""
        return self._store.read(artifact_id, offset, limit).text
