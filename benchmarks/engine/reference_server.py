"""A real llama-server for comparison, used as llama.vim does: 256 lines before the cursor, 64 lines after it, slot 0.

There are two differences from that plugin. Answers are streamed, because the time to the first token could not be
measured otherwise. There is no `t_max_predict_ms`, because both servers must generate the same number of tokens.
"""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lsp_harness.errors import EngineRefused, EngineUnavailable, UsageError
from lsp_harness.inference.dialect import chunk_from_json
from lsp_harness.inference.request import Chunk
from lsp_harness.process import openmp

if TYPE_CHECKING:
    import httpx2

PROGRAM_VARIABLE = "LSP_HARNESS_BENCH_ANCHOR"
LINES_BEFORE, LINES_AFTER = 256, 64
SLOTS = 8
BATCH_TOKENS = 1024
"""The value in the presets of llama.vim.

It also limits the prompt of an infill, so a larger one would only be slower.
"""
LOAD_TIMEOUT_S = 120.0


def find_program(path: Path | None) -> Path | None:
    """Return the llama-server from the option or the environment. Raise UsageError if it is not a program."""
    program = path or (Path(os.environ[PROGRAM_VARIABLE]) if os.environ.get(PROGRAM_VARIABLE) else None)
    if program and not os.access(program, os.X_OK):
        raise UsageError(
            f"{program} is not a program; build llama-server as docs/benchmarks.md says, or leave the option out"
        )
    return program


def make_infill_body(before: str, after: str, n_predict: int, slot: int = 0) -> dict[str, Any]:
    """Return the request of llama.vim for a cursor between `before` and `after`."""
    *above, line = before.split("\n")
    rest, *below = after.split("\n")
    indent = len(line) - len(line.lstrip())
    if not (line + rest).strip():
        # on a blank line the plugin completes from column 0 and removes the indentation from the answer
        line = rest = ""
    return {
        "id_slot": slot,
        "input_prefix": "".join(text + "\n" for text in above[-LINES_BEFORE:]),
        "prompt": line,
        "input_suffix": "\n".join([rest, *below[:LINES_AFTER]]) + "\n",
        "input_extra": [],
        "n_predict": n_predict,
        "n_indent": indent,
        "top_k": 40,
        "top_p": 0.90,
        "samplers": ["top_k", "top_p", "infill"],
        "cache_prompt": True,
        "stream": True,
    }


class ReferenceServer:
    """A running llama-server."""

    def __init__(self, process: subprocess.Popen[bytes], http: "httpx2.AsyncClient", log: Path) -> None:
        self._process = process
        self._http = http
        self._log = log

    def infill(
        self, before: str, after: str, n_predict: int, slot: int = 0, limits: Mapping[str, int] = MappingProxyType({})
    ) -> AsyncIterator[Chunk]:
        """Stream a completion as llama.vim requests it.

        Args:
            before: The text before the cursor.
            after: The text after the cursor.
            n_predict: The most tokens of the answer.
            slot: The slot of the server.
            limits: Limits of time by their names in the protocol, in milliseconds.
        """
        return self._stream("/infill", {**make_infill_body(before, after, n_predict, slot), **limits})

    def completion(
        self, prompt: str, n_predict: int, *, slot: int = -1, temperature: float = 0.0, seed: int = 0
    ) -> AsyncIterator[Chunk]:
        """Stream the continuation of a prompt. With slot -1, the server chooses the slot."""
        body: dict[str, Any] = {"prompt": prompt, "n_predict": n_predict, "id_slot": slot, "cache_prompt": True}
        return self._stream("/completion", body | {"temperature": temperature, "seed": seed, "stream": True})

    async def _stream(self, path: str, body: dict[str, Any]) -> AsyncIterator[Chunk]:
        import httpx2

        try:
            async with self._http.stream("POST", path, json=body) as response:
                if response.status_code != 200:
                    raise EngineRefused(
                        f"llama-server answered {response.status_code}: {(await response.aread())!r:.300}"
                    )
                async for line in response.aiter_lines():
                    if line.startswith("data: ") and line != "data: [DONE]":
                        chunk = chunk_from_json(json.loads(line[6:]))
                        yield chunk
                        if chunk.stop:
                            return
        except httpx2.TransportError as error:
            raise EngineUnavailable(self._failure(f"{type(error).__name__}")) from error

    async def ready(self) -> None:
        """Wait until the model is loaded. Raise EngineUnavailable if the process ends or takes too long."""
        import httpx2

        try:
            async with asyncio.timeout(LOAD_TIMEOUT_S):
                while self._process.poll() is None:
                    try:
                        if (await self._http.get("/health")).status_code == 200:
                            return
                    except httpx2.TransportError:
                        pass
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise EngineUnavailable(self._failure(f"it did not load within {LOAD_TIMEOUT_S:.0f} s")) from None
        raise EngineUnavailable(self._failure(f"it ended with {self._process.returncode}"))

    def _failure(self, problem: str) -> str:
        lines = self._log.read_text(errors="replace").strip().split("\n")
        return f"llama-server: {problem}; its last line: {lines[-1]!r:.300}"


@asynccontextmanager
async def start_llama_server(
    program: Path, model: Path, *, threads: int, n_ctx: int, repack: bool
) -> AsyncGenerator[ReferenceServer]:
    """Run llama-server on its own socket, with the same model, threads, context and weight layout as our engine."""
    import httpx2

    with tempfile.TemporaryDirectory(prefix="lh-") as folder:
        socket, log = Path(folder) / "anchor.sock", Path(folder) / "anchor.log"
        argv = [
            *(str(program), "--model", str(model), "--host", str(socket)),
            *("--threads", str(threads), "--threads-batch", str(threads), "--ctx-size", str(n_ctx)),
            *(
                "--parallel",
                str(SLOTS),
                "--kv-unified",
                "--batch-size",
                str(BATCH_TOKENS),
                "--ubatch-size",
                str(BATCH_TOKENS),
            ),
            *("--cache-reuse", "256", "--repack" if repack else "--no-repack"),
        ]
        with open(log, "wb") as out:
            process = subprocess.Popen(  # noqa: ASYNC220 - it is waited for in `ready`
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=openmp.openmp_environment()
            )
        transport = httpx2.AsyncHTTPTransport(uds=str(socket))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://anchor", timeout=httpx2.Timeout(None, connect=5.0), trust_env=False
        ) as http:
            anchor = ReferenceServer(process, http, log)
            try:
                await anchor.ready()
                yield anchor
            finally:
                process.terminate()
                try:
                    await asyncio.to_thread(process.wait, 10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
