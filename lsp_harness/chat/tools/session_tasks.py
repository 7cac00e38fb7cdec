"""The tasks of a session, as the tools for commands use them."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from lsp_harness.chat.tool import CallContext
from lsp_harness.chat.tools.tool_environment import Execution
from lsp_harness.kernel.tasks.task_output import TaskRead
from lsp_harness.kernel.tasks.task_request import ShellWork, TaskRequest, TaskResult
from lsp_harness.kernel.tasks.task_runner import TaskRunner

MAX_TITLE_CHARS = 80


class SessionTasks:
    """Runs the commands of tool calls as tasks of a session.

    Args:
        runner: The tasks of the session.
        folder: The folder in which commands run.
        environment: The whole environment of commands. The default is that of this process.
        confine: Returns the work of a command, which is allowed because it only reads, so that it can do nothing else.
            The default changes nothing.
    """

    def __init__(
        self,
        runner: TaskRunner,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        confine: Callable[[ShellWork], Awaitable[ShellWork]] | None = None,
    ) -> None:
        self._runner = runner
        self._folder = folder
        self._environment = environment
        self._confine = confine

    async def run_command(self, command: str, execution: Execution, context: CallContext, /) -> TaskResult:
        """Run a shell command. Raises UsageError or FileError if it cannot be started."""
        title = " ".join(command.split())[:MAX_TITLE_CHARS]
        work = ShellWork(command, self._folder, self._environment)
        if context.only_reads and self._confine:
            work = await self._confine(work)
        return await self._runner.run(TaskRequest("shell", title, work, execution, call_id=context.call_id))

    def read(self, task_id: str, since: int, /) -> TaskRead:
        """Return the output of a task from the cursor `since` on. Raises UsageError."""
        return self._runner.read(task_id, since)

    async def wait(self, task_id: str, seconds: float, /) -> TaskResult:
        """Wait up to some seconds for the end of a task. Raises UsageError."""
        return await self._runner.wait(task_id, seconds)

    async def cancel(self, task_id: str, /) -> TaskResult:
        """End a task and all its processes. Raises UsageError."""
        return await self._runner.cancel(task_id)
