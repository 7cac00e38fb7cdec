"""The person at the terminal of a command, who is asked before code of a folder runs that is not trusted."""

import asyncio
import shlex
import sys
from contextlib import suppress

from lsp_harness.cli.console import encodable, escape_controls
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
    _forget_typed_lines()
    sys.stderr.write("".join(f"{encodable(escape_controls(line), sys.stderr)}\n" for line in lines) + ONCE_PROMPT)
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().casefold()
    return Answer("once") if answer in ("y", "yes") else Answer("reject", f"you said no; {trust_remedy()}")


def _forget_typed_lines() -> None:
    """Drop what was typed before the question was there: it is no answer to it."""
    with suppress(ImportError, OSError):
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
