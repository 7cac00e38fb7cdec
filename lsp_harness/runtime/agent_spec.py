"""The description of an agent that a client wants to start."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

TransportName = Literal["acp", "stream-json", "pty"]
"""How the runtime talks with an agent: the Agent Client Protocol, JSON lines of its own, or a pseudo-terminal."""
RunnerName = Literal["local", "bwrap", "container", "ssh"]
"""The name of the runner that runs the program of an agent."""
RUNNER_NAMES: tuple[RunnerName, ...] = get_args(RunnerName)
AGENT_VARIABLE = "LSP_HARNESS_AGENT_ID"
"""The variable that tells the processes of an agent whose they are."""
Isolation = Literal["none", "worktree"]
"""`worktree` gives the agent a git worktree and a branch of its own, and its changes are verified before they are
proposed."""
DEFAULT_COLUMNS, DEFAULT_ROWS = 120, 40


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent to start. Only the names of configured adapters are programs, never a command of a client.

    Attributes:
        type: The name of the adapter, such as `claude` or `echo`.
        workdir: The folder in which it works, absolute.
        name: The name that users see. Empty is the type.
        args: More arguments of the program.
        env: More variables of its environment. Keys stay out of logs, events and command lines.
        columns: The width of its terminal.
        rows: The height of its terminal.
        transport: How to talk with it. Empty is the default of the adapter.
        permission_mode: The permission mode of the agent itself. Empty asks the gate for everything.
        runner: Where it runs. Empty is what the settings say.
        isolation: Whether it works in a git worktree of its own.
        idle_timeout_s: It is stopped after so many seconds without a message or an output. 0 is never.
        network: Whether it may reach the network. The settings can forbid it, too.
        model: The model, `provider/model` or a name of the agent. Some adapters demand one.
    """

    type: str
    workdir: Path
    name: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    columns: int = DEFAULT_COLUMNS
    rows: int = DEFAULT_ROWS
    transport: TransportName | Literal[""] = ""
    permission_mode: str = ""
    runner: RunnerName | Literal[""] = ""
    isolation: Isolation = "none"
    idle_timeout_s: float = 0.0
    model: str = ""
    network: bool = True

    @property
    def shown_name(self) -> str:
        """The name that users see."""
        return self.name or self.type
