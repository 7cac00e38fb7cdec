"""The facts that the runtime needs about one kind of agent."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import Connection, Observer

Argv = tuple[str, ...]
WrapCommand = Callable[["LaunchOrder", Argv, bool], Argv]
"""A function that puts a runner, such as a sandbox, before a command. The last argument says if it has a terminal."""
AuthState = Literal["ok", "missing", "unknown", "not needed"]


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start.

    Attributes:
        argv: The command. The first item is found on PATH.
        env: Variables to add to the environment of the agent.
        removed_env: Names of inherited variables that the agent must not see. A trailing `*` is any ending.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    removed_env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """Everything that a connection needs to start an agent.

    Attributes:
        agent_id: The agent. It marks its processes, so that all of them are found at the end.
        spec: The description of the agent.
        transport: The name of the transport.
        argv: The command, without what the runner puts before it.
        env: The whole environment of the program.
        folder: The private folder of the agent, for its log and its settings.
        added_env: The variables of the environment that are not inherited from this process.
        wrap: Puts the runner of the agent before a command.
    """

    agent_id: str
    spec: AgentSpec
    transport: TransportName
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    folder: Path
    added_env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    wrap: WrapCommand = field(default=lambda order, argv, has_terminal: argv, repr=False)

    def build_command(self, argv: Argv, *, has_terminal: bool = False) -> Argv:
        """Return the command that runs a command of the agent where the agent runs.

        Args:
            argv: The command of the agent.
            has_terminal: Whether its input and output are a terminal.
        """
        return self.wrap(self, argv, has_terminal)


@dataclass(frozen=True, slots=True)
class Probe:
    """The known facts about an installed agent.

    Attributes:
        program: The path of the program, or an empty text if it is not installed.
        version: Its version, as its own `--version` says it.
        is_recorded: Whether the version lies in the range on which the screen rules were recorded.
        auth: Whether it is logged in, as its own status command says.
        hint: What the user can do, in one sentence. Empty if nothing is to be done.
    """

    program: str
    version: str = ""
    is_recorded: bool = False
    auth: AuthState = "unknown"
    hint: str = ""


class Adapter(ABC):
    """One kind of agent.

    Attributes:
        name: The type in `POST /agents`.
        transports: How the runtime can talk with it, the default first.
        program: The name of the program on PATH.
    """

    name: str
    transports: tuple[TransportName, ...]
    program: str

    @abstractmethod
    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the program and environment for an agent.

        Raises:
            InvalidSpec: The description lacks something, such as the model of an agent that would use a hosted one.
        """

    @abstractmethod
    async def probe(self) -> Probe:
        """Look at the installed program by its own commands, without a prompt and without the network."""

    @abstractmethod
    def connect(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return the connection of a new agent over `order.transport`. Nothing is started yet."""
