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
    """The arguments of the program."""
    env: tuple[str, ...] = ()
    """More variables for the program, each as `NAME=value`. Do not write keys here: they are inherited."""
    transport: str = "pty"
    """How to talk with the agent: `pty`, a terminal, or `acp`, the Agent Client Protocol over standard input and
    output.
    """
    ready_pattern: str = ""
    """A regular expression for the last rows of the screen when the agent takes a message."""
    busy_pattern: str = ""
    """A regular expression for the last rows when the agent works. It wins against `ready_pattern`."""
    blocked_pattern: str = ""
    """A regular expression for the last rows when the agent asks for a permission. It wins against both others."""
    allow_keys: tuple[str, ...] = ()
    """The keys that allow what the agent asks for: names such as `enter`, `esc`, `down`, `ctrl-c`, or texts."""
    deny_keys: tuple[str, ...] = ()
    """The keys that deny what the agent asks for. The default is `esc`."""
    exit_keys: tuple[str, ...] = ()
    """The keys that end the agent. The default is `ctrl-d`."""
    interrupt_keys: tuple[str, ...] = ()
    """The keys that stop the work of the agent. The default is `esc`."""
    bracketed_paste: bool = True
    """Paste a message of several lines as one. Otherwise its lines are typed one by one."""
    prompt_rows: int = 0
    """The number of last rows that are the prompt and never an answer."""
    runner: str = ""
    """The runner of the agent, instead of `runtime.runner`. A kind of lsp-harness takes this and the next keys, too."""
    network: bool = True
    """Let the agent reach the network, if `runtime.network` allows that."""
    container_image: str = ""
    """The image of the container, instead of `runtime.container_image`."""
    ssh_host: str = ""
    """The other machine, instead of `runtime.ssh_host`."""
    sandbox_folders: tuple[str, ...] = ()
    """Files and folders of your home that the agent may change in `bwrap`, such as those with its login."""
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
    client_variables: tuple[str, ...] = ()
    """Variables that a client may set for an agent, besides keys and those that change no program, such as `LANG`. Name
    none that decides which code runs."""
    runner: str = "local"
    """Where agents run that name no runner: `local`, `bwrap`, `container` or `ssh`. See
    [Changes of agents](agent-changes.md#where-the-program-runs)."""
    network: bool = True
    """Let agents reach the network. With `false` only `bwrap` and `container` start agents, because the others cannot
    close it."""
    container_program: str = ""
    """`podman` or `docker`. Empty takes the first one that is installed."""
    container_image: str = ""
    """The image of the runner `container`. It must be on this machine and have the program of the agent."""
    container_options: tuple[str, ...] = ()
    """More options of `podman run` or `docker run`, such as `--volume=/data:/data`."""
    ssh_host: str = ""
    """The machine of the runner `ssh`, as ssh names it. It must have the same folder."""
    ssh_options: tuple[str, ...] = ()
    """More options of `ssh`, such as `-p2222`."""
    agents: tuple[AgentSetting, ...] = ()
    """Agents of your own, each as a table `[runtime.agents.NAME]`."""
