"""A program in a pseudo-terminal, with its screen, its log and its viewers."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.files.secret_values import find_secret_values
from lsp_harness.process.process_tree import ProcessTree, add_mark
from lsp_harness.runtime.agent_errors import AgentBusy, AgentNotReady
from lsp_harness.runtime.terminal.output_scanner import OutputSplitter, TerminalQuery, answer_query, scan_output
from lsp_harness.runtime.terminal.terminal_log import TerminalLog
from lsp_harness.runtime.terminal.terminal_program import TerminalProgram, start_program, terminal_environment
from lsp_harness.runtime.terminal.terminal_signals import (
    LinkShown,
    ScreenChanged,
    SignalListener,
    StatusRecords,
    StatusReport,
    StatusReported,
    TerminalEnded,
    TerminalSignal,
    find_login_url,
)
from lsp_harness.runtime.terminal.terminal_streams import OutputRing
from lsp_harness.runtime.terminal.terminal_viewer import STALL_LIMIT_S, TerminalViewer, ViewerGroup
from lsp_harness.runtime.viewer_sizes import ViewerSizes, limit_size

if TYPE_CHECKING:
    from lsp_harness.runtime.terminal.screen import Screen

CHANGE_DELAY_S = 0.03
"""Time for which changes of the screen are collected."""
LAST_OUTPUT_S = STALL_LIMIT_S + 1.0
"""Maximum wait for the rest of the output after the end of the program."""
SUPERVISOR_S = 3.0
"""Time that the supervisor has to kill everything after the grace time, before this process does it."""
MAX_LINKS = 64


class Terminal:
    """A program in a pseudo-terminal. All methods must be called in one event loop.

    Attributes:
        screen: The emulated screen.
        ring: The newest bytes of the output, as the program wrote them.
        links: The targets of the links that the program printed (OSC 8), the newest one last.
        viewer_sizes: The sizes of the windows of its viewers, which decide about its own size.
        listeners: Functions that are called with each signal at once. A listener that is added directly after `start`
            misses nothing.
        exit_code: The exit status of the program, or minus the number of a signal. None as long as it runs.
    """

    def __init__(self, program: TerminalProgram, screen: "Screen", log: TerminalLog, mark: str) -> None:
        """Take charge of a running program. Use `start` to start one."""
        self.screen = screen
        self.ring = OutputRing()
        self.viewer_sizes = ViewerSizes(self)
        self.links: deque[str] = deque(maxlen=MAX_LINKS)
        self.listeners: list[SignalListener] = []
        self.exit_code: int | None = None
        self._program = program
        self._log = log
        self._splitter = OutputSplitter()
        self._records = StatusRecords()
        self._input = program.open_input()
        self._change_timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._tree = ProcessTree(program, mark)
        self._ending = asyncio.ensure_future(self._follow())
        self._output = program.open_output(self._receive)
        self._viewers = ViewerGroup(self._output)

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        columns: int,
        rows: int,
        log_file: Path | None,
        mark: str,
    ) -> "Terminal":
        """Start a program in a new terminal.

        Args:
            argv: The command. The first item is found on PATH of `env`.
            cwd: The folder in which it runs.
            env: Its whole environment. The values of keys and tokens in it are left out of the log.
            columns: The width.
            rows: The height.
            log_file: The file for its output, or None.
            mark: A name by which its descendants are found, such as the id of the agent. It must not contain a colon.

        Raises:
            CliNotFound: The program is not installed.
            SpawnFailed: It cannot be started.
        """
        columns, rows = limit_size(columns, rows)
        screen = await asyncio.to_thread(_open_screen, columns, rows)
        environment = add_mark(terminal_environment(env), mark)
        program = await start_program(argv, cwd=cwd, env=environment, columns=columns, rows=rows)
        return cls(program, screen, TerminalLog(log_file, find_secret_values(env)), mark)

    @property
    def pid(self) -> int:
        """The number of the program."""
        return self._program.program_pid

    @property
    def size(self) -> tuple[int, int]:
        """The columns and the rows."""
        return self.screen.columns, self.screen.lines

    @property
    def status_reports(self) -> list[StatusReport]:
        """The states that the parts of the program reported last (OSC 7501), the newest one last."""
        return self._records.reports

    def write(self, data: bytes) -> None:
        """Write bytes to the input of the program, as if they were typed.

        Raises:
            AgentNotReady: The program has ended.
            AgentBusy: The program has not read a lot of earlier input.
        """
        if self.exit_code is not None:
            raise AgentNotReady("The program has ended.")
        if not self._input.add(data):
            raise AgentBusy("The program does not read what is typed.")

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal. The program is told and draws again."""
        columns, rows = limit_size(columns, rows)
        if (columns, rows) != (self.screen.columns, self.screen.lines):
            self.screen.resize(columns, rows)
            if self.exit_code is None:
                self._program.resize(columns, rows)
            self.viewer_sizes.announce()
            self._note_change()

    def attach(self) -> TerminalViewer:
        """Return a new viewer: the screen as it is, and then the output as it comes."""
        viewer = self._viewers.attach(self.screen.snapshot())
        if self.exit_code is not None:
            self._viewers.end()
        return viewer

    def read_lines(self, count: int, *, raw: bool = False) -> list[str]:
        """Return the last lines of the output. `raw` keeps escape sequences."""
        if count <= 0:
            return []
        if raw:
            text = self.ring.read()[1].decode("utf-8", "replace")
            return text.removesuffix("\n").split("\n")[-count:] if text else []
        rows = self.screen.rows()
        while rows and not rows[-1]:
            rows.pop()
        if self.screen.is_alternate or len(rows) >= count:
            return rows[-count:]
        return [*self.screen.history(count - len(rows)), *rows]

    def find_login_url(self) -> str:
        """Return the address of a login that the program shows, or an empty text. It is not trusted."""
        screen = self.screen
        return find_login_url(screen.rows(), screen.columns, self.links, self.ring.read()[1])

    async def wait(self) -> int:
        """Wait until the program and all its descendants have ended. Return the exit status of the program."""
        await asyncio.shield(self._ending)
        assert self.exit_code is not None
        return self.exit_code

    async def end(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """End the program and all its descendants.

        Args:
            force: Kill them at once.
            timeout_s: Time to end in order.

        Returns:
            The numbers of processes that still run, for example because they wait for a disk.
        """
        grace_s = 0.0 if force else timeout_s
        self._program.request_end(grace_s)
        await asyncio.wait({self._ending}, timeout=grace_s + SUPERVISOR_S)
        if self._ending.done():
            return []
        left = await self._tree.end(grace_s=0.0)
        await asyncio.wait({self._ending}, timeout=LAST_OUTPUT_S)
        return left

    def close(self) -> None:
        """Free everything. The program is killed if it runs. The screen cannot be used afterwards."""
        if not self._ending.done():
            self._program.request_end(0.0)
            self._ending.cancel()
        self._finish()
        self._tree.close()
        self.screen.close()

    async def _follow(self) -> None:
        """Wait for the end of all processes, and read the rest of the output."""
        code = await self._tree.wait()
        # the supervisor itself may have been killed
        if await self._tree.find_processes():
            await self._tree.end(grace_s=0.0)
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_OUTPUT_S):
                await self._output.ended.wait()
        self._finish()
        self.exit_code = code
        self._handle_signal(TerminalEnded(code))

    def _finish(self) -> None:
        """Close all descriptors, and tell the viewers."""
        self._output.close()
        self._input.close()
        if rest := self._splitter.finish():
            self._show(rest)
        if self._change_timer:
            self._change_timer.cancel()
            self._signal_change()
        self._program.close()
        self._log.close()
        self._records.clear()
        self._viewers.end()

    def _receive(self, data: bytes) -> None:
        self.ring.append(data)
        self._log.write(data)
        if whole := self._splitter.feed(data):
            self._show(whole)

    def _show(self, data: bytes) -> None:
        """Feed the screen and the viewers, answer questions, and tell the listeners of signals."""
        shown: list[bytes] = []
        for part in scan_output(data):
            if isinstance(part, bytes):
                self.screen.feed(part)
                shown.append(part)
            elif isinstance(part, TerminalQuery):
                screen = self.screen
                self._input.add(answer_query(part, screen.cursor, (screen.lines, screen.columns)))
            else:
                self._handle_signal(part)
        if output := b"".join(shown):
            self._viewers.add(output)
            self._note_change()

    def _handle_signal(self, signal: TerminalSignal) -> None:
        if isinstance(signal, StatusReported):
            self._records.add(signal.report)
        elif isinstance(signal, LinkShown):
            with suppress(ValueError):
                self.links.remove(signal.url)
            self.links.append(signal.url)
        for listener in tuple(self.listeners):
            listener(signal)

    def _note_change(self) -> None:
        if not self._change_timer:
            self._change_timer = self._loop.call_later(CHANGE_DELAY_S, self._signal_change)

    def _signal_change(self) -> None:
        self._change_timer = None
        self._log.flush()
        self._handle_signal(ScreenChanged())


def _open_screen(columns: int, lines: int) -> "Screen":
    """Return a new screen. The first one loads the emulator."""
    from lsp_harness.runtime.terminal.screen import Screen

    return Screen(columns, lines)
