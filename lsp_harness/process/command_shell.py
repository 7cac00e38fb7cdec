"""The shell that runs commands, and the environment that makes it read nothing but the command."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Dialect = Literal["bash", "posix"]
if sys.platform == "win32":
    # that of Git for Windows
    BASH_PLACES = ("C:/Program Files/Git/bin/bash.exe",)
else:
    BASH_PLACES = (
        "/bin/bash",
        "/usr/bin/bash",
        "/usr/local/bin/bash",
        "/opt/homebrew/bin/bash",
        "/run/current-system/sw/bin/bash",
    )
"""Paths where bash may be. `PATH` is not asked, because it may name a folder of the workspace."""
FALLBACK = "/bin/sh"
VARIABLES_OF_SHELLS = re.compile(
    r"BASH_FUNC_.*|BASH_.*|BASHOPTS|SHELLOPTS|ENV|CDPATH|GLOBIGNORE|EXECIGNORE|FIGNORE|IFS|PS[0-9]|PROMPT_COMMAND|"
    r"POSIXLY_CORRECT|POSIX_PEDANTIC|TIMEFORMAT|TMOUT|FUNCNEST|INPUTRC|HISTFILE|MAILPATH|MAILCHECK"
)
"""Variables by which a shell runs other code, or reads a command in another way."""


@dataclass(frozen=True, slots=True)
class CommandShell:
    """A shell that runs commands, and the grammar by which they are read.

    Attributes:
        program: The path of the shell.
        dialect: The grammar that it reads.
    """

    program: str
    dialect: Dialect

    def command(self, script: str) -> list[str]:
        """Return the program and its arguments that run a script, and read no file of settings."""
        if self.dialect == "bash":
            return [self.program, "--noprofile", "--norc", "-c", script]
        return [self.program, "-c", script]


@cache
def find_shell() -> CommandShell:
    """Return bash if it is there, because commands are read by its grammar. Otherwise `sh`."""
    for place in BASH_PLACES:
        if Path(place).is_file() and os.access(place, os.X_OK):
            return CommandShell(place, "bash")
    return CommandShell(FALLBACK, "posix")


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables that change how a shell reads a script."""
    return {name: value for name, value in environment.items() if not VARIABLES_OF_SHELLS.fullmatch(name)}
