"""JSON-RPC messages, parsed and validated without the types of a protocol.

A message that has an id and is not a valid request becomes an `InvalidRequest`, so that it always gets an answer.
"""

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn, cast

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
Id = int | float | str


@dataclass(frozen=True, slots=True)
class Request:
    """A message that needs an answer."""

    id: Id
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that gets no answer."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to one of our own requests. `is_empty` means that it has neither result nor error."""

    id: Id
    result: Any
    error: Any
    is_empty: bool


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """A message that is not valid. It is answered with this error."""

    id: Id | None
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class UnanswerableMessage:
    """A message that is not valid and has no id, so that there is nothing to answer.

    Attributes:
        reason: Why it is not valid.
        is_answer: Whether it looks like an answer. An error that says so could be answered by an error without an end.
    """

    reason: str
    is_answer: bool = False


Message = Request | Notification | Response | InvalidRequest | UnanswerableMessage


def parse(body: bytes) -> Message:
    """Parse one message. Never raises."""
    try:
        raw: Any = json.loads(_decode_text(body), parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return InvalidRequest(None, PARSE_ERROR, f"the message is not JSON: {reason}")
    return classify(raw)


def classify(raw: Any) -> Message:
    """Return what a JSON value is as a message. Never raises."""
    if not isinstance(raw, dict):
        return InvalidRequest(None, INVALID_REQUEST, "a message must be a JSON object; batches are not read")
    return _classify_value(cast("dict[str, Any]", raw))


def _decode_text(body: bytes) -> str:
    """Decode UTF-8. Lone surrogates stay, and invalid bytes become lone surrogates, so that no text is lost."""
    try:
        return body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return body.decode("utf-8", "surrogateescape")


def _classify_value(raw: dict[str, Any]) -> Message:
    has_id, id, method = "id" in raw, raw.get("id"), raw.get("method")
    is_answer = "method" not in raw and ("result" in raw or "error" in raw)
    if has_id and not _is_valid_id(id):
        if "method" not in raw:
            return UnanswerableMessage("a response has an id that is neither a number nor a string", is_answer)
        return InvalidRequest(None, INVALID_REQUEST, "a request id must be a number or a string")
    if raw.get("jsonrpc") != "2.0":
        if has_id and "method" in raw:
            return InvalidRequest(id, INVALID_REQUEST, 'a message must say "jsonrpc": "2.0"')
        return UnanswerableMessage("the message is not marked as JSON-RPC 2.0", is_answer)
    if "method" not in raw:
        if not has_id and is_answer:
            return UnanswerableMessage("a response has no id", is_answer)
        if not has_id:
            return InvalidRequest(None, INVALID_REQUEST, "a message needs a method or an id")
        return Response(cast("Id", id), raw.get("result"), raw.get("error"), not ("result" in raw or "error" in raw))
    if not isinstance(method, str):
        return InvalidRequest(cast("Id | None", id), INVALID_REQUEST, "a method must be a string")
    if has_id:
        return Request(cast("Id", id), method, raw.get("params"))
    return Notification(method, raw.get("params"))


def _is_valid_id(id: object) -> bool:
    if isinstance(id, bool):
        return False
    if isinstance(id, float):
        return math.isfinite(id)
    return isinstance(id, int | str)


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not part of JSON")


def response(id: Id, value: Any) -> dict[str, Any]:
    """Return the answer to a request."""
    return {"jsonrpc": "2.0", "id": id, "result": value}


def error_response(id: Id | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """Return the answer to a request that failed. `data` is more about the error, for programs."""
    more = {} if data is None else {"data": data}
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, **more}}


def dump(message: dict[str, Any]) -> bytes:
    """Encode a message as JSON. All other characters than ASCII are escaped, so that lone surrogates survive."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")
