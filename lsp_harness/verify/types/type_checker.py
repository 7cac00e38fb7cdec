"""The interface of a type checker: how it is started, and which of its findings count."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

Condition = Literal["always", "closed", "environment"]
"""When a finding of a rule counts against a suggestion.

`always`: whenever it is new. `closed`: only if the suggestion itself closes the call, because otherwise the user may
still add arguments. `environment`: only if the text had no finding of this rule before, because many of them mean that
the checker does not know the project's environment.
"""


class TypeChecker(ABC):
    """A language server that reports type errors. There is one file for each, and its line in `checker_registry`.

    Attributes:
        name: Its name, by which a language names its checker (`LanguageSpec.type_checker`).
        counting_rules: The rules whose findings count, and when.
        install_hint: How to install it.
    """

    name: ClassVar[str]
    counting_rules: ClassVar[Mapping[str, Condition]]
    install_hint: ClassVar[str]

    @abstractmethod
    def find_command(self, root: Path) -> list[str] | None:
        """Return the command that starts it for a workspace folder that the user trusts. None if it is missing."""
        ...

    @abstractmethod
    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return the settings that it gets.

        Args:
            root: The workspace folder.
            python: The Python environment of the settings, or an empty text.
        """
        ...


def find_in_folder(folder: Path, name: str) -> str | None:
    """Return the path of a program in a folder of the workspace, or None."""
    program = folder / name
    return str(program) if os.path.isfile(program) and os.access(program, os.X_OK) else None
