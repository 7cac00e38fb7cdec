"""The surroundings of the tools: the folders, the rules about files, and the parts of a session that they use."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from lsp_harness.chat.tool import CallContext
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.kernel.artifacts import ArtifactPart
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.check import Check

Execution = Literal["inline", "background", "auto"]


class CommandOutcome(Protocol):
    """The state of a task.

    Attributes:
        status: "started" (it runs on in the background), "completed", "failed" or "cancelled".
        task_id: The id of the task.
        output: The output, or the stub of its artifact. It is empty for a task that still runs.
        exit_code: The exit status of a command that ended by itself.
        summary: Why it failed or was cancelled, or one line about the result.
        artifact_id: The artifact with the whole output, if `output` is its stub.
    """

    @property
    def status(self) -> str: ...
    @property
    def task_id(self) -> str: ...
    @property
    def output(self) -> str: ...
    @property
    def exit_code(self) -> int | None: ...
    @property
    def summary(self) -> str: ...
    @property
    def artifact_id(self) -> str: ...


class OutputPart(Protocol):
    """A part of the output of a task.

    Attributes:
        text: The text.
        next_cursor: The place at which the next part begins.
        is_running: Whether more may come.
    """

    @property
    def text(self) -> str: ...
    @property
    def next_cursor(self) -> int: ...
    @property
    def is_running(self) -> bool: ...


class CommandTasks(Protocol):
    """The tasks of a session, as far as tools use them. All methods raise HarnessError for an unknown id."""

    async def run_command(self, command: str, execution: Execution, context: CallContext, /) -> CommandOutcome:
        """Run a shell command in the folder of the session."""
        ...

    def read(self, task_id: str, since: int, /) -> OutputPart:
        """Return the output of a task from the cursor `since` on."""
        ...

    async def wait(self, task_id: str, seconds: float, /) -> CommandOutcome:
        """Wait up to some seconds for the end of a task, which runs on if it is not over then."""
        ...

    async def cancel(self, task_id: str, /) -> CommandOutcome:
        """End a task and all its processes."""
        ...


class ArtifactReader(Protocol):
    """The artifacts of a session, as far as tools use them."""

    def read(self, artifact_id: str, offset: int, limit: int, /) -> ArtifactPart:
        """Return up to `limit` bytes of an artifact from `offset` on. Raises HarnessError for an unknown id."""
        ...


class ProjectIndex(Protocol):
    """The index of the workspace folders, which is opened by the first question.

    Attributes:
        remark: Why answers may miss something, or an empty text.
    """

    remark: str

    async def ready(self, report: Callable[[str], None], /) -> IndexQuery | None:
        """Return the questions to the index when it is up to date. None without an index."""
        ...

    def refresh(self, path: Path, /) -> None:
        """Read a file again that a tool has changed."""
        ...


class EditorTexts(Protocol):
    """The texts of an editor that are not saved. Tools see them in place of the files."""

    def unsaved(self) -> Mapping[Path, Document]:
        """Return the texts by their absolute paths without links."""
        ...

    async def apply(self, document: Document, edits: Sequence[Edit], /) -> None:
        """Let the editor change a text. It stays unsaved.

        Raises:
            UsageError: The editor does not do it.
            StaleDocument: The text has changed.
        """
        ...


def can_read_all(path: Path, tool: str) -> bool:
    """Return that a file may be read, for sessions whose rules do not tell files apart."""
    return True


async def keep_no_copy(contents: Mapping[Path, bytes]) -> None:
    """Do nothing before an edit, for sessions without checkpoints."""


def create_no_checks() -> Sequence[Check]:
    """Return no check, for sessions that turn all checks off."""
    return ()


@dataclass(frozen=True, slots=True)
class ToolEnvironment:
    """The folders that the tools work on, and the parts of a session that they use.

    Attributes:
        roots: The workspace folders. Relative paths belong to the first one in which they exist.
        private_files: The rules about files that no model may see.
        index: The index of the folders, or None. The symbol tools then search the texts of the files.
        create_checks: Returns the checks that a new text must pass.
        tasks: The tasks of the session, or None. There is no tool for commands then.
        artifacts: The artifacts of the session, or None.
        before_edit: Called with the absolute paths of files and their new contents before they are written, for
            checkpoints. If it raises HarnessError, nothing is written.
        can_read: Returns whether the rules of the session let a tool, which walks through folders, read a file.
        editor_texts: The unsaved texts of an editor, or None without an editor.
        edit_lock: Held while a file is read, checked and written, so that edits do not overwrite each other.
    """

    roots: Sequence[Path]
    private_files: PrivateFiles
    index: ProjectIndex | None = None
    create_checks: Callable[[], Sequence[Check]] = create_no_checks
    tasks: CommandTasks | None = None
    artifacts: ArtifactReader | None = None
    before_edit: Callable[[Mapping[Path, bytes]], Awaitable[object]] = keep_no_copy
    can_read: Callable[[Path, str], bool] = can_read_all
    editor_texts: EditorTexts | None = None
    edit_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
