"""One server over HTTP: requests, streams, and what each kind of failure means for the next attempt."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, cast

from lsp_harness.config.schema import EngineSettings
from lsp_harness.disk.channel_form import HttpAccess
from lsp_harness.disk.local_channel import open_channel
from lsp_harness.errors import EngineBusy, EngineError, EngineFailed, EngineRefused, EngineStuck, EngineUnavailable
from lsp_harness.extras import describe_missing_extra
from lsp_harness.inference.backends.engine_pulse import EnginePulse, EngineSilent
from lsp_harness.inference.target import Target
from lsp_harness.text.surrogates import to_scalar_text

if TYPE_CHECKING:
    import httpx2

ENGINE_DEFAULTS = EngineSettings()
CONNECT_TIMEOUT_S = 5.0
PROBE_TIMEOUT_S = 2.0
JSON_HEADERS = {"content-type": "application/json"}
OVERLOADED_STATUS = 529
"""HTTP status that only Anthropic uses."""


def is_relevant_record(record: logging.LogRecord) -> bool:
    """Return whether a log record of asyncio matters to users.

    One record does not: if a read of a Unix socket is cancelled while data arrives, the loop still tries to wake the
    reader, because anyio 4.16 registers `set_result` itself as the callback. Nothing is lost, but every key that
    cancels a request could log a traceback.
    """
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, asyncio.InvalidStateError) and "Future.set_result(None)" in record.getMessage())


logging.getLogger("asyncio").addFilter(is_relevant_record)


@dataclass(frozen=True, slots=True)
class SilenceLimits:
    """Seconds of silence after which a server counts as failed: before the first chunk, and between chunks."""

    first_s: float = ENGINE_DEFAULTS.first_token_seconds
    later_s: float = ENGINE_DEFAULTS.next_token_seconds


class RetryableError(Exception):
    """A failure that is not the fault of the request, so another attempt or another server may succeed.

    Attributes:
        error: The error to raise if there is no other attempt.
        server_lost: The connection failed, so the server may no longer run.
        wait_s: Seconds that the server asked the client to wait.
        repeatable: The same request may be sent to this server again.
    """

    def __init__(self, error: EngineError, *, server_lost: bool, wait_s: float = 0.0, repeatable: bool = True) -> None:
        super().__init__(error.message)
        self.error = error
        self.server_lost = server_lost
        self.wait_s = wait_s
        self.repeatable = repeatable


class Endpoint:
    """An HTTP connection to one server.

    Args:
        target: The address and the key.
        limits: How long the server may be silent. They are not used if there is a `pulse`.
        lost_message: The message if the connection breaks.
        pulse: Checks whether our own engine is alive. Other servers cannot be asked, so only `limits` apply to them.
    """

    def __init__(
        self, target: Target, limits: SilenceLimits, lost_message: str = "", pulse: EnginePulse | None = None
    ) -> None:
        self.target = target
        self.name = target.name
        self._limits = limits
        self._pulse = pulse
        self._lost_message = (
            lost_message or f"{self.name} cannot be reached or closed the connection; check that it runs"
        )
        self._http: httpx2.AsyncClient | None = None
        self._access: HttpAccess | None = None

    async def events(self, path: str, body: dict[str, Any]) -> AsyncGenerator[str]:
        """Yield the data of each server-sent event.

        If the caller stops early, the connection is closed and the server stops its work.
        """
        async with self._translate_errors():
            http = self._open_client()
            request = http.build_request("POST", path, content=encode_body(body), headers=JSON_HEADERS)
            async with self._limit_wait(self._limits.first_s):
                response = await http.send(request, stream=True)
            try:
                if response.status_code != 200:
                    async with self._limit_wait(self._limits.first_s):
                        content = await response.aread()
                    raise self._make_failure(response, content)
                lines = response.aiter_lines()
                limit_s = self._limits.first_s
                while True:
                    # any line shows that the server is alive, also a comment
                    async with self._limit_wait(limit_s):
                        line = await anext(lines, None)
                    if line is None:
                        return
                    if line.startswith("data:"):
                        limit_s = self._limits.later_s
                        yield line[5:].strip()
            finally:
                await response.aclose()

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the JSON of an answer. Raise RetryableError, or EngineError if another attempt would not help."""
        async with self._translate_errors():
            content, headers = (None, None) if body is None else (encode_body(body), JSON_HEADERS)
            async with self._limit_wait(self._limits.first_s):
                response = await self._open_client().request(method, path, content=content, headers=headers)
            if response.status_code != 200:
                raise self._make_failure(response, response.content)
            with protocol_errors(self.name):
                return json.loads(response.content)

    async def probe_json(self, path: str) -> Any:
        """Return the JSON at `path`, or None if the server has no such route. It shows what kind of server this is."""
        async with self._translate_errors():
            async with self._limit_wait(self._limits.first_s):
                response = await self._open_client().get(path)
            if response.status_code in (401, 403, 429) or response.status_code >= 502:
                raise self._make_failure(response, response.content)
            try:
                return json.loads(response.content) if response.status_code == 200 else None
            except ValueError:
                return None

    async def is_healthy(self) -> bool:
        """Return whether the server would accept a request now."""
        import httpx2

        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                response = await self._open_client().get("/health")
                if response.status_code == 404:
                    response = await self._open_client().get("/v1/models")
        except (httpx2.HTTPError, TimeoutError):
            return False
        return response.status_code == 200

    async def aclose(self) -> None:
        http, self._http = self._http, None
        if self._pulse:
            await self._pulse.aclose()
        if http:
            await http.aclose()

    def _limit_wait(self, limit_s: float) -> AbstractAsyncContextManager[object]:
        """Return a context that limits how long its block waits for the server."""
        return self._pulse.waiting() if self._pulse else asyncio.timeout(limit_s)

    @asynccontextmanager
    async def _translate_errors(self) -> AsyncGenerator[None]:
        if problem := describe_missing_extra("engine"):
            raise EngineUnavailable(problem)
        import httpx2

        try:
            yield
        except TimeoutError as error:
            message = (
                f"{self.name} sent nothing for too long; "
                "the limits are engine.first_token_seconds and engine.next_token_seconds"
            )
            # the server may still work on the request, and a second one would only add to its load
            raise RetryableError(EngineUnavailable(message), server_lost=True, repeatable=False) from error
        except EngineSilent as error:
            raise RetryableError(EngineStuck(error.message), server_lost=True, repeatable=False) from error
        except httpx2.TransportError as error:
            raise RetryableError(EngineUnavailable(self._lost_message), server_lost=True) from error

    def _open_client(self) -> "httpx2.AsyncClient":
        import httpx2

        target = self.target
        access = self._find_access()
        if self._http is None or access != self._access:
            self._access = access
            self._http = httpx2.AsyncClient(
                transport=httpx2.AsyncHTTPTransport(uds=access.socket) if access and access.socket else None,
                base_url=access.base if access else target.base,
                headers={**target.headers, **(access.headers if access else {})},
                timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
                trust_env=False,
            )
        return self._http

    def _find_access(self) -> HttpAccess | None:
        """Return how the channel of our own engine is reached: its port is another one after each start."""
        if not self.target.socket:
            return None
        try:
            return open_channel(Path(self.target.socket)).http_access()
        except OSError as error:
            raise RetryableError(EngineUnavailable(self._lost_message), server_lost=True) from error

    def _make_failure(self, response: "httpx2.Response", content: bytes) -> EngineError | RetryableError:
        status = response.status_code
        if status in (401, 403):
            # the message of the service is not shown, because it may contain the key
            problem = f"refuses the key in {self.target.key_name}" if self.target.key else "needs a key"
            return EngineRefused(
                f"{self.name} {problem}; put the right one into the environment variable that engine.api_key_env names"
            )
        error = status_error(status, content, self.target.key)
        if status in (429, 503, OVERLOADED_STATUS):
            return RetryableError(
                error, server_lost=False, wait_s=parse_retry_after(response.headers.get("retry-after", ""))
            )
        if status in (502, 504):
            return RetryableError(EngineUnavailable(error.message), server_lost=True)
        return error


