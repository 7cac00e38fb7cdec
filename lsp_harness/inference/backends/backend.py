"""What the client needs of a dialect, and the features a server may lack."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from lsp_harness.errors import EngineError
from lsp_harness.inference.backends.endpoint import error_message
from lsp_harness.inference.request import Chunk, Continuation, Infill, Priority, Props

Json = dict[str, Any]
Features = dict[str, bool | str]
"""Feature → whether the server has it; a text says how far, or what is done instead."""
FEATURES: tuple[str, ...] = (
    "infill",
    "heal",
    "shorter",
    "lookup",
    "grammar",
    "n",
    "logprobs",
    "expected",
    "deadline",
    "warm",
    "cancel",
    "persist",
    "shift",
    "priority",
    "tokenize",
    "embedding",
)


NO_INFILL_KEY = "no_infill"
"""In the raw `/props` of a server that fills no holes: why, for who asks."""


class EstimatedCount(int):
    """A token count that no tokenizer made: the number is a guess, and says so by its type."""

    def __repr__(self) -> str:
        return f"about {int(self)}"


BYTES_PER_TOKEN = 3
"""Of source code; low, so that a prompt within its estimated budget is within its true one."""


def estimate_counts(texts: Sequence[str]) -> list[int]:
    """Token counts without a tokenizer, each an `Estimate`."""
    return [EstimatedCount(-(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)) for text in texts]


class Exchange(Protocol):
    """One streamed request: where it goes, and how its events are read."""

    path: str
    body: Json
    complete: bool
    """Every candidate has ended; nothing more needs to be read."""

    def read(self, data: str) -> Iterable[Chunk]:
        """The chunks of one event."""
        ...

    def ended(self) -> Iterable[Chunk]:
        """The chunks still owed when the server closed the stream."""
        ...


class Backend(Protocol):
    """A server, as it wants to be spoken to. Methods raise EngineError, or RetryableError where another try may help."""

    kind: str
    """For people: what it is."""

    def features(self) -> Features: ...
    def ask(self, request: Continuation | Infill) -> Exchange: ...
    async def count(self, texts: Sequence[str]) -> list[int]: ...
    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str: ...
    async def props(self) -> Props: ...
    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]: ...
    async def cancel(self, client: str, name: str, index: int | None) -> bool: ...


def require_success(body: Any) -> Json:
    """The body of an event, unless it tells of a failure."""
    if message := error_message(body):
        raise EngineError(message)
    if not isinstance(body, dict):
        raise EngineError("the engine sent an event that is not an object")
    return body  # pyright: ignore[reportUnknownVariableType]
