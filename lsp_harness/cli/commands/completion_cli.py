"""`lsp-harness completion`: the completion of its commands and options, as a script for a shell.

cyclopts writes the script from the same table as `--help`. This module only adds what the script lacks: the names of
files after it, and the name that zsh expects.
"""

from typing import Literal

from lsp_harness.cli.console import say

PROGRAM = "lsp-harness"
CYCLOPTS_FUNCTION = f"_cyclopts_{PROGRAM}"
"""The function in the script for zsh. Its file must have the same name, so it gets the name that all programs use."""
BASH_REGISTRATION = "complete -F "

ShellName = Literal["bash", "zsh", "fish"]


def completion(shell: ShellName, /) -> int:
    """Print a script with which a shell completes commands and options.

    Parameters
    ----------
    shell
        The shell: bash, zsh or fish.
    """
    say(make_script(shell).rstrip())
    return 0


def make_script(shell: ShellName) -> str:
    """Return the script for a shell. Its first line names the program."""
    # imported late, because the table names this module
    from lsp_harness.cli.command_table import app

    script = app.generate_completion(shell=shell)
    # names of files, where the script has nothing to offer
    script = script.replace(BASH_REGISTRATION, f"complete -o bashdefault -o default {BASH_REGISTRATION[9:]}")
    return script.replace(CYCLOPTS_FUNCTION, f"_{PROGRAM}")
