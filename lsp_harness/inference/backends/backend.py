"""The interface of a server's protocol (`Backend`), and the names of the features that a server may lack."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lsp_harness.errors import EngineError
from lsp_harness.inference.backends.endpoint import Endpoint, error_message
from lsp_harness.inference.request import Chunk, ModelRequest, Priority, Props
from lsp_harness.inference.target import Headers, Provider, bearer_headers

Json = dict[str, Any]
Features = dict[str, bool | str]
"""Feature → whether the server has it. A text says how far, or what is done instead."""
FEATURES: tuple[str, ...] = (
    "infill",
    "heal",
    "shorter",
    "lookup",
    "grammar",
    "tools",
    "n",
    "greedy_first",
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
"""Key in `Props.raw`: the reason why a server cannot fill in the middle."""


class EstimatedCount(int):
    """A token count that was estimated and not made by a tokenizer."""

    def __repr__(self) -> str:
        return f"about {int(self)}"


BYTES_PER_TOKEN = 3
"""Bytes of source code per token.

The value is low, so that a prompt within its estimated budget is within its true one.
"""


def estimate_counts(texts: Sequence[str]) -> list[int]:
    """Return token counts without a tokenizer, each an `EstimatedCount`."""
    return [EstimatedCount(-(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)) for text in texts]


def format_chatml(messages: Sequence[tuple[str, str]]) -> str:
    """Return the prompt of a conversation in ChatML, for a model whose own template is not known.

    Most templates are similar.
    """
    turns = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages)
    return f"{turns}<|im_start|>assistant\n"


def messages_to_json(messages: Sequence[tuple[str, str]]) -> list[Json]:
    """Return the messages as all chat protocols write them."""
    return [{"role": role, "content": content} for role, content in messages]


class Exchange(Protocol):
    """One streamed request: its path, its body, and the reader of its events."""

    path: str
    body: Json
    complete: bool
    """Every candidate has ended, so nothing more needs to be read."""

    def read(self, data: str) -> Iterable[Chunk]:
        """Return the chunks of one event."""
        ...

    def finish(self) -> Iterable[Chunk]:
        """Return the chunks that are left after the server closed the stream."""
        ...


class Backend(Protocol):
    """A server and its protocol. Methods raise EngineError, or RetryableError if another attempt may help."""

    kind: str
    """Name of the kind of server, for people."""

    def features(self) -> Features:
        """Return a value for each of `FEATURES`."""
        ...

    async def build_exchange(self, request: ModelRequest) -> Exchange:
        """Return the exchange for a request, which is not sent yet."""
        ...

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        ...

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        """Return the text of the prompt for (role, content) messages, to count and to show it."""
        ...

    async def props(self) -> Props:
        """Return the properties of the server, without its features."""
        ...

    async def embed(self, texts: Sequence[str], max_tokens: int, priority: Priority) -> list[list[float]]:
        """Return a vector for each text, made from its first `max_tokens` tokens if the server can cut texts."""
        ...

    async def cancel(self, client: str, name: str, index: int | None) -> bool:
        """Stop a request of a client by its name, or one candidate of it. Return whether the server could do so."""
        ...


@dataclass(frozen=True, slots=True)
class BackendKind:
    """One kind of server: its name in the settings, its services, and the way to its backend.

    Attributes:
        dialect: Name of the protocol in `engine.dialect`.
        open_backend: Returns the backend of the server at an endpoint, or None if the server is of another kind.
            Raises EngineRefused if the settings ask for this kind and the server cannot be used, and RetryableError.
        providers: The services that `engine.model` can name.
        make_headers: Returns the headers that carry a key.
        recognizes: Returns whether a server is of this kind. None means that the settings must name the kind.
        has_infill: Whether the protocol can fill in the middle.
        reads_fim_tokens: Whether the server finds the tokens for a hole in the file of its model.
        model_list_path: The route that lists the models.
    """

    dialect: str
    open_backend: Callable[[Endpoint], Awaitable[Backend | None]]
    providers: tuple[Provider, ...] = ()
    recognizes: Callable[[Endpoint], Awaitable[bool]] | None = None
    make_headers: Callable[[str], Headers] = bearer_headers
    has_infill: bool = True
    reads_fim_tokens: bool = False
    model_list_path: str = "/v1/models"


def require_success(body: Any) -> Json:
    """Return the body of an event. Raise EngineError if it reports a failure or is not an object."""
    if message := error_message(body):
        raise EngineError(message)
    if not isinstance(body, dict):
        raise EngineError("the engine sent an event that is not an object")
    return body  # pyright: ignore[reportUnknownVariableType]
