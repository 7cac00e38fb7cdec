"""The person at the terminal of a command, who is asked before code of a folder runs that is not trusted."""

import asyncio
import shlex
import sys

from lsp_harness.cli.console import encodable, escape_controls
from lsp_harness.cli.yes_or_no import NO, YES, forget_typed_lines
from lsp_harness.config.load import trust_remedy
from lsp_harness.session.permission.person import Answer, PermissionQuestion

ONCE_PROMPT = "Run it this time? [y/n] "


class TerminalPerson:
    """Asks on the terminal of this process. The answer counts for this command."""

    async def ask(self, question: PermissionQuestion) -> Answer | None:
        """Return the answer, or None if no terminal is there."""
        if not is_terminal():
            return None
        return await asyncio.to_thread(_ask, question)


def is_terminal() -> bool:
    """Return whether a person can read a question on standard error and answer it on standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: PermissionQuestion) -> Answer:
    facts = {"command": shlex.join(question.action.argv), **question.action.input}
    lines = [f"{question.reason}:", *(f"  {name}: {value}" for name, value in facts.items()), f"  ({trust_remedy()})"]
    forget_typed_lines()
    sys.stderr.write("".join(f"{encodable(escape_controls(line), sys.stderr)}\n" for line in lines))
    while True:
        sys.stderr.write(ONCE_PROMPT)
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().casefold()
        if answer in YES:
            return Answer("once")
        if not line or answer in NO:
            return Answer("reject", f"you said no; {trust_remedy()}")
