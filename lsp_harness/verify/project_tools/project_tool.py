"""The interfaces of programs that a project configures: a program, and a type checker or linter that reads files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.types.project_settings import find_configured_folder

STDIN = ("/bin/sh", "-c", 'exec "$@" < "$0"')
"""The start of a command whose next word is the file that becomes its standard input."""


@dataclass(frozen=True, slots=True)
class ToolJob:
    """The question to a tool: what does it find in a project with other contents of some files?

    Attributes:
        root: The folder in which the tool runs.
        program: The path of the tool.
        texts: File, relative to this folder → a file with its content.
        cache: A folder of the tool that stays until the next question.
        users: Other files, relative to this folder, that use the changed ones.
        environment: The environment of a project of Python, or None.
    """

    root: Path
    program: str
    texts: Mapping[Path, Path]
    cache: Path
    users: tuple[Path, ...] = ()
    environment: Path | None = None


class ProjectProgram(ABC):
    """A program that a project configures for some of its files.

    Attributes:
        name: Its name, for messages and `doctor`.
        suffixes: The suffixes of the files that it reads.
        install_hint: How to install it.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    install_hint: ClassVar[str]

    def configures(self, folder: Path) -> str:
        """Return how the files of one folder configure this program, or an empty text."""
        del folder
        return ""

    def find_configuration(self, root: Path, file: Path) -> str:
        """Return where a project says that it uses this program, or an empty text.

        Args:
            root: The workspace folder.
            file: A file in it.
        """
        folder = find_configured_folder(root, file, self.configures)
        return self.configures(folder) if folder else ""

    def find_folder(self, root: Path, file: Path) -> Path:
        """Return the folder in which the program runs: the nearest one of a file that configures it, or the workspace
        folder."""
        return find_configured_folder(root, file, self.configures) or root

    @abstractmethod
    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        """Return the path of the program for a project that the user trusts, or None if it is missing.

        Args:
            root: The workspace folder.
            file: A file in it.
            environment: The environment of a project of Python, or None.
        """

    def list_folders(self, program: str) -> tuple[Path, ...]:
        """Return the folders that the program needs although they may lie in the home of the user."""
        return (Path(program).parent, Path(program).resolve().parent.parent)


class ProjectTool(ProjectProgram):
    """A program that finds problems. There is one class for each, and its line in `tools.PROJECT_TOOLS`.

    Attributes:
        check: The check that asks it: `types` or `lint`.
        reader: The name by which `verify.digest` reads its output.
        stopped_status: The exit status with which it says that it stopped at an error and looked at nothing else.
        names_users: Whether it looks only at the files that its command names, which then also names the files that use
            the changed ones.
        needs_files: Whether the texts must stand in the place of their files. Else the command names them.
    """

    check: ClassVar[str]
    reader: ClassVar[str]
    needs_files: ClassVar[bool] = True
    names_users: ClassVar[bool] = False
    stopped_status: ClassVar[int | None] = None

    def find_exclusion(self, folder: Path, file: Path) -> str:
        """Return why the settings of a project leave a file out, or an empty text.

        Args:
            folder: The folder in which the tool runs.
            file: The file.
        """
        del folder, file
        return ""

    @abstractmethod
    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        """Return the commands that answer a question, which run in the folder of the project."""

    def create_environment(self, job: ToolJob) -> Mapping[str, str]:
        """Return more variables of the environment."""
        del job
        return {}

    def find_refusal(self, digest: Digest) -> str:
        """Return why the tool did not look at the text, or an empty text."""
        del digest
        return ""
