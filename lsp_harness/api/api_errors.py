"""The errors of the HTTP interface, in the one form that all of its answers have."""

from http import HTTPStatus
from typing import Any, ClassVar

from starlette.responses import JSONResponse

from lsp_harness.errors import (
    DocumentError,
    EngineError,
    FileMissing,
    HarnessError,
    ModelError,
    StaleDocument,
    UsageError,
)
from lsp_harness.files.secrets import redact
from lsp_harness.runtime.agent_errors import AgentError


class ApiError(AgentError):
    """A request that this interface cannot answer."""


class NotFound(ApiError):
    """There is nothing at this address."""

    code = "NOT_FOUND"
    http_status = HTTPStatus.NOT_FOUND


class InvalidApiRequest(ApiError):
    """The request is not as the description of its route says."""

    code = "INVALID"
    http_status = HTTPStatus.BAD_REQUEST


class WrongMethod(ApiError):
    """The address has no such method."""

    code = "METHOD_NOT_ALLOWED"
    http_status = HTTPStatus.METHOD_NOT_ALLOWED


class TooLarge(ApiError):
    """The body of the request is too large."""

    code = "TOO_LARGE"
    http_status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class TooSlow(ApiError):
    """The body of the request did not arrive in time."""

    code = "TOO_SLOW"
    http_status = HTTPStatus.REQUEST_TIMEOUT


class TooManyStreams(ApiError):
    """The refusal of another stream or WebSocket: as many are open as the server allows."""

    code = "TOO_MANY_STREAMS"
    http_status = HTTPStatus.SERVICE_UNAVAILABLE


class Conflict(ApiError):
    """The request does not fit the present state."""

    code = "CONFLICT"
    http_status = HTTPStatus.CONFLICT


class Forbidden(ApiError):
    """The request comes by a name or from a web page that may not use this interface."""

    code = "FORBIDDEN"
    http_status = HTTPStatus.FORBIDDEN


class Unauthorized(ApiError):
    """The request has no valid token."""

    code = "UNAUTHORIZED"
    http_status = HTTPStatus.UNAUTHORIZED


class InternalError(ApiError):
    """A fault of the server itself. The details are in its log."""

    code: ClassVar[str] = "INTERNAL"


STATUS_OF_ERRORS: tuple[tuple[type[HarnessError], HTTPStatus, str], ...] = (
    (StaleDocument, HTTPStatus.CONFLICT, "CONFLICT"),
    (DocumentError, HTTPStatus.BAD_REQUEST, "INVALID"),
    (FileMissing, HTTPStatus.NOT_FOUND, "NOT_FOUND"),
    (UsageError, HTTPStatus.BAD_REQUEST, "INVALID"),
    (ModelError, HTTPStatus.FAILED_DEPENDENCY, "MODEL_MISSING"),
    (EngineError, HTTPStatus.SERVICE_UNAVAILABLE, "ENGINE_UNAVAILABLE"),
)
"""Kind of an error of the harness → its status and code. The first row that fits counts."""


def make_error_answer(error: HarnessError) -> JSONResponse:
    """Return the answer that tells a client of an error."""
    status, fields = describe_error(error)
    headers = {"www-authenticate": "Bearer"} if isinstance(error, Unauthorized) else None
    return JSONResponse({"error": fields}, status, headers)


def describe_error(error: HarnessError) -> tuple[HTTPStatus, dict[str, Any]]:
    """Return the status and the object `error` of an answer. Secrets in the message are left out."""
    if isinstance(error, AgentError):
        return error.http_status, {name: redact(str(value)) for name, value in error.fields.items()}
    status, code = next(
        ((status, code) for kind, status, code in STATUS_OF_ERRORS if isinstance(error, kind)),
        (HTTPStatus.INTERNAL_SERVER_ERROR, "FAILED"),
    )
    # a message of the harness is one sentence, whose second part says what to do
    message, _, resolution = error.message.partition("; ")
    return status, {"code": code, "message": redact(message), "resolution": redact(resolution)}
