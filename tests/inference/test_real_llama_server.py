"""Our client served by a real llama-server: its binary is named by LSP_HARNESS_LLAMA_SERVER (docs/benchmarks.md builds
one)."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from lsp_harness.config.schema import Config, EngineSettings
from lsp_harness.errors import EngineError, EngineRefused
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import (
    ChatRequest,
    Chunk,
    Continuation,
    Infill,
    InfillContext,
    ModelRequest,
    Sampling,
)

BINARY = os.environ.get("LSP_HARNESS_LLAMA_SERVER", "")
KEY = "not a real key"
pytestmark = pytest.mark.skipif(not BINARY, reason="LSP_HARNESS_LLAMA_SERVER names no llama-server binary")


@contextmanager
def start_llama_server(model: Path, folder: Path, *arguments: str) -> Iterator[str]:
    """Start a llama-server, and yield its socket once it is healthy."""
    place = folder / "llama.sock"
    command = [BINARY, "-m", str(model), "--host", str(place), "--no-repack", "--no-warmup", "--no-ui", "-t", "1"]
    with open(folder / "llama.log", "wb") as log:
        process = subprocess.Popen(
            [*command, "-c", "2048", "--parallel", "3", "--kv-unified", "--api-key", KEY, *arguments],
            stdout=log,
            stderr=log,
        )
    transport = httpx2.HTTPTransport(uds=str(place))
    try:
        with httpx2.Client(transport=transport, base_url="http://llama", trust_env=False) as http:
            while True:
                assert process.poll() is None, (folder / "llama.log").read_text()
                try:
                    if http.get("/health").status_code == 200:
                        break
                except httpx2.TransportError:
                    pass
        yield str(place)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def llama_socket(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_llama_server(tiny_model, tmp_path_factory.mktemp("l")) as place:
        yield place


def make_config(socket: str, **more: Any) -> Config:
    return Config(engine=EngineSettings(url=f"unix:{socket}", **more))


@pytest.fixture
async def client(llama_socket: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EngineClient]:
    monkeypatch.setenv("LSP_HARNESS_API_KEY", KEY)
    async with aclosing(EngineClient(make_config(llama_socket))) as engine_client:
        yield engine_client


async def answer(client: EngineClient, request: ModelRequest) -> list[Chunk]:
    return [chunk async for chunk in client.stream(request)]


def join_chunks(chunks: list[Chunk], index: int = 0) -> str:
    return "".join(chunk.text for chunk in chunks if chunk.index == index)


async def test_llama_server_is_recognised(client: EngineClient):
    props = await client.props()
    features = props.features

    assert (props.n_ctx, props.raw["total_slots"]) == (2048, 3)
    assert features["n"] == "up to 3, its slots (--parallel)"
    assert (features["grammar"], features["persist"]) == (True, False)


async def test_a_completion_is_repeatable_and_reuses_the_prompt(client: EngineClient):
    request = Continuation("def f(value):\n    return", Sampling(n_predict=8))
    first, second = await answer(client, request), await answer(client, request)

    assert (first[-1].stop, first[-1].usage.generated) == ("limit", 8)
    # greedy, and the prompt is still there
    assert join_chunks(first) == join_chunks(second)
    assert second[-1].usage.reused > second[-1].usage.evaluated


@pytest.mark.parametrize("fim", ["suffix", "qwen2.5-coder"])
async def test_a_hole_is_filled_with_the_suffix_parameter_or_with_our_prompt(
    client: EngineClient, llama_socket: str, fim: str
):
    async with aclosing(EngineClient(make_config(llama_socket, fim=fim))) as engine_client:
        chunks = await answer(
            engine_client, Infill(InfillContext("def f():\n    ", "\n", (("a.py", "# a\n"),)), sampling=Sampling(6))
        )

    assert chunks[-1].stop
    assert chunks[-1].usage.generated > 0


async def test_a_request_can_have_several_candidates(client: EngineClient):
    chunks = await answer(client, Continuation("def f", Sampling(n_predict=6, n=2, temperature=1.0, seed=3)))
    capped = await answer(client, Continuation("def f", Sampling(n_predict=2, n=9)))

    assert sorted(chunk.index for chunk in chunks if chunk.stop) == [0, 1]
    assert join_chunks(chunks, 0) != join_chunks(chunks, 1)
    assert sum(chunk.stop is not None for chunk in capped) == 3


async def test_an_answer_follows_a_grammar_and_an_invalid_grammar_is_refused(client: EngineClient):
    result = await answer(client, Continuation("a", Sampling(n_predict=9, grammar='root ::= "yes" | "no"')))

    assert join_chunks(result) in ("yes", "no")
    with pytest.raises(EngineRefused, match="grammar"):
        await answer(client, Continuation("a", Sampling(grammar="root ::= (")))


async def test_tokens_have_log_probabilities(client: EngineClient):
    first, *_ = await answer(client, Continuation("def f", Sampling(n_predict=1, top_logprobs=3)))

    [token] = first.logprobs
    assert token.logprob <= 0
    assert len(token.top) == 3


async def test_a_stop_text_ends_an_answer(client: EngineClient):
    letter = join_chunks(await answer(client, Continuation("def f", Sampling(n_predict=1))))
    chunks = await answer(client, Continuation("def f", Sampling(n_predict=4, stop=(letter,))))

    assert (join_chunks(chunks), chunks[-1].stop) == ("", "word")


async def test_a_prompt_is_only_warmed(client: EngineClient):
    prompt = "import os\nimport sys\nprint(os.name)\n"
    [warmed] = await answer(client, Continuation(prompt, Sampling(n_predict=0)))
    after = await answer(client, Continuation(prompt + "p", Sampling(n_predict=1)))

    assert (warmed.text, warmed.stop) == ("", "limit")
    assert after[-1].usage.reused >= warmed.usage.evaluated - 1


async def test_leaving_ends_the_work(client: EngineClient, llama_socket: str):
    async with aclosing(cast("Any", client.stream(Continuation("def f", Sampling(n_predict=1900))))) as chunks:
        await anext(chunks)
    transport = httpx2.AsyncHTTPTransport(uds=llama_socket)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://l", headers=headers, trust_env=False) as http:
        while True:
            slots = (await http.get("/slots")).json()
            if not any(slot["is_processing"] for slot in slots):
                break

    assert all(slot.get("next_token", [{}])[0].get("n_decoded", 0) < 1900 for slot in slots)


async def test_tokens_are_counted_and_templates_applied(client: EngineClient):
    assert await client.count(["", "return", "<|im_end|>"]) == [0, 1, 10]
    assert await client.chat_prompt([("user", "a")]) == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"


async def test_an_unsupported_request_is_an_error(client: EngineClient):
    with pytest.raises(EngineError, match="does not support embeddings"):
        await client.embed(["a"])
    assert not await client.cancel("nothing")


async def test_a_server_for_embeddings_returns_vectors(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_API_KEY", KEY)
    with start_llama_server(tiny_model, tmp_path, "--embeddings", "--pooling", "last") as place:
        async with aclosing(EngineClient(make_config(place))) as engine_client:
            result, two, again = await engine_client.embed(["return", "print", "return"])

    assert result == pytest.approx(again, abs=1e-4)
    assert result != pytest.approx(two, abs=1e-4)
    assert sum(value * value for value in result) == pytest.approx(1, abs=1e-3)


async def test_the_same_server_answers_in_the_openai_dialect(client: EngineClient, llama_socket: str):
    async with aclosing(
        EngineClient(make_config(llama_socket, dialect="openai", fim="qwen2.5-coder"))
    ) as engine_client:
        completion = await answer(engine_client, Continuation("def f(value):\n    return", Sampling(n_predict=8)))
        conversation = await answer(engine_client, ChatRequest([("user", "a")], Sampling(n_predict=4)))
        filled = await answer(
            engine_client, Infill(InfillContext("def f():\n    ", "\n"), sampling=Sampling(n_predict=4))
        )

    assert (completion[-1].stop, completion[-1].usage.generated) == ("limit", 8)
    assert conversation[-1].stop == filled[-1].stop == "limit"


async def test_a_wrong_key_is_refused(llama_socket: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_API_KEY", "another")
    async with aclosing(EngineClient(make_config(llama_socket))) as engine_client:
        with pytest.raises(EngineRefused, match="refuses the key in LSP_HARNESS_API_KEY"):
            await engine_client.props()
