"""Adapters of agents that run in a terminal only."""

import asyncio
import re
import shutil
from abc import abstractmethod

from lsp_harness.process.tool_run import run_tool
from lsp_harness.runtime.adapter import Adapter, LaunchOrder, Probe
from lsp_harness.runtime.agent_spec import TransportName
from lsp_harness.runtime.connection import Connection, Observer
from lsp_harness.runtime.pty_traits import PtyTraits

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