@contextmanager
def protocol_errors(name: str) -> Generator[None]:
    """Turn errors of reading an answer into an EngineError. They are the fault of the server `name`."""
    try:
        yield
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise EngineError(
            f"{name} sent an answer that its protocol does not have ({type(error).__name__}); check engine.url and "
            "engine.dialect"
        ) from error


def encode_body(body: dict[str, Any]) -> bytes:
    """Return a request body as UTF-8 JSON. All requests are encoded here.

    A text of the user may contain half a surrogate pair, which UTF-8 cannot encode. Servers get U+FFFD in its place.

    Raises:
        EngineError: JSON cannot represent the body. This is not the fault of the server.
    """
    try:
        return to_scalar_text(json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)).encode()
    except (ValueError, TypeError) as error:
        raise EngineError(f"this request cannot be sent: {error}") from error


def parse_retry_after(retry_after: str) -> float:
    """Return the seconds from now that a `Retry-After` header means (a number or a date); 0 if it is neither."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except (ValueError, OverflowError):
        return 0.0


def status_error(status: int, content: bytes, secret: str = "") -> EngineError:
    """Return the error for an HTTP status other than 200. `secret` is removed from the message of the server."""
    try:
        body = json.loads(content)
        message = error_message(body) or str(body["message"])
        if status == 404:
            message = f"the server does not know this: {message}"
    except (ValueError, KeyError, TypeError):
        message = f"the server answered with HTTP status {status}"
    if secret:
        message = message.replace(secret, "…")
    refused = dict.fromkeys((400, 404, 501), EngineRefused)
    busy = dict.fromkeys((429, 503, OVERLOADED_STATUS), EngineBusy)
    kinds: dict[int, type[EngineError]] = {**refused, **busy}
    return kinds.get(status, EngineFailed if status >= 500 else EngineError)(message)


def error_message(body: Any) -> str:
    """Return the message of an error body, or an empty text if the body reports no error."""
    match body:
        case {"error": {"message": message}}:
            return str(cast("object", message))
        case {"error": str(message)}:
            return message
        case _:
            return ""
