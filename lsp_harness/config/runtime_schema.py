"""The settings of the runtime: limits of agents, and agents that the user describes."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AgentSetting:
    """A kind of agent of your own. See [Agents](agents.md#your-own-agents)."""

    name: str = ""
    """The type in `POST /agents` and `lsp-harness agents spawn`. It is the NAME of `[runtime.agents.NAME]`."""
    command: str = ""
    """The program, found on `PATH` or as an absolute path. It runs without a shell."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: tuple[str, ...] = ()
    """More variables of its environment, each as `NAME=value`. Do not write keys here: they are inherited."""
    transport: str = "pty"
    """How to talk with it: `pty`, a terminal, or `acp`, the Agent Client Protocol over standard input and output."""
    ready_pattern: str = ""
    """A regular expression for the last rows of the screen when it takes a message."""
    busy_pattern: str = ""
    """One for when it works. It wins against `ready_pattern`."""
    blocked_pattern: str = ""
    """One for when it asks for a permission. It wins against both."""
    allow_keys: tuple[str, ...] = ()
    """The keys that allow what it asks for: names such as `enter`, `esc`, `down`, `ctrl-c`, or texts."""
    deny_keys: tuple[str, ...] = ()
    """The keys that deny it. The default is `esc`."""
    exit_keys: tuple[str, ...] = ()
    """The keys that end it. The default is `ctrl-d`."""
    interrupt_keys: tuple[str, ...] = ()
    """The keys that stop its work. The default is `esc`."""
    bracketed_paste: bool = True
    """Paste a message of several lines as one. Otherwise its lines are typed one by one."""
    prompt_rows: int = 0
    """The number of last rows that are the prompt and never an answer."""
    file: Path | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Runtime:
    """Foreign agents that run in terminals. See [Agents](agents.md). Only for your own settings."""

    max_agents: int = 10
    """The largest number of agents that run at once. Agents that have ended do not count."""
    default_timeout_ms: int = 60_000
    """How many milliseconds an agent has for a message without a time of its own."""
    idle_timeout_s: float = 0.0
    """An agent is stopped after this many seconds without a message or an output; 0 is never."""
    allowed_roots: tuple[str, ...] = ()
    """Folders in which agents may work, besides the workspace folders. A folder allows those in it, too."""
    agents: tuple[AgentSetting, ...] = ()
    """Agents of your own, each as a table `[runtime.agents.NAME]`."""
