"""Adapters of agents that run in a terminal only, and those of two programs: `echo` and `shell`."""

import asyncio
import os
import platform
import re
import shutil
import sys
from abc import abstractmethod
from pathlib import Path

from lsp_harness.process.tool_run import run_tool
from lsp_harness.runtime.adapter import Adapter, Launch, LaunchOrder, Probe
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import Connection, Observer
from lsp_harness.runtime.pty_traits import CTRL_C, CTRL_D, PtyTraits

VERSION_WAIT_S = 10.0
VERSION = re.compile(r"\d+(?:\.\d+)+[\w.-]*")


class TerminalAdapter(Adapter):
    """An agent that runs in a terminal only."""

    transports: tuple[TransportName, ...] = ("pty",)

    @abstractmethod
    def make_traits(self) -> PtyTraits:
        """Return the keys and the screens of the agent."""

    def connect(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection through a terminal."""
        # the emulator is imported with the first agent
        from lsp_harness.runtime.pty_connection import PtyConnection

        return PtyConnection(order, self.make_traits(), observe)

    async def probe(self) -> Probe:
        """Look for the program, and ask it for its version."""
        program = await asyncio.to_thread(shutil.which, self.program)
        if program is None:
            return Probe("", auth="not needed", hint=f"install {self.program}, or put it on PATH")
        return Probe(program, await read_version(program), is_recorded=True, auth="not needed")


async def read_version(program: str, *arguments: str) -> str:
    """Return the version that a program prints, or an empty text."""
    try:
        result = await run_tool([program, *(arguments or ("--version",))], limit_s=VERSION_WAIT_S)
    except OSError:
        return ""
    found = VERSION.search((result.stdout + result.stderr).decode("utf-8", "replace"))
    return found.group() if found else ""


ECHO_PROGRAM = Path(__file__).with_name("echo_program.py")


class Echo(TerminalAdapter):
    """An agent that prints each message."""

    name = "echo"
    program = sys.executable

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the interpreter of this process with the small program. It takes no arguments."""
        return Launch((sys.executable, "-S", "-E", "-I", str(ECHO_PROGRAM)))

    def make_traits(self) -> PtyTraits:
        """Return the keys. The program reports its states by itself."""
        return PtyTraits(exit_keys=(CTRL_C, CTRL_D), interrupt_keys=CTRL_C, prompt_rows=1)

    async def probe(self) -> Probe:
        """Return that the agent is available: it is a part of lsp-harness."""
        return Probe(sys.executable, platform.python_version(), is_recorded=True, auth="not needed")


BASH_FILE = Path(__file__).with_name("shell_states.bash")
IDLE_PROMPT = "\x1b]7501;state=idle:app=shell\x1b\\$ "
"""The prompt of a shell that only knows `PS1`. Such a shell does not say when a command begins."""
CTRL_U = b"\x15"


class ShellAdapter(TerminalAdapter):
    """The shell of the user. It is bash if that is there, because bash can tell when a command begins."""

    name = "shell"

    def __init__(self) -> None:
        user, bash = os.environ.get("SHELL", ""), shutil.which("bash")
        self.program = user if Path(user).name == "bash" else bash or user or "sh"

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return an interactive shell with the settings of the user, which reports its states."""
        if Path(self.program).name == "bash":
            return Launch((self.program, "--rcfile", str(BASH_FILE), "-i", *spec.args))
        return Launch((self.program, "-i", *spec.args), {"PS1": IDLE_PROMPT})

    def make_traits(self) -> PtyTraits:
        """Return the keys. Ctrl-U empties the line, so that Ctrl-D ends the shell."""
        return PtyTraits(
            exit_keys=(CTRL_U + CTRL_D,),
            interrupt_keys=CTRL_C,
            has_paste=Path(self.program).name == "bash",
            prompt_rows=1,
        )
