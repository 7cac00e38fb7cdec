"""The state of an agent, and the claims about it that different sources make."""

from dataclasses import dataclass
from typing import Any, Literal

AgentStatus = Literal[
    "pending",
    "starting",
    "authenticating",
    "ready",
    "busy",
    "blocked",
    "unknown",
    "stopping",
    "stopped",
    "error",
]
"""`authenticating` waits for a login, `blocked` for the answer to a question. Text is sent to an agent that is `ready`
only. `stopped` and `error` are final."""
Activity = Literal["idle", "working", "blocked", "done", "error", "unknown"]
"""The activity of an agent as one source sees it: a name of the Program Status Protocol (OSC 7501), or `unknown`."""
BlockKind = Literal["", "permission", "question", "auth", "trust", "dialog"]
"""The kind of question for which an agent waits. A `dialog` is one that no rule knows."""
StateSource = Literal["transport", "hook", "osc", "title", "screen", "stall", "process"]
"""The source of a claim, the most reliable one first. `process` is the runtime itself: start and end of the program."""
SOURCE_ORDER: tuple[StateSource, ...] = ("process", "transport", "hook", "osc", "title", "screen", "stall")
"""The ladder of sources. A claim of a higher source wins while it is fresh."""
ENDED: frozenset[AgentStatus] = frozenset({"stopped", "error"})


@dataclass(frozen=True, slots=True)
class StateClaim:
    """The statement of one source about an agent at one moment.

    Attributes:
        source: The source of the claim.
        activity: What the source says the agent is doing.
        rule: The rule or message by which it knows, such as `claude/permission-dialog`.
        kind: What an agent waits for that is blocked.
        message: What the agent says about it, such as the text of its question. It is not trusted.
        url: The address of a login, if the agent shows one.
    """

    source: StateSource
    activity: Activity
    rule: str
    kind: BlockKind = ""
    message: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class AgentState:
    """The state of an agent, and how it is known.

    Attributes:
        status: The status.
        source: The source that decided.
        rule: The rule that decided the status.
        kind: What the agent waits for, if it is `blocked` or `authenticating`.
        message: The question of the agent, or why it ended.
        since: The time at which the status began, in seconds since the epoch.
    """

    status: AgentStatus
    source: StateSource
    rule: str
    kind: BlockKind = ""
    message: str = ""
    since: float = 0.0

    @property
    def fields(self) -> dict[str, Any]:
        """The state as JSON."""
        return {
            "status": self.status,
            "source": self.source,
            "rule": self.rule,
            "kind": self.kind,
            "message": self.message,
            "since": self.since,
        }
