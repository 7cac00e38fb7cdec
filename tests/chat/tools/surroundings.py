"""Surroundings of tools over a folder, with the real checks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.tool_environment import CommandOutcome, Execution, ToolEnvironment
from lsp_harness.chat.tools.tool_registry import create_tools
from lsp_harness.config.schema import Verification
from lsp_harness.errors import UsageError
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.kernel.artifacts import ArtifactPart
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.check import CheckContext, CheckTools
from lsp_harness.verify.checks import create_checks
from lsp_harness.verify.ruff_linter import Ruff

CONTEXT = CallContext("call-1")
RUFF = Ruff()


@dataclass(frozen=True)
class Outcome:
    status: str
    output: str = ""
    task_id: str = "t1"
    exit_code: int | None = None
    summary: str = ""
    artifact_id: str = ""


@dataclass(frozen=True)
class TaskPart:
    """A part of the output of a task."""

    text: str
    next_cursor: int
    is_running: bool


@dataclass
class Tasks:
    """Tasks with a prepared outcome that record the requests."""

    outcome: CommandOutcome = Outcome("completed", "out\n", exit_code=0)
    asked: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])

    async def run_command(self, command: str, execution: Execution, context: CallContext) -> CommandOutcome:
        self.asked.append(("run", command, execution, context.call_id))
        return self.outcome

    def read(self, task_id: str, since: int) -> TaskPart:
        self.asked.append(("read", task_id, since))
        return TaskPart("more output\n", 19, is_running=True)

    async def wait(self, task_id: str, seconds: float) -> CommandOutcome:
        self.asked.append(("wait", task_id, seconds))
        return self.outcome

    async def cancel(self, task_id: str) -> CommandOutcome:
        self.asked.append(("cancel", task_id))
        return self.outcome


class Artifacts:
    """A store with one artifact of ten thousand digits."""

    def read(self, artifact_id: str, offset: int, limit: int) -> ArtifactPart:
        if artifact_id != "a1":
            raise UsageError(f"there is no artifact {artifact_id}")
        text = ("0123456789" * 1000)[offset : offset + limit]
        return ArtifactPart(text, offset + len(text), 10_000)


class ReadyIndex:
    """An up-to-date index that records which files tools have changed (`refreshed`)."""

    def __init__(self, query: IndexQuery, remark: str = "") -> None:
        self.query = query
        self.remark = remark
        self.refreshed: list[Path] = []

    async def ready(self, report: Callable[[str], None]) -> IndexQuery:
        report("indexing: 1 of 2 files\n")
        return self.query

    def refresh(self, path: Path) -> None:
        self.refreshed.append(path)


class Editor:
    """An editor with unsaved texts, which applies edits at once or refuses them (`refusal`)."""

    def __init__(self) -> None:
        self.texts: dict[Path, Document] = {}
        self.refusal = ""

    def unsaved(self) -> Mapping[Path, Document]:
        return self.texts

    async def apply(self, document: Document, edits: Sequence[Edit]) -> None:
        if self.refusal:
            raise UsageError(self.refusal)
        [path] = [path for path, text in self.texts.items() if text is document]
        for edit in reversed(edits):
            document = document.apply_edit(edit, document.version + 1)
        self.texts[path] = document


class ToolWorkspace:
    """A workspace folder with tools. `kept` are the paths of its checkpoints."""

    def __init__(self, root: Path, files: dict[str, str | bytes], index: IndexQuery | None = None, **more: Any) -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.kept: list[tuple[Path, bytes | None]] = []
        self.tasks = Tasks()
        self.index = ReadyIndex(index) if index else None
        self.environment = ToolEnvironment(
            (root,),
            PrivateFiles([root]),
            self.index,
            lambda: create_checks(Verification(), CheckContext(CheckTools(RUFF))),
            self.tasks,
            Artifacts(),
            self.keep,
            **more,
        )
        self.tools = create_tools(self.environment)

    def edit_in_editor(self, name: str, text: str) -> Editor:
        """Return an editor in which a file has another text, for another desk on the same folder."""
        editor, path = Editor(), self.root / name
        editor.texts[path] = Document.from_text(path.as_uri(), text.encode())
        return editor

    async def keep(self, paths: Mapping[Path, bytes]) -> None:
        self.kept += [(path, path.read_bytes() if path.exists() else None) for path in paths]

    async def run(self, tool: str, **input: object) -> ToolResult:
        return await self.tools[tool].run(input, CONTEXT)

    async def text(self, tool: str, **input: object) -> str:
        return (await self.run(tool, **input)).text

    async def error(self, tool: str, **input: object) -> str:
        """Return the message of the error that a call ends with."""
        from lsp_harness.errors import HarnessError

        try:
            result = await self.run(tool, **input)
        except HarnessError as error:
            return error.message
        raise AssertionError(f"no error, but {result.text}")

    def read(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()
