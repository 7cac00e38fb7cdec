"""One JSON-RPC message, taken apart and judged before any LSP type is looked at.

Whatever has an id and is not a proper request comes out as `Refused`, so that nobody can forget to answer it.
"""

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from lsp_harness.server.lsp_errors import INVALID_REQUEST, PARSE_ERROR

Id = int | float | str


@dataclass(frozen=True, slots=True)
class Request:
    id: Id
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to one of our own requests. `bare`: it has neither result nor error."""

    id: Id
    result: Any
    error: Any
    bare: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """Not a message; to be answered with this error."""

    id: Id | None
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Noise:
    """Not a message, and nothing the sender could match an answer to."""

    reason: str


Message = Request | Notification | Response | Refused | Noise


def parse(body: bytes) -> Message:
    """Never raises."""
    try:
        raw: Any = json.loads(_text(body), parse_constant=_no_constants)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Refused(None, PARSE_ERROR, f"the message is not JSON: {reason}")
    if not isinstance(raw, dict):
        return Refused(None, INVALID_REQUEST, "a message must be a JSON object; batches are not part of LSP")
    return _judge(cast("dict[str, Any]", raw))


def _text(body: bytes) -> str:
    """Lone surrogates are kept as in the text layer, and bytes that are not UTF-8 become some: no document is lost for them."""
    try:
        return body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return body.decode("utf-8", "surrogateescape")


def _judge(raw: dict[str, Any]) -> Message:
    has_id, id, method = "id" in raw, raw.get("id"), raw.get("method")
    if has_id and not _fits(id):
        if "method" not in raw:
            return Noise("a response with an id that is neither number nor string")
        return Refused(None, INVALID_REQUEST, "a request id must be a number or a string")
    if raw.get("jsonrpc") != "2.0":
        if has_id and "method" in raw:
            return Refused(id, INVALID_REQUEST, 'a message must say "jsonrpc": "2.0"')
        return Noise("not marked as JSON-RPC 2.0")
    if "method" not in raw:
        if not has_id:
            return Refused(None, INVALID_REQUEST, "a message needs a method or an id")
        return Response(cast("Id", id), raw.get("result"), raw.get("error"), not ("result" in raw or "error" in raw))
    if not isinstance(method, str):
        return Refused(cast("Id | None", id), INVALID_REQUEST, "a method must be a string")
    if has_id:
        return Request(cast("Id", id), method, raw.get("params"))
    return Notification(method, raw.get("params"))


def _fits(id: object) -> bool:
    if isinstance(id, bool):
        return False
    if isinstance(id, float):
        return math.isfinite(id)
    return isinstance(id, int | str)


def _no_constants(name: str) -> NoReturn:
    raise ValueError(f"{name} is not part of JSON")


def result(id: Id, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": value}


def refusal(id: Id | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def dump(message: dict[str, Any]) -> bytes:
    """Escaped to ASCII, so that lone surrogates survive."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")
