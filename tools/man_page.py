"""Generator of `docs/lsp-harness.1`, the page of the program for `man`: `python -m tools.man_page`.

The page lists the commands of the table. It has neither a version nor a date, so that a release need not write it.
"""

import re
import sys
from collections.abc import Iterable, Iterator

import cyclopts

from lsp_harness.cli.command_table import ALL_GROUPS, Command, CommandGroups, app
from tools.commands_page import list_rows

PROGRAM = "lsp-harness"
PAGE_HEAD = r""".\" Generated from lsp_harness/cli/command_table.py by `make docs`; do not edit.
.TH LSP\-HARNESS 1 "" "lsp\-harness" "User Commands"
.SH NAME
lsp\-harness \- help from a local AI model for any LSP editor
.SH SYNOPSIS
.B lsp\-harness
.RI [ COMMAND ]
.RI [ OPTIONS ]
.RI [ ARGUMENTS ]
.br
.B lsp\-harness
.RI \(dq PROMPT \(dq
.SH DESCRIPTION
A language server that gives any LSP editor help from a local AI model.
Every edit is checked before you see it.
Editors start
.BR "lsp\-harness serve" ;
the other commands are for a terminal.
.PP
Without a command, several words are a prompt for the model, as with
.BR run .
Without arguments, a conversation begins.
.PP
.B lsp\-harness help
.I COMMAND
shows the options of a command.
Most commands print JSON with
.BR \-\-json .
"""
PAGE_END = r""".SH OPTIONS
.TP
.BR \-h ", " \-\-help
Show the list of commands, or the help of one command.
.TP
.BR \-V ", " \-\-version
Print the version on the first line, then the library of llama.cpp and the model.
.SH FILES
.TP
.I ~/.config/lsp\-harness/config.toml
Your settings.
.TP
.I lsp\-harness.toml
The settings of a project, in its folder.
.SH ENVIRONMENT
.TP
.B LSP_HARNESS_HOME
The folder of your settings, the state, the cache and the sockets, in place of the usual folders.
.TP
.BR LSP_HARNESS_MODELS ", " LSP_HARNESS_LIBRARIES
The folders of the models and of the libraries of llama.cpp.
.TP
.BI LSP_HARNESS_ TABLE __ KEY
A setting, for example
.BR LSP_HARNESS_COMPLETION__MAX_LINES .
.SH EXIT STATUS
0 after success, 2 after wrong arguments or settings, and another number after another error.
The error is one sentence on standard error.
.SH SEE ALSO
.B lsp\-harness doctor
checks this installation.
"""
ESCAPES = {"\\": r"\(rs", "-": r"\-", '"': r"\(dq", "'": r"\(aq", "`": r"\(ga", "~": r"\(ti", "^": r"\(ha"}
"""Characters that `man` would show as others, or that have a meaning in a page."""


def escape(text: str) -> str:
    """Return a text as `man` shows it, whatever the encoding of the page."""
    escaped = "".join(ESCAPES.get(sign, sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in text)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


def render(groups: CommandGroups = ALL_GROUPS, program: cyclopts.App = app) -> str:
    """Return the page of these commands, which belong to `program`. Commands of the repository alone are left out."""
    parts = [PAGE_HEAD, ".SH COMMANDS\n"]
    for title, commands in groups.items():
        if rows := list(_list_group(commands, program)):
            parts.append(f".SS {escape(title)}\n{''.join(rows)}")
    return "".join([*parts, PAGE_END])


def _list_group(commands: Iterable[Command], program: cyclopts.App) -> Iterator[str]:
    for command in commands:
        if command.is_measurement:
            continue
        for usage, summary in list_rows(command, program):
            words = f"{PROGRAM} {usage}".split(" ")
            name = [word for word in words if re.fullmatch(r"[a-z][a-z-]*", word)]
            arguments = words[len(name) :]
            line = rf"\fB{escape(' '.join(name))}\fR {escape(' '.join(arguments))}".rstrip()
            yield f".TP\n{line}\n{escape(summary)}\n"


if __name__ == "__main__":
    sys.stdout.write(render())
