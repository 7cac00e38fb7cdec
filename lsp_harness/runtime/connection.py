"""The connection to a running agent: the work of each transport, and its observations."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lsp_harness.runtime.agent_state import BlockKind, StateClaim, StateSource

if TYPE_CHECKING:
    from lsp_harness.runtime.states.screen_reader import ScreenReading
    from lsp_harness.runtime.terminal.terminal import Terminal

Delivery = Literal["transport", "hook", "keys"]
"""How an answer reaches the agent: over its protocol, as the reply of a hook, or by keys, which is the last resort."""


@dataclass(frozen=True, slots=True)
class StateClaimed:
    """A source says something about the state of the agent."""

    claim: StateClaim


@dataclass(frozen=True, slots=True)
class ClaimWithdrawn:
    """A source says nothing about the state any more, as after the status report `clear`."""

    source: StateSource


@dataclass(frozen=True, slots=True)
class ScreenRead:
    """The terminal was looked at: the claims of its title and its screen take the place of those before."""

    reading: "ScreenReading"


@dataclass(frozen=True, slots=True)
class AnswerReceived:
    """A part of the agent's answer to the present message, or all of it.

    Attributes:
        text: The text, exactly as the transport says it.
        is_whole: Whether `text` is the whole answer, which ends the message. Otherwise it continues the parts before.
    """

    text: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """A question of an agent that someone must answer.

    Attributes:
        id: Its id, unique within the agent.
        kind: What it is about. `auth` questions have a `url` if the agent shows one.
        text: The question in words. It is not trusted.
        tool: The tool that the agent wants to use, as the agent names it.
        input: The input of that tool.
        options: The answers that the agent offers, as it names them.
        url: The address of a login.
        delivery: How an answer would reach the agent.
    """

    id: str
    kind: BlockKind
    text: str
    tool: str = ""
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    options: tuple[str, ...] = ()
    url: str = ""
    delivery: Delivery = "transport"


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """The answer to a question.

    Attributes:
        is_allowed: Whether the agent may do what it asked for.
        reason: Why. The agent reads it where its transport can carry it.
        text: The text of an answer to a `question`.
    """

    is_allowed: bool
    reason: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class QuestionWithdrawn:
    """The agent does not wait for the answer any more, for example because somebody answered in its terminal."""

    question_id: str


@dataclass(frozen=True, slots=True)
class FilesTouched:
    """The agent says that it changed files. The paths are those that it names."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentEnded:
    """The program has ended, and none of its processes is left.

    Attributes:
        exit_code: The exit status, or minus the number of the signal that ended it.
        reason: Why the agent ended, in words.
    """

    exit_code: int
    reason: str = ""


Observation = (
    StateClaimed
    | ClaimWithdrawn
    | ScreenRead
    | AnswerReceived
    | AgentQuestion
    | QuestionWithdrawn
    | FilesTouched
    | AgentEnded
)
Observer = Callable[[Observation], None]


class Connection(ABC):
    """A running agent, seen through one transport. It reports observations in the event loop, in order.

    Attributes:
        terminal: The terminal of the agent, or None if the transport has none.

    Args:
        observe: Receives each observation of the agent: a state, a message, a question, its end.
    """

    terminal: "Terminal | None" = None

    def __init__(self, observe: Observer) -> None:
        self.observe = observe

    @abstractmethod
    async def start(self) -> None:
        """Start the program.

        Raises:
            AgentError: The program is missing (CliNotFound), cannot be started (SpawnFailed), or demands a login
                (AuthRequired).
        """

    @abstractmethod
    async def submit(self, message: str) -> bool:
        """Give a message to an agent that is ready. Return whether the agent was seen to take it.

        Raises:
            AgentError: The message could not be delivered.
        """

    async def read_unsent_text(self) -> str:
        """Return the text that somebody typed into the prompt of the agent and did not send."""
        return ""

    @abstractmethod
    async def interrupt(self) -> None:
        """Stop the work on the present message. The agent stays usable."""

    @abstractmethod
    async def answer(self, question: AgentQuestion, answer: QuestionAnswer) -> None:
        """Give the agent the answer to a question that it asked through this connection."""

    @abstractmethod
    async def stop(self, *, force: bool = False, timeout_s: float = 5.0) -> list[int]:
        """End the program and all processes that it started.

        Args:
            force: Do not ask the program to end by itself.
            timeout_s: Time for it to end before it is killed.

        Returns:
            The numbers of processes that still run. It is nearly always empty.
        """

    def press(self, keys: bytes) -> None:
        """Give the agent keys as they are, as a person types them. Without a terminal, nothing happens."""
        if self.terminal:
            self.terminal.write(keys)

    def read_answer(self) -> str:
        """Return the answer to the last message as far as the terminal shows it.

        It is asked for if the transport did not say the answer.
        """
        return ""

    def read_lines(self, count: int, *, raw: bool = False) -> list[str]:
        """Return the last lines of what the agent printed, or of its protocol. `raw` keeps escape sequences."""
        return self.terminal.read_lines(count, raw=raw) if self.terminal else []

    def explain(self) -> list[dict[str, Any]]:
        """Return the detection rules that were tried last, each with `source`, `rule`, `matched` and `detail`."""
        return []
