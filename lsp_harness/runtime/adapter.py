"""The facts that the runtime needs about one kind of agent."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from lsp_harness.runtime.agent_spec import AgentSpec, TransportName

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

    name: ClassVar[str] | str
    transports: ClassVar[tuple[TransportName, ...]] | tuple[TransportName, ...]
    program: ClassVar[str] | str

    @abstractmethod
    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the program and environment for an agent.

        Raises:
            InvalidSpec: The description lacks something, such as the model of an agent that would use a hosted one.
        """

    @abstractmethod
    async def probe(self) -> Probe:
        """Look at the installed program by its own commands, without a prompt and without the network."""
