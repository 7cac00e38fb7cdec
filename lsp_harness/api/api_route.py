"""A route of the HTTP interface: its address, its schemas and its handler. OpenAPI is made from the same objects."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lsp_harness.api.api_context import ApiContext
from lsp_harness.api.api_errors import InvalidApiRequest, TooLarge, TooSlow
from lsp_harness.chat.schema_check import find_mismatch

Schema = Mapping[str, Any]
MAX_BODY_BYTES = 2_000_000
"""Size of the largest body. A message to an agent may have a million characters."""
BODY_TIMEOUT_S = 15.0
"""Time in which a body must arrive."""
MAX_NUMBER = 2**53
"""The largest whole number that every client of JSON can hold."""
TRUE_WORDS, FALSE_WORDS = ("1", "true", "yes", "on", ""), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class QueryField:
    """A field of the query of an address.

    Attributes:
        name: The name in the query string.
        kind: What its text stands for.
        description: What it does, for readers of the OpenAPI document.
        default: The value without it. None is no value.
        minimum: The smallest number.
        maximum: The largest number.
        choices: The allowed texts. Empty is any.
    """

    name: str
    kind: Literal["string", "integer", "number", "boolean"]
    description: str
    default: Any = None
    minimum: int = 0
    maximum: int = MAX_NUMBER
    choices: tuple[str, ...] = ()

    def read(self, text: str | None) -> Any:
        """Return the value of a text, or the default without one. Raise InvalidApiRequest if the text is no value."""
        if text is None:
            return self.default
        if self.kind == "boolean":
            if text.lower() in (*TRUE_WORDS, *FALSE_WORDS):
                return text.lower() in TRUE_WORDS
            raise self._refuse("1 or 0")
        if self.kind == "string":
            if self.choices and text not in self.choices:
                raise self._refuse(f"one of {', '.join(self.choices)}")
            return text
        is_integer = self.kind == "integer"
        try:
            # other digits than ASCII and underscores are numbers for Python only
            number = (int if is_integer else float)(text if text.isascii() and "_" not in text else "?")
        except ValueError:
            number = None
        if number is None or not self.minimum <= number <= self.maximum:
            kind = "a whole number" if is_integer else "a number"
            raise self._refuse(f"{kind} from {self.minimum} to {self.maximum}")
        return number

    @property
    def parameter(self) -> Schema:
        """The field as a parameter of an OpenAPI operation."""
        schema: dict[str, Any] = {"type": self.kind}
        if self.kind in ("integer", "number"):
            schema |= {"minimum": self.minimum, "maximum": self.maximum}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default is not None:
            schema["default"] = self.default
        return {"name": self.name, "in": "query", "description": self.description, "schema": schema}

    def _refuse(self, wanted: str) -> InvalidApiRequest:
        return InvalidApiRequest(f"the query field {self.name!r} must be {wanted}", "see GET /openapi.json")


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request, checked against the description of its route.

    Attributes:
        context: The settings, harness, sessions and agents of the server.
        request: The request as it came.
        path: The values of the variable parts of the address, by name.
        query: The fields of the query, with their defaults.
        body: The body, or an empty object.
    """

    context: ApiContext
    request: Request
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Mapping[str, Any]

    def accepts(self, media_type: str) -> bool:
        """Return whether the client names a media type in its header `Accept`."""
        return media_type in self.request.headers.get("accept", "")


Handler = Callable[[ApiCall], Awaitable[Any]]
"""Answers a call with a JSON value, or with a response of its own."""


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """One operation of the interface.

    Attributes:
        method: The HTTP method.
        path: The address, with its variable parts in braces.
        name: The name of the operation.
        summary: What it does, in one line.
        handler: Answers a request of the route.
        answer: The schema of the answer.
        description: More about it, for readers of the OpenAPI document.
        tag: The group in the OpenAPI document.
        query: The fields of its query.
        body: The schema of its body. None is no body.
        status: The status of a successful answer.
        errors: The codes of its errors, besides those of all routes.
        streams: The media type of a stream that the address can also answer with.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    handler: Handler
    answer: Schema
    description: str = ""
    tag: str = ""
    query: Sequence[QueryField] = ()
    body: Schema | None = None
    status: int = 200
    errors: Sequence[str] = ()
    streams: Sequence[str] = field(default_factory=tuple[str, ...])

    async def respond(self, context: ApiContext, request: Request) -> Response:
        """Answer a request. Raise HarnessError for one that cannot be answered."""
        query = {item.name: item.read(request.query_params.get(item.name)) for item in self.query}
        body: Mapping[str, Any] = await read_body(request, self.body) if self.body is not None else {}
        path = {name: str(value) for name, value in request.path_params.items()}
        answer = await self.handler(ApiCall(context, request, path, query, body))
        if isinstance(answer, Response):
            return answer
        return JSONResponse(answer, self.status) if answer is not None else Response(status_code=204)


async def read_body(request: Request, schema: Schema) -> Mapping[str, Any]:
    """Return the body of a request as an object that fits a schema. A missing body is an empty object.

    Raises:
        ApiError: The body is too large or too slow, is not JSON, or does not fit.
    """
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for part in request.stream():
                data += part
                if len(data) > MAX_BODY_BYTES:
                    raise TooLarge(f"the body is larger than {MAX_BODY_BYTES:,} bytes", "send less at once")
    except TimeoutError:
        raise TooSlow(f"the body did not arrive within {BODY_TIMEOUT_S:g} s", "send it again") from None
    try:
        value: Any = json.loads(bytes(data), parse_constant=_refuse_constant) if data else {}
        # half a surrogate pair is JSON, but no text
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidApiRequest(
            "the body is not JSON in UTF-8", "send an object with content-type application/json"
        ) from error
    if not isinstance(value, dict):
        raise InvalidApiRequest("the body must be a JSON object", "see GET /openapi.json")
    if problem := find_mismatch(schema, value, "the body"):
        raise InvalidApiRequest(problem, "see GET /openapi.json")
    return cast("Mapping[str, Any]", value)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
