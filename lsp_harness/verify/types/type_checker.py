"""The interface of a type checker: how it is started, and which of its findings count."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.types.conversation import Start
from lsp_harness.verify.types.lsp_conversation import start_lsp_conversation
from lsp_harness.verify.types.project_settings import find_configured_folder

Condition = Literal["always", "closed", "environment"]
"""When a finding of a rule counts against a suggestion.

`always`: whenever it is new. `closed`: only if the suggestion itself closes the call, because otherwise the user may
still add arguments. `environment`: only if the text had no finding of this rule before, because many of them mean that
the checker does not know the project's environment.
"""


class Program(NamedTuple):
    """A program of a checker.

    Attributes:
        argv: The command.
        start: Starts it and begins a conversation in its language.
    """

    argv: Sequence[str]
    start: Start = start_lsp_conversation


class TypeChecker(ABC):
    """A program that reports type errors. There is one class for each, and its line in `checkers.TYPE_CHECKERS`.

    Attributes:
        name: Its name, by which a language names its checker (`LanguageSpec.type_checker`).
        counting_rules: The rules whose findings count, and when.
        install_hint: How to install it.
        stands_for: The checker that a language names and that this one replaces in projects that configure it.
        canary: A text in which it finds an error, whatever its settings say, to notice that it leaves a file out. Empty
            if it never does so in silence.
        included_suffixes: The suffixes of files of which it knows whether the settings of the project leave them out.
        only_reads: Whether it needs neither the network nor a folder to write to, so that it can run in a sandbox.
    """

    name: ClassVar[str]
    counting_rules: ClassVar[Mapping[str, Condition]]
    install_hint: ClassVar[str]
    stands_for: ClassVar[str] = ""
    only_reads: ClassVar[bool] = False
    canary: ClassVar[str] = ""
    included_suffixes: ClassVar[tuple[str, ...]] = ()

    def configures(self, folder: Path) -> str:
        """Return how the files of one folder configure this checker, or an empty text."""
        del folder
        return ""

    def find_configuration(self, root: Path, file: Path) -> str:
        """Return where a project says that it uses this checker, or an empty text.

        Args:
            root: The workspace folder.
            file: A file in it.
        """
        folder = find_configured_folder(root, file, self.configures)
        return self.configures(folder) if folder else ""

    def find_folder(self, root: Path, file: Path) -> Path:
        """Return the folder in which the checker of a file runs. There is one process for each such folder.

        Args:
            root: The workspace folder, which is the answer of checkers that find the project of a file themselves.
            file: The file.
        """
        del file
        return root

    def find_environment(self, root: Path, file: Path, setting: str) -> str:
        """Return the Python environment of the project of a file, for a checker that needs it.

        Args:
            root: The workspace folder.
            file: The file.
            setting: The Python environment of the settings, or an empty text.
        """
        del root, file
        return setting

    def find_exclusion(self, folder: Path, file: Path) -> str:
        """Return why the settings of a project leave a file out, or an empty text.

        Args:
            folder: The folder in which the checker runs.
            file: The file.
        """
        del folder, file
        return ""

    @abstractmethod
    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the program for a folder that the user trusts. None if it is missing.

        Args:
            root: The workspace folder.
            file: The file that is looked at first.
            environment: What `find_environment` returned.
        """
        ...

    def find_static_program(self) -> Program | None:
        """Return the program for a folder that the user does not trust, or None if there is none.

        It is none of the folder's own, and reads the folder without running a plug-in or another program of it.
        """
        return None

    @abstractmethod
    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return the settings that it gets.

        Args:
            root: The folder in which the checker runs.
            python: What `find_environment` returned.
        """
        ...

    def interpret(self, finding: Finding, document: Document) -> Finding:
        """Return a finding as the table of rules knows it.

        A finding of a `closed` rule ends where the call ends.
        """
        return finding


def find_chosen_program(variable: str) -> str | None:
    """Return the program that an environment variable names, or None if it names none that can be run."""
    program = os.environ.get(variable)
    return program if program and os.access(program, os.X_OK) else None


def find_in_folder(folder: Path, name: str) -> str | None:
    """Return the path of a program in a folder of the workspace, or None."""
    program = folder / name
    return str(program) if os.path.isfile(program) and os.access(program, os.X_OK) else None
