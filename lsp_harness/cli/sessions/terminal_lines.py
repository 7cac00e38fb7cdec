"""The lines of a person in a terminal, with history and editing.

`input()` cannot be stopped: a thread that waits in it takes the next line of the user although nobody wants that any
more. So prompt_toolkit reads the keys in the event loop.
"""

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.history import History
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import create_output

from lsp_harness.cli.console import make_encodable
from lsp_harness.cli.sessions.line_reader import LineCancelledError
from lsp_harness.disk.file_writing import open_for_append, write_own_file
from lsp_harness.process.raw_terminal import drop_typed

HISTORY_LINES = 1000


class TerminalLines:
    """Reads lines from the terminal.

    Args:
        history: The file with the lines of earlier conversations. None keeps none.
        stream: The stream that shows the prompts; standard output if it is None.
    """

    def __init__(self, history: Path | None, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._input, self._output = create_input(), create_output(self._stream)
        if hasattr(self._output, "enable_cpr"):
            # a terminal that does not answer would be told to the user as a mistake
            self._output.enable_cpr = False  # pyright: ignore[reportAttributeAccessIssue]
        # answers to questions are no lines to write again
        self._lines, self._answers = (
            self._make_session(LineHistory(history) if history else None),
            self._make_session(None),
        )
        self._app: Application[str] | None = None
        self._is_reading = self._is_cancelled = False

    async def read(self, prompt: str) -> str | None:
        """Return the next line."""
        return await self._read(self._lines, prompt)

    async def answer(self, question: str) -> str | None:
        """Return the next line that is typed after this question has appeared."""
        return await self._read(self._answers, question, drops_typed=True)

    def cancel(self) -> bool:
        """Let the call that waits for a line raise `LineCancelledError`. Return whether there is one."""
        if not self._is_reading:
            return False
        self._is_cancelled = True
        self._end_cancelled()
        return True

    def _begin(self) -> None:
        self._app = get_app()
        # Ctrl-C may have come before the first key could be read
        self._end_cancelled()

    def _end_cancelled(self) -> None:
        if self._is_cancelled and self._app is not None and not self._app.is_done:
            self._app.exit(exception=LineCancelledError())

    async def _read(self, session: PromptSession[str], prompt: str, *, drops_typed: bool = False) -> str | None:
        shown = make_encodable(prompt, self._stream)
        self._stream.flush()
        self._is_reading, self._is_cancelled = True, False
        try:
            # single keys are read from before the prompt is shown, so that no key can be taken for a part of a line
            with self._input.raw_mode():
                if drops_typed:
                    self._drop_typed()
                # prompt_toolkit draws over this line; programs that wait for the prompt find it here in one piece
                self._output.write_raw(f"{shown}\r")
                self._output.flush()
                # the signal of Ctrl-C has one handler, also while nothing is read
                return await session.prompt_async(shown, handle_sigint=False, pre_run=self._begin)
        except EOFError:
            return None
        finally:
            self._is_reading, self._app = False, None

    def _drop_typed(self) -> None:
        """Forget what the terminal and prompt_toolkit hold: it was typed for something else."""
        clear_typeahead(self._input)
        with suppress(OSError, NotImplementedError):
            drop_typed(self._input.fileno())

    def _make_session(self, history: History | None) -> PromptSession[str]:
        return PromptSession(
            history=history,
            input=self._input,
            output=self._output,
            reserve_space_for_menu=0,
            enable_suspend=True,
            interrupt_exception=LineCancelledError,
        )


class LineHistory(History):
    """The lines of earlier conversations, one in each line of a file.

    Args:
        file: The file. Without it, there are no such lines.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def load_history_strings(self) -> Iterable[str]:
        """Return the lines, the newest first."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return []
        kept = [line for line in lines if line][-HISTORY_LINES:]
        if len(lines) > 2 * HISTORY_LINES:
            with suppress(OSError):
                write_own_file(self._file, "".join(f"{line}\n" for line in kept).encode())
        return kept[::-1]

    def store_string(self, string: str) -> None:
        """Append a line. What cannot be saved is only missing later."""
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
            with open(
                open_for_append(self._file, follows_links=False), "a", encoding="utf-8", errors="replace"
            ) as file:
                file.write(f"{' '.join(string.split())}\n")
