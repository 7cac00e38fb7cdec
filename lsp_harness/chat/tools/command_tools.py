"""The tools that run commands, and that read, wait for and end the tasks that run on in the background."""

from typing import cast

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.tool_environment import CommandOutcome, CommandTasks, Execution
from lsp_harness.chat.tools.tool_input import (
    Input,
    Schema,
    make_number_schema,
    make_text_schema,
    object_schema,
    read_number,
    read_text,
)
from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action

EXECUTIONS: tuple[Execution, ...] = ("inline", "background", "auto")
DEFAULT_WAIT_S, MAX_WAIT_S = 60, 300
MAX_COMMAND_CHARS = 4_000
TASK_ID = make_text_schema("Id of the task", 64)


class BashTool:
    """Runs a shell command as a task of the session."""

    name = "bash"
    description = (
        "Run a shell command in the workspace. Long commands run on in the background: use wait_task with the task_id."
    )
    schema: Schema = object_schema(
        {"command": make_text_schema("The command", MAX_COMMAND_CHARS)},
        {"execution": {"enum": list(EXECUTIONS), "description": "auto: background after 5 seconds"}},
    )

    def __init__(self, tasks: CommandTasks) -> None:
        self._tasks = tasks

    def action(self, input: Input) -> Action:
        command = input.get("command")
        return Action(self.name, "execute", input, command=command if isinstance(command, str) else "")

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        command = read_text(input, "command")
        execution = cast("Execution", read_text(input, "execution", "auto"))
        if execution not in EXECUTIONS:
            raise UsageError(f'"execution" must be one of {", ".join(EXECUTIONS)}')
        if not command.strip() or "\0" in command:
            raise UsageError('"command" is empty or has a NUL character; give a shell command')
        return describe_outcome(await self._tasks.run_command(command, execution, context))


class ReadTaskTool:
    """Returns the output of a task from a byte on."""

    name = "read_task"
    description = "Read the state and the output of a task in the background."
    schema: Schema = object_schema(
        {"task_id": TASK_ID}, {"since": make_number_schema("First byte of the output to return")}
    )

    def __init__(self, tasks: CommandTasks) -> None:
        self._tasks = tasks

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input)

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        task_id = read_text(input, "task_id")
        part = self._tasks.read(task_id, read_number(input, "since", 0))
        state = "runs" if part.is_running else "is over"
        head = f"Task {task_id} {state}; read on with since={part.next_cursor}"
        data = {"task_id": task_id, "is_running": part.is_running, "next_cursor": part.next_cursor}
        return ToolResult(f"{head}\n{redact(part.text)}".rstrip(), data=data)


class WaitTaskTool:
    """Waits for the end of a task. It does not end the task."""

    name = "wait_task"
    description = "Wait until a task in the background ends, and return its output."
    schema: Schema = object_schema(
        {"task_id": TASK_ID},
        {"seconds": make_number_schema(f"Longest wait, {DEFAULT_WAIT_S} if absent", 1, MAX_WAIT_S)},
    )

    def __init__(self, tasks: CommandTasks) -> None:
        self._tasks = tasks

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input)

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        seconds = read_number(input, "seconds", DEFAULT_WAIT_S, 1, MAX_WAIT_S)
        return describe_outcome(await self._tasks.wait(read_text(input, "task_id"), seconds))


class CancelTaskTool:
    """Ends a task with all its processes."""

    name = "cancel_task"
    description = "End a task in the background."
    schema: Schema = object_schema({"task_id": TASK_ID})

    def __init__(self, tasks: CommandTasks) -> None:
        self._tasks = tasks

    def action(self, input: Input) -> Action:
        # it ends only what the session itself has started
        return Action(self.name, "read", input)

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        outcome = await self._tasks.cancel(read_text(input, "task_id"))
        result = describe_outcome(outcome)
        # that the task is cancelled is what was asked for
        return ToolResult(result.text, data=result.data)


def describe_outcome(outcome: CommandOutcome) -> ToolResult:
    """Return the state of a task as the result of a tool. A command that fails is an error."""
    output = redact(outcome.output).rstrip()
    reason = f": {redact(outcome.summary)}" if outcome.summary not in ("", "cancelled") else ""
    match outcome.status:
        case "started":
            head = f"Task {outcome.task_id} runs in the background; use wait_task or read_task with this task_id."
        case "completed" if outcome.exit_code:
            head = f"Exit status {outcome.exit_code}"
        case "completed":
            head = "" if output else "The command succeeded without output."
        case "cancelled":
            head = f"Task {outcome.task_id} was cancelled{reason}"
        case _:
            head = f"Task {outcome.task_id} failed{reason}"
    is_error = bool(outcome.exit_code) or outcome.status in ("failed", "cancelled")
    data = {"status": outcome.status, "task_id": outcome.task_id, "exit_code": outcome.exit_code}
    text = "\n".join(part for part in (head, output) if part)
    return ToolResult(text, is_error, data=data, artifact_id=outcome.artifact_id)
