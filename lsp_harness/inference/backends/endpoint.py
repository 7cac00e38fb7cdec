"""One server over HTTP: requests, streams, and what each kind of failure means for the next try."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Any, cast

from lsp_harness.config.schema import Engine
from lsp_harness.errors import EngineBusy, EngineError, EngineRefused, EngineStuck, EngineUnavailable
from lsp_harness.inference.backends.engine_pulse import Pulse, Silent
from lsp_harness.inference.providers import Target
from lsp_harness.text.surrogates import to_scalar_text

if TYPE_CHECKING:
    import httpx2

DEFAULTS = Engine()
CONNECT_SECONDS = 5.0
PROBE_SECONDS = 2.0
JSON = {"content-type": "application/json"}
OVERLOADED = 529
"""Anthropic's own status."""


def of_consequence(record: logging.LogRecord) -> bool:
    """Everything asyncio has to say, but for one thing: a read of a Unix socket was left just as data came, and the loop
    still tries to wake who had waited (anyio 4.16 adds `set_result` itself as the reader). Nothing is lost, and users
    should not see a traceback whenever a key supersedes a request."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, asyncio.InvalidStateError) and "Future.set_result(None)" in record.getMessage())


logging.getLogger("asyncio").addFilter(of_consequence)


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of silence after which a server has failed: before the first chunk, and after it."""

    first: float = DEFAULTS.first_token_seconds
    later: float = DEFAULTS.next_token_seconds


class Setback(Exception):
    """A request that failed through no fault of its own: another try, or another server, may do better.

    `gone` says that the server itself is in doubt, `wait` how many seconds it asked for, `again` whether it may be
    asked the same once more.
    """

    def __init__(self, error: EngineError, *, gone: bool, wait: float = 0.0, again: bool = True) -> None:
        super().__init__(error.message)
        self.error = error
        self.gone = gone
        self.wait = wait
        self.again = again


