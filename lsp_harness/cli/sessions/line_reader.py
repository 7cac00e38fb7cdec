"""The lines of a person, one for each prompt, from a terminal (`terminal_lines.py`) or from a pipe."""

import asyncio
import sys
from typing import Protocol

from lsp_harness.cli.sessions.standard_input import open_standard_input

MAX_LINE_BYTES = 1_000_000


class LineCancelledError(Exception):
    """The person pressed Ctrl-C, so there is no line."""


class LineReader(Protocol):
    """Reads the lines of a person."""

    async def read(self, prompt: str) -> str | None:
        """Return the next line, which may have been typed before, or None at the end of the input.

        Raises:
            LineCancelledError: The person pressed Ctrl-C.
        """
        ...

    async def answer(self, question: str) -> str | None:
        """Return the next line that is typed after this question has appeared, or None at the end of the input.

        Raises:
            LineCancelledError: The person pressed Ctrl-C.
        """
        ...

    def cancel(self) -> bool:
        """Let the call that waits for a line raise `LineCancelledError`. Return whether there is one."""
        ...


class PipedLines:
    """Reads lines from standard input that is no terminal: a script of a conversation, with its answers."""

    def __init__(self) -> None:
        self._reader: asyncio.StreamReader | None = None

    async def read(self, prompt: str) -> str | None:
        """Return the next line, or None at the end of the input."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        if self._reader is None:
            self._reader = await open_standard_input(MAX_LINE_BYTES)
        try:
            line = await self._reader.readline()
        except ValueError:
            # the line is too long to be one of a person
            line = b""
        sys.stdout.write("\n")
        return line.decode("utf-8", "replace") if line else None

    async def answer(self, question: str) -> str | None:
        """Return the next line, or None at the end of the input. A script writes its answers in advance."""
        return await self.read(question)

    def cancel(self) -> bool:
        """Return false: Ctrl-C ends the command."""
        return False
