"""The person at the terminal of a command, who is asked before code of a folder runs that is not trusted."""

import sys

from lsp_harness.config.load import trust_remedy
from lsp_harness.permission.person import Answer, PermissionQuestion


class TerminalPerson:
    """Asks on the terminal of this process. The answer counts for this command."""

    async def ask(self, question: PermissionQuestion) -> Answer | None:
        """Return the answer, or None if no terminal is there. Only an explicit yes allows the action."""
        if not is_terminal():
            return None
        # a server is composed beside this module, and asks nothing on a terminal
        from lsp_harness.cli.sessions.command_answer import read_answer
        from lsp_harness.cli.sessions.terminal_question import TerminalQuestion, write_question

        shown = TerminalQuestion({"tool": question.action.tool, "text": question.text})
        write_question(shown.folded, sys.stderr)
        while (line := await read_answer(shown.prompt, sys.stderr)) is not None:
            match shown.read_answer(line):
                case "show":
                    write_question(shown.text, sys.stderr)
                case "once":
                    return Answer("once")
                case "no":
                    return Answer("reject", f"you said no; {trust_remedy()}")
                case _:
                    write_question(f"please answer with {shown.choices}", sys.stderr)
        return Answer("reject", f"you gave no answer; {trust_remedy()}")


def is_terminal() -> bool:
    """Return whether a person can read a question on standard error and answer it on standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()