class Endpoint:
    """A server at `target`; `lost` is what is said when it breaks off. Of somebody else's server nothing is known but what it
    sends, so it is waited for with `patience`; our own is asked for signs of life, which the `pulse` does instead."""

    def __init__(self, target: Target, patience: Patience, lost: str = "", pulse: Pulse | None = None) -> None:
        self.target = target
        self.name = target.name
        self._patience = patience
        self._pulse = pulse
        self._lost = lost or f"{self.name} cannot be reached or closed the connection; check that it runs"
        self._http: httpx2.AsyncClient | None = None

    async def events(self, path: str, body: dict[str, Any]) -> AsyncGenerator[str]:
        """The data of each server-sent event. Leaving early closes the connection, which ends the work there."""
        async with self._guarded():
            http = self._client()
            request = http.build_request("POST", path, content=sendable(body), headers=JSON)
            async with self._waiting(self._patience.first):
                response = await http.send(request, stream=True)
            try:
                if response.status_code != 200:
                    async with self._waiting(self._patience.first):
                        content = await response.aread()
                    raise self._failure(response, content)
                lines = response.aiter_lines()
                limit = self._patience.first
                while True:
                    # whatever comes, a comment too, shows that somebody is there
                    async with self._waiting(limit):
                        line = await anext(lines, None)
                    if line is None:
                        return
                    if line.startswith("data:"):
                        limit = self._patience.later
                        yield line[5:].strip()
            finally:
                await response.aclose()

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The JSON of an answer. Raises Setback, or EngineError when asking again would not help."""
        async with self._guarded():
            content, headers = (None, None) if body is None else (sendable(body), JSON)
            async with self._waiting(self._patience.first):
                response = await self._client().request(method, path, content=content, headers=headers)
            if response.status_code != 200:
                raise self._failure(response, response.content)
            with understood(self.name):
                return json.loads(response.content)

    async def look(self, path: str) -> Any:
        """The JSON at `path`, or None where this server has nothing of the kind. For finding out what it is."""
        async with self._guarded():
            async with self._waiting(self._patience.first):
                response = await self._client().get(path)
            if response.status_code in (401, 403, 429) or response.status_code >= 502:
                raise self._failure(response, response.content)
            try:
                return json.loads(response.content) if response.status_code == 200 else None
            except ValueError:
                return None

    async def healthy(self) -> bool:
        """Whether it would take a request now."""
        import httpx2

        try:
            async with asyncio.timeout(PROBE_SECONDS):
                response = await self._client().get("/health")
                if response.status_code == 404:
                    response = await self._client().get("/v1/models")
        except (httpx2.HTTPError, TimeoutError):
            return False
        return response.status_code == 200

    async def aclose(self) -> None:
        http, self._http = self._http, None
        if self._pulse:
            await self._pulse.aclose()
        if http:
            await http.aclose()

    def _waiting(self, limit_s: float) -> AbstractAsyncContextManager[object]:
        """A wait for the server, which ends."""
        return self._pulse.waiting() if self._pulse else asyncio.timeout(limit_s)

    @asynccontextmanager
    async def _guarded(self) -> AsyncGenerator[None]:
        import httpx2

        try:
            yield
        except TimeoutError as error:
            said = f"{self.name} sent nothing for too long; the limits are engine.first_token_seconds and engine.next_token_seconds"
            # it may still be working on it: the same again would only add to its load
            raise Setback(EngineUnavailable(said), gone=True, again=False) from error
        except Silent as error:
            raise Setback(EngineStuck(error.said), gone=True, again=False) from error
        except httpx2.TransportError as error:
            raise Setback(EngineUnavailable(self._lost), gone=True) from error

    def _client(self) -> "httpx2.AsyncClient":
        import httpx2

        if self._http is None:
            target = self.target
            transport = httpx2.AsyncHTTPTransport(uds=target.socket) if target.socket else None
            self._http = httpx2.AsyncClient(
                transport=transport,
                base_url=target.base or "http://engine",
                headers=target.headers,
                timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
                trust_env=False,
            )
        return self._http

    def _failure(self, response: "httpx2.Response", content: bytes) -> EngineError | Setback:
        status = response.status_code
        if status in (401, 403):
            # what a service says of a refused key may repeat it
            told = f"refuses the key in {self.target.key_name}" if self.target.key else "needs a key"
            return EngineRefused(
                f"{self.name} {told}; put the right one into the environment variable that engine.api_key_env names"
            )
        error = refusal(status, content, self.target.key)
        if status in (429, 503, OVERLOADED):
            return Setback(error, gone=False, wait=seconds(response.headers.get("retry-after", "")))
        if status in (502, 504):
            return Setback(EngineUnavailable(error.message), gone=True)
        return error


@contextmanager
def understood(name: str) -> Generator[None]:
    """Reading what a server answered: fields that are missing or of another kind are its fault, said in a sentence."""
    try:
        yield
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise EngineError(
            f"{name} sent an answer that its protocol does not have ({type(error).__name__}); check engine.url and engine.dialect"
        ) from error


def sendable(body: dict[str, Any]) -> bytes:
    """A body as it goes over the wire, the one place where it is written. A text of the user's may hold half a surrogate pair,
    which UTF-8 has no bytes for; servers get U+FFFD, and the text itself stays as it is. Raises EngineError: what we cannot write
    is no fault of the server."""
    try:
        return to_scalar_text(json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)).encode()
    except (ValueError, TypeError) as error:
        raise EngineError(f"this request cannot be sent: {error}") from error


def seconds(retry_after: str) -> float:
    """A `Retry-After` header in seconds from now: it holds a number or a date. 0 for what is neither."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except (ValueError, OverflowError):
        return 0.0


def refusal(status: int, content: bytes, secret: str = "") -> EngineError:
    """What a status other than 200 means; `secret` is blotted out of the server's words."""
    try:
        body = json.loads(content)
        message = said(body) or str(body["message"])
        if status == 404:
            message = f"the server does not know this: {message}"
    except (ValueError, KeyError, TypeError):
        message = f"the server answered with HTTP status {status}"
    if secret:
        message = message.replace(secret, "…")
    refused = dict.fromkeys((400, 404, 501), EngineRefused)
    busy = dict.fromkeys((429, 503, OVERLOADED), EngineBusy)
    kinds: dict[int, type[EngineError]] = {**refused, **busy}
    return kinds.get(status, EngineError)(message)


def said(body: Any) -> str:
    """The message of an error body; empty for a body that is none."""
    match body:
        case {"error": {"message": message}}:
            return str(cast("object", message))
        case {"error": str(message)}:
            return message
        case _:
            return ""
