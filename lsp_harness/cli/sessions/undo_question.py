"""The preview of an undo for the person at a terminal, and the question whether it shall be done."""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

from lsp_harness.cli.sessions.terminal_question import NO, YES
from lsp_harness.sessions.session_undo import UndoResult, UndoWish, describe_undo


def is_dialog() -> bool:
    """Return whether a person sees the output of this process and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


async def ask_undo(
    wish: UndoWish,
    seen: UndoResult,
    *,
    write: Callable[[str], object],
    read: Callable[[str], Awaitable[str | None]],
) -> UndoWish | None:
    """Show what an undo would do, and return what the person wants: that and no other file, or None for nothing.

    Args:
        wish: What was asked for.
        seen: The changes that the undo would make.
        write: Shows a line to the person.
        read: Returns the answer to a question, or None at the end of the input.
    """
    if not seen.paths and not seen.commands:
        # the caller says why nothing happens
        return None
    for line in describe_undo(seen):
        write(line)
    more = " · a = also what changed while commands ran" if seen.commands else ""
    while (line := await read(f"Do it? [y/n{more}] ")) is not None:
        answer = line.strip().casefold()
        if answer == "a" and seen.commands:
            return replace(wish, paths=(*seen.paths, *seen.commands), with_commands=True)
        if answer in YES:
            return replace(wish, paths=seen.paths) if seen.paths else None
        if answer in NO:
            return None
        # another word is no answer
        write("Write y or n.")
    return None
