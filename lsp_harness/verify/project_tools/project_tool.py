"""The interface of a type checker or a linter that a project configures and that reads files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lsp_harness.verify.digest.digest_result import Digest

STDIN = ("/bin/sh", "-c", 'exec "$@" < "$0"')
"""The start of a command whose next word is the file that becomes its standard input."""


@dataclass(frozen=True, slots=True)
class ToolJob:
    """The question to a tool: what does it find in a project with other contents of some files?

    Attributes:
        root: The folder of the project.
        program: The path of the tool.
        texts: File, relative to the project → a file with its content.
        cache: A folder of the tool that stays until the next question.
    """

    root: Path
    program: str
    texts: Mapping[Path, Path]
    cache: Path


class ProjectTool(ABC):
    """A program that finds problems. There is one class for each, and its line in `project_tool_registry`.

    Attributes:
        name: Its name, for messages and `doctor`.
        check: The check that asks it: `types` or `lint`.
        reader: The name by which `verify.digest` reads its output.
        suffixes: The suffixes of the files that it reads.
        install_hint: How to install it.
        needs_files: Whether the texts must stand in the place of their files. Else the command names them.
    """

    name: ClassVar[str]
    check: ClassVar[str]
    reader: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    install_hint: ClassVar[str]
    needs_files: ClassVar[bool] = True

    @abstractmethod
    def find_configuration(self, root: Path, file: Path) -> str:
        """Return where a project says that it uses this tool, or an empty text."""

    @abstractmethod
    def find_program(self, root: Path, file: Path) -> str | None:
        """Return the path of the program for a project that the user trusts, or None if it is missing."""

    @abstractmethod
    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        """Return the commands that answer a question, which run in the folder of the project."""

    def create_environment(self, job: ToolJob) -> Mapping[str, str]:
        """Return more variables of the environment."""
        del job
        return {}

    def list_folders(self, program: str) -> tuple[Path, ...]:
        """Return the folders that the program needs although they may lie in the home of the user."""
        return (Path(program).parent, Path(program).resolve().parent.parent)

    def find_refusal(self, digest: Digest) -> str:
        """Return why the tool did not look at the text, or an empty text."""
        del digest
        return ""
