"""A person at a real terminal: a program in a pseudo-terminal, what it shows, and what is typed."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

WAIT_S = 80
"""Time of silence after which a program counts as stuck. The limit for a test is longer, so that what the program has
shown is in the report."""


class TerminalPerson:
    """A program of ours in a terminal.

    Args:
        arguments: The arguments of the program.
        folder: The folder in which it runs.
        environment: Variables besides those of this process.
    """

    def __init__(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self._screen, self._theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lsp_harness", *arguments],
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            cwd=folder,
            env={**os.environ, "TERM": "xterm", **(environment or {})},
            preexec_fn=self._take_terminal,  # noqa: PLW1509
        )
        self.seen = b""
        self._looked = 0

    def _take_terminal(self) -> None:
        os.setsid()
        # a shell ignores Ctrl-C for what it starts in the background, and so would the programs of tests that run there
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # opening a terminal makes it that of a session that has none, so that Ctrl-C becomes a signal
        os.close(os.open(os.ttyname(self._theirs), os.O_RDWR))

    def wait_for(self, words: str) -> bytes:
        """Wait until the program shows words that it has not shown before. Return what came until then."""
        wanted = words.encode()
        while (place := self.seen.find(wanted, self._looked)) < 0:
            assert self._read(), f"{words!r} was not shown: {self.seen[self._looked :]!r}"
        shown = self.seen[self._looked : place + len(wanted)]
        self._looked = place + len(wanted)
        return shown

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._screen, keys.encode())

    def type_ahead(self, line: str) -> None:
        """Write a line while nothing reads it, and wait until the terminal holds it."""
        self.type(line)
        assert select.select([self._theirs], [], [], WAIT_S)[0]

    def wait(self) -> int:
        """Wait until the program ends. Return its exit status."""
        while self._read():
            pass
        return self.process.wait(WAIT_S)

    def close(self) -> None:
        """End the program."""
        self.process.kill()
        self.process.wait()
        for descriptor in (self._screen, self._theirs):
            os.close(descriptor)

    @property
    def is_echoing(self) -> bool:
        """True if the terminal shows keys by itself, because no program reads single ones."""
        return bool(termios.tcgetattr(self._theirs)[3] & termios.ECHO)

    def _read(self) -> bool:
        """Read what the program shows. Return false if it has ended."""
        deadline_s = time.monotonic() + WAIT_S
        while not select.select([self._screen], [], [], 0.1)[0]:
            if self.process.poll() is not None:
                return False
            assert time.monotonic() < deadline_s, f"the program shows nothing more after {self.seen[-2000:]!r}"
        self.seen += os.read(self._screen, 65_536)
        return True
