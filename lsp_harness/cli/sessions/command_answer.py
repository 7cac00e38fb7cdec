"""The answer of a person to a question of a command that is no conversation."""

import sys
from typing import TextIO

from lsp_harness.cli.sessions.line_reader import LineCancelledError


async def read_answer(question: str, stream: TextIO | None = None) -> str | None:
    """Return the line that is typed after a question has appeared, or None at the end of the input.

    Ctrl-C clears the line, and pressed again it ends the command.

    Args:
        question: The last line of the question.
        stream: The stream that shows it; standard output if it is None.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed twice.
    """
    # prompt_toolkit takes long to import, and most commands ask nothing
    from lsp_harness.cli.sessions.terminal_lines import TerminalLines

    shown = stream or sys.stdout
    lines = TerminalLines(None, shown)
    for has_next in (True, False):
        try:
            return await lines.answer(question)
        except LineCancelledError:
            if has_next:
                shown.write("Ctrl-C again ends the command\n")
    # the terminal took Ctrl-C for a key, so that no signal came
    raise KeyboardInterrupt
