"""Tests of both models in one engine process: texts are embedded and everything is counted."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lsp_harness.engine.embed.encoder import Encoder
from lsp_harness.engine.main import SPARE_CELLS
from lsp_harness.inference.models.bert import convert
from tests.engine.test_meter import read
from tests.support.encoder import WIDTH, make_tiny_encoder
from tests.support.engine import EngineProcess


@pytest.fixture(scope="module")
def engine(tiny_model: Path, probed: Path) -> Iterator[EngineProcess]:
    folder = Path(tempfile.mkdtemp(prefix="lh-"))
    convert(make_tiny_encoder(), folder / "encoder.gguf", name="Tiny", license="mit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSP_HARNESS_HOME", str(probed.parent.parent))
        options = ("--embedding-model", str(folder / "encoder.gguf"), "--kv-disk", "0")
        with EngineProcess.start(tiny_model, folder / "s", *options) as engine:
            yield engine
    shutil.rmtree(folder)


@pytest.fixture
async def http(engine: EngineProcess) -> AsyncIterator[httpx2.AsyncClient]:
    async with engine.http() as http:
        yield http


async def read_props(http: httpx2.AsyncClient) -> dict[str, Any]:
    return (await http.get("/props")).json()


async def test_texts_are_embedded_while_a_completion_streams(http: httpx2.AsyncClient):
    assert (await read_props(http))["embedding"]["dimensions"] == 0
    body = {"prompt": "def f", "n_predict": 400, "stream": True, "priority": "interactive"}
    async with http.stream("POST", "/completion", json=body) as stream:
        lines = stream.aiter_lines()
        await anext(lines)
        urgent = await http.post("/embedding", json={"content": ["read a file"] * 3, "priority": "interactive"})
        assert [len(row["embedding"][0]) for row in urgent.json()] == [WIDTH] * 3
    background = await http.post("/v1/embeddings", json={"input": "read a file"})
    assert background.json()["data"][0]["embedding"] == urgent.json()[0]["embedding"][0]
    assert (await read_props(http))["embedding"]["dimensions"] == WIDTH


async def test_embedded_texts_are_counted(http: httpx2.AsyncClient):
    before = (await read_props(http))["totals"]
    for _ in range(2):
        await http.post("/completion", json={"prompt": "count this prompt", "n_predict": 3})
    totals = (await read_props(http))["totals"]
    metrics = read((await http.get("/metrics")).text)

    assert totals["tokens_generated"] - before["tokens_generated"] == 6
    assert totals["prompt_tokens_reused"] > before["prompt_tokens_reused"]
    assert totals["requests"]["limit"] - before["requests"].get("limit", 0) == 2
    assert metrics["lsp_harness_requests_total{class=normal,outcome=limit}"] == 2
    assert metrics["lsp_harness_first_token_seconds_count{class=normal}"] == 2
    assert metrics["lsp_harness_http_requests_total{route=/completion,status=200}"] >= 2
    assert 0 < metrics["lsp_harness_kv_cells_used"] <= metrics["lsp_harness_kv_cells"] == 8192 + SPARE_CELLS
    assert metrics["lsp_harness_resident_sequences"] >= 1


async def test_another_pooling_gives_other_vectors(http: httpx2.AsyncClient, tiny_model: Path, engine: EngineProcess):
    async def vector(http: httpx2.AsyncClient) -> list[float]:
        return (await http.post("/embedding", json={"content": "read a file"})).json()[0]["embedding"][0]

    folder = engine.socket.parent
    options = ("--embedding-model", str(folder / "encoder.gguf"), "--embedding-pooling", "last", "--kv-disk", "0")
    with EngineProcess.start(tiny_model, folder / "last", *options) as other:
        async with other.http() as result:
            outcome = await vector(result)
    model = Encoder(folder / "encoder.gguf", threads=1, pooling="last")
    assert outcome == pytest.approx(model.encode(model.tokenize("read a file", 128)), abs=1e-5)
    model.close()
    assert outcome != await vector(http)
