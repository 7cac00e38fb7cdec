"""The adapter `shell`: the shell of the user, which tells the terminal when a command begins and ends."""

import os
import shutil
from pathlib import Path

from lsp_harness.runtime.adapter import Launch
from lsp_harness.runtime.adapters.terminal_adapter import TerminalAdapter
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.pty_traits import CTRL_C, CTRL_D, PtyTraits

BASH_FILE = Path(__file__).with_name("shell_states.bash")
IDLE_PROMPT = "\x1b]7501;state=idle:app=shell\x1b\\$ "
"""The prompt of a shell that only knows `PS1`. Such a shell does not say when a command begins."""
CTRL_U = b"\x15"


class Shell(TerminalAdapter):
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
