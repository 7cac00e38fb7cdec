"""Talking to an engine: ours, or any llama-server, over HTTP.

One failed request is all a dead engine may cost: the connection is dropped, the caller gets `EngineUnavailable`, and
the next request starts the engine again.
"""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineBusy, EngineError, EngineRefused, EngineUnavailable
from lsp_harness.inference import dialect
from lsp_harness.inference.request import Chunk, Continuation, Infill, Props

if TYPE_CHECKING:
    import httpx2


GONE = "the engine went away during this request; the next one starts it again"


class Engine(Protocol):
    """What the harness needs of a model."""

    def stream(self, request: Continuation | Infill) -> AsyncIterator[Chunk]: ...
    async def count(self, texts: Sequence[str]) -> list[int]: ...
    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str: ...
    async def props(self) -> Props: ...
    async def aclose(self) -> None: ...


class EngineClient:
    """An `Engine` over a Unix socket."""

    COUNTS = 50_000
    """Lines whose token counts are remembered."""

    def __init__(self, config: Config) -> None:
        from lsp_harness.inference.supervisor import Supervisor

        self._supervisor = Supervisor(config)
        self._http: httpx2.AsyncClient | None = None
        self._socket: Path | None = None
        self._counts: dict[str, int] = {}

    async def stream(self, request: Continuation | Infill) -> AsyncIterator[Chunk]:
        """Chunks of the answer; leaving early closes the connection, which stops the engine at its next token."""
        import httpx2

        path = "/infill" if isinstance(request, Infill) else "/completion"
        begun = False
        for last in (False, True):
            http = await self._connected()
            try:
                async with http.stream("POST", path, json=dialect.to_body(request)) as response:
                    if response.status_code != 200:
                        raise _refusal(response.status_code, await response.aread())
                    async for line in response.aiter_lines():
                        if not line.startswith("data: "):
                            continue
                        body = json.loads(line[6:])
                        if "error" in body:
                            raise EngineError(str(body["error"].get("message", "the engine failed")))
                        chunk = dialect.to_chunk(body)
                        begun = True
                        yield chunk
                        if chunk.stop:
                            return
                raise EngineUnavailable("the engine ended this answer before it was complete")
            except httpx2.TransportError as error:
                await self._lost(http)
                # what was never answered can be asked again: the engine is started anew for it
                if begun or last:
                    raise EngineUnavailable(GONE) from error

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, by the model's own tokenizer."""
        missing = list({text for text in texts if text not in self._counts})
        if missing:
            if len(self._counts) + len(missing) > self.COUNTS:
                self._counts.clear()
                missing = list(set(texts))
            counts = (await self._post("/tokenize", {"content": missing, "count": True}))["counts"]
            self._counts.update(zip(missing, counts, strict=True))
        return [self._counts[text] for text in texts]

    async def chat_prompt(self, messages: Sequence[tuple[str, str]]) -> str:
        """The prompt of a conversation of (role, content), by the model's own template."""
        turns = [{"role": role, "content": content} for role, content in messages]
        return str((await self._post("/apply-template", {"messages": turns}))["prompt"])

    async def props(self) -> Props:
        body = await self._call("GET", "/props")
        settings = cast("dict[str, Any]", body.get("default_generation_settings") or {})
        return Props(str(body.get("model_alias", "")), int(settings.get("n_ctx", 0)), int(body.get("pid", 0)), body)

    async def aclose(self) -> None:
        await self._drop()

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._call("POST", path, body)

    async def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        import httpx2

        for last in (False, True):
            http = await self._connected()
            try:
                response = await http.request(method, path, json=body)
            except httpx2.TransportError as error:
                await self._lost(http)
                if last:
                    raise EngineUnavailable(GONE) from error
                continue
            if response.status_code != 200:
                raise _refusal(response.status_code, response.content)
            return response.json()
        raise AssertionError("the second try answers or raises")

    async def _connected(self) -> "httpx2.AsyncClient":
        import httpx2

        socket = await self._supervisor.ensure()
        if self._http is None or socket != self._socket:
            await self._drop()
            transport = httpx2.AsyncHTTPTransport(uds=str(socket))
            timeout = httpx2.Timeout(None, connect=5.0)
            self._http = httpx2.AsyncClient(
                transport=transport, base_url="http://engine", timeout=timeout, trust_env=False
            )
            self._socket = socket
        return self._http

    async def _lost(self, http: "httpx2.AsyncClient") -> None:
        """This connection broke. By now another request may have made a new one, which stays."""
        self._supervisor.doubt()
        if self._http is http:
            await self._drop()

    async def _drop(self) -> None:
        http, self._http = self._http, None
        if http:
            await http.aclose()


def _refusal(status: int, content: bytes) -> EngineError:
    try:
        message = str(json.loads(content)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the engine answered {status}"
    return {400: EngineRefused, 503: EngineBusy}.get(status, EngineError)(message)
