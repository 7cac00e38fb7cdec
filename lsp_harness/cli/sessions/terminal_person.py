"""Questions to the person at the terminal of a command, such as whether code of an untrusted folder may run."""

import sys
from typing import TextIO

from lsp_harness.cli.sessions.line_reader import LineCancelledError
from lsp_harness.config.load import trust_remedy
from lsp_harness.extras import need_extra
from lsp_harness.permission.person import PermissionQuestion, PersonAnswer


class TerminalPerson:
    """Asks on the terminal of this process. The answer counts for this command."""

    async def ask(self, question: PermissionQuestion) -> PersonAnswer | None:
        """Return the answer, or None if no terminal is there. Only an explicit yes allows the action."""
        if not is_terminal():
            return None
        # a server is composed beside this module, and asks nothing on a terminal
        from lsp_harness.cli.sessions.terminal_question import TerminalQuestion, write_question

        shown = TerminalQuestion({"tool": question.action.tool, "text": question.text})
        write_question(shown.folded, sys.stderr)
        while (line := await read_answer(shown.prompt, sys.stderr)) is not None:
            match shown.read_answer(line):
                case "show":
                    write_question(shown.text, sys.stderr)
                case "once":
                    return PersonAnswer("once")
                case "no":
                    return PersonAnswer("reject", f"you said no; {trust_remedy()}")
                case _:
                    write_question(f"please answer with {shown.choices}", sys.stderr)
        return PersonAnswer("reject", f"you gave no answer; {trust_remedy()}")


def is_terminal() -> bool:
    """Return whether a person can read a question on standard error and answer it on standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


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
    with need_extra("tui"):
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
