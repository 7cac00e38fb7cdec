"""The errors that a client gets: the one table from exceptions to LSP error codes.

No LSP types are imported here, because the answers before `initialize` need these codes and must not wait for them.
"""

from asyncio import CancelledError
from typing import Any

from lsp_harness import errors

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_FAILED = -32803
SERVER_CANCELLED = -32802
CONTENT_MODIFIED = -32801
REQUEST_CANCELLED = -32800

ERROR_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (CancelledError, REQUEST_CANCELLED),
    (errors.StaleDocument, CONTENT_MODIFIED),
    (errors.RequestSuperseded, REQUEST_CANCELLED),
    (errors.DocumentNotOpen, INVALID_PARAMS),
    (errors.UsageError, INVALID_PARAMS),
    (errors.HarnessError, REQUEST_FAILED),
)
"""The code of each exception. The first row that matches counts, so subclasses come before their base."""

SERVER_CANCELLABLE = frozenset({"textDocument/diagnostic", "workspace/diagnostic"})
"""The methods that the specification lets a server cancel.

For other methods, a client would report -32802 as a fault.
"""


def error_code(error: BaseException, method: str) -> int:
    """Return the LSP error code for an exception that ended a request of this method."""
    if isinstance(error, errors.RequestSuperseded) and method in SERVER_CANCELLABLE:
        return SERVER_CANCELLED
    return next((code for kind, code in ERROR_CODES if isinstance(error, kind)), INTERNAL_ERROR)


def error_message(error: BaseException, method: str) -> str:
    """Return one sentence for a person.

    The text of an unexpected exception is left out: it may hold paths or source code.
    """
    if isinstance(error, errors.HarnessError):
        return error.message
    if isinstance(error, CancelledError):
        return f"{method} was cancelled"
    return f"lsp-harness could not answer {method} because of an internal error; its log has the details"


def error_data(error: BaseException) -> dict[str, Any] | None:
    """Return the code, message and resolution of an error about agents, as the HTTP interface has them, or None."""
    if not isinstance(error, errors.HarnessError):
        return None
    from lsp_harness.runtime.agent_errors import AgentError

    return error.fields if isinstance(error, AgentError) else None
