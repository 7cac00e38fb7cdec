"""The adapter `echo`: an agent that prints each message. It shows that the runtime works, without any installation."""

import platform
import sys
from pathlib import Path

from lsp_harness.runtime.adapter import Launch, Probe
from lsp_harness.runtime.adapters.terminal_adapter import TerminalAdapter
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.pty_traits import CTRL_C, CTRL_D, PtyTraits

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
        """Return that it is there: it is a part of lsp-harness."""
        return Probe(sys.executable, platform.python_version(), is_recorded=True, auth="not needed")
