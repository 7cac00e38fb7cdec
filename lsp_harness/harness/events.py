"""The events that a harness reports to its surfaces, whoever caused them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.wire.event import Event

if TYPE_CHECKING:
    from lsp_harness.runtime.agent_events import AgentEvent


@dataclass(frozen=True, slots=True)
class FindingsChanged:
    """The findings of a document are other ones now. An empty list removes them from the editor."""

    uri: str
    findings: PublishedFindings


@dataclass(frozen=True, slots=True)
class OpenFindingsChanged:
    """The errors of an open document, which nobody asked for, are other ones now. They are about this version."""

    uri: str
    version: int


@dataclass(frozen=True, slots=True)
class AgentFindingsChanged:
    """The findings about a file that an agent changed are other ones now. The path has no links."""

    file: Path


@dataclass(frozen=True, slots=True)
class VerificationReported:
    """A check of a document begins, or its verification has ended: then `check` is empty, and `findings` may tell more.

    Attributes:
        uri: The URI of the document.
        version: The version that is verified.
        check: The title of the check that begins.
        done: The number of checks before it.
        total: The number of all checks.
    """

    uri: str
    version: int
    check: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class IndexReported:
    """The process that keeps the index of a folder sent a message (see `index_process`)."""

    root: Path
    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StateChanged:
    """`Harness.state` may return something else now."""


@dataclass(frozen=True, slots=True)
class TroubleReported:
    """The user should read this sentence once, whatever happens to the requests that it is about."""

    message: str


@dataclass(frozen=True, slots=True)
class TurnReported:
    """A turn of the session got an event, in the envelope of the session log."""

    event: Event


@dataclass(frozen=True, slots=True)
class ConversationReported:
    """A conversation of the client got an event, or sent data without a number that is not written to its log."""

    event: Event


@dataclass(frozen=True, slots=True)
class AgentReported:
    """A foreign agent got an event, such as `agent_ready` or `permission_request`."""

    event: "AgentEvent"


HarnessEvent = (
    FindingsChanged
    | VerificationReported
    | IndexReported
    | StateChanged
    | TroubleReported
    | TurnReported
    | ConversationReported
    | AgentReported
    | AgentFindingsChanged
    | OpenFindingsChanged
)
Listener = Callable[[HarnessEvent], None]


class EventStream:
    """Events of one harness, for any number of subscribers. They are called on the event loop, in order."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> None:
        """Call a function with each event from now on."""
        self._listeners.append(listener)

    def unsubscribe(self, listener: Listener) -> None:
        """Do not call a function any more."""
        self._listeners.remove(listener)

    def publish(self, event: HarnessEvent) -> None:
        for listener in tuple(self._listeners):
            listener(event)
