"""Detection of the kind of a server, by the settings or by the answers of the server."""

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends.backend import Backend
from lsp_harness.inference.backends.backend_kinds import KINDS
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.target import AUTOMATIC


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
