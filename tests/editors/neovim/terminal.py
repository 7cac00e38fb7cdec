"""A terminal in tmux that tests type into and read. They wait for what it prints."""

import os
import re
import select
import subprocess
import time
from pathlib import Path

SECONDS = 20
ESCAPE = re.compile(r"\x1b\[[0-9;:]*m")


class Terminal:
    """A program in one window of this size."""

    def __init__(self, tmux: str, folder: Path, *, columns: int, rows: int) -> None:
        self._tmux = [tmux, "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self._fifo = folder / "output"
        self._size = ["-x", str(columns), "-y", str(rows)]
        self._output = -1
        self.patience = SECONDS
        """Seconds until what is waited for must have come."""

    def _run(self, *arguments: str, check: bool = True) -> str:
        ran = subprocess.run([*self._tmux, *arguments], check=check, capture_output=True, text=True)
        return ran.stdout

    def start(self, command: list[str], cwd: Path, environment: dict[str, str]) -> None:
        os.mkfifo(self._fifo)
        # open the pipe before the program writes, or the first output is lost
        self._output = os.open(self._fifo, os.O_RDWR | os.O_NONBLOCK)
        variables = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        self._run("-u", "new-session", "-d", "-s", "it", *self._size, "-c", str(cwd), *variables, *command)
        self._run("pipe-pane", "-t", "it", f"cat > {self._fifo}")

    def type(self, keys: str) -> None:
        """Type a text literally."""
        self._run("send-keys", "-t", "it", "-l", keys)

    def press(self, key: str) -> None:
        """Press a key by its name in tmux."""
        self._run("send-keys", "-t", "it", key)

    def coloured(self) -> str:
        return self._run("capture-pane", "-p", "-e", "-t", "it")

    def screen(self) -> list[str]:
        return [line.rstrip() for line in self._run("capture-pane", "-p", "-t", "it").splitlines()]

    def until(self, *wanted: str, gone: str = "", coloured: bool = False) -> str:
        """Wait until the wanted texts are on the screen and `gone` is not, and return the screen with its colours."""
        end = time.monotonic() + self.patience
        while (left := end - time.monotonic()) > 0:
            seen = self.coloured()
            plain = ESCAPE.sub("", seen) + (seen if coloured else "")
            if all(text in plain for text in wanted) and not (gone and gone in seen):
                return seen
            # the next thing that is printed, whatever it is; nothing may come when it all has come already
            ready, _, _ = select.select([self._output], [], [], min(left, 1.0))
            if ready:
                os.read(self._output, 65536)
        raise AssertionError(f"{wanted} never came on the screen:\n{self.coloured()}")

    def close(self) -> None:
        # when the program has ended, there is no tmux server
        self._run("kill-server", check=False)
        if self._output >= 0:
            os.close(self._output)
