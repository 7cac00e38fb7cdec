"""The kinds of servers, and the detection of the kind of one. To add a kind, write its module and add its `KIND`."""

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends import anthropic, llama_server, openai
from lsp_harness.inference.backends.backend import Backend, BackendKind
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.target import AUTOMATIC, Provider

KINDS: tuple[BackendKind, ...] = (llama_server.KIND, openai.KIND, anthropic.KIND)
"""All kinds, in the order in which an unknown server is tried."""


def kind_of(dialect: str) -> BackendKind | None:
    """Return the kind whose name in `engine.dialect` is `dialect`."""
    return next((kind for kind in KINDS if kind.dialect == dialect), None)


def dialects() -> list[str]:
    """Return the values of `engine.dialect`."""
    return [AUTOMATIC, *(kind.dialect for kind in KINDS)]


def providers() -> list[Provider]:
    """Return the services of all kinds."""
    return [provider for kind in KINDS for provider in kind.providers]


async def detect(endpoint: Endpoint) -> Backend:
    """Return the backend of the server at `endpoint`.

    Raises:
        EngineRefused: The server is of no known kind, or the settings name no model.
        RetryableError: The server cannot be asked now.
    """
    dialect = endpoint.target.dialect
    for kind in KINDS:
        is_tried = kind.recognizes is not None if dialect == AUTOMATIC else kind.dialect == dialect
        if is_tried and (backend := await kind.open_backend(endpoint)):
            return backend
    raise EngineRefused(
        f"{endpoint.name} is neither a llama-server nor an OpenAI-compatible server: it has no /props and no "
        "/v1/models; check engine.url"
    )
