"""Tests of the embedding routes in both dialects, with an encoder of a few kilobytes."""

import base64
import json
from array import array
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from lsp_harness.engine.embed.embedder import Embedder
from lsp_harness.engine.http.embedding_routes import list_routes
from lsp_harness.inference.models.bert import convert
from tests.support.encoder import WIDTH, make_tiny_encoder


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    path = tmp_path_factory.mktemp("encoder") / "tiny.gguf"
    convert(make_tiny_encoder(), path, name="Tiny", license="mit")
    embedder = Embedder(str(path), is_busy=lambda: False)
    yield embedder
    embedder.close()


def make_client(embedder: Embedder) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(Starlette(routes=list_routes(embedder)))
    return httpx2.AsyncClient(transport=transport, base_url="http://engine")


@pytest.fixture
async def http(embedder: Embedder) -> AsyncIterator[httpx2.AsyncClient]:
    async with make_client(embedder) as http:
        yield http


async def post(http: httpx2.AsyncClient, path: str, **body: object) -> Any:
    response = await http.post(path, json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


async def test_an_answer_in_the_llama_server_form_is_a_list_of_rows(http: httpx2.AsyncClient):
    two = await post(http, "/embedding", content=["read a file", ""])
    assert [row["index"] for row in two] == [0, 1]
    assert [[len(row) for row in item["embedding"]] for item in two] == [[WIDTH], [WIDTH]]
    assert await post(http, "/embedding", content="read a file") == [two[0]]
    assert await post(http, "/embeddings", input="read a file") == [two[0]]


async def test_an_answer_in_the_openai_form_has_token_counts_and_the_model(
    http: httpx2.AsyncClient, embedder: Embedder
):
    body = await post(http, "/v1/embeddings", input=["read a file", "read"], model="whatever")
    [native, _] = await post(http, "/embedding", content=["read a file", "read"])
    assert (body["object"], body["model"]) == ("list", embedder.name)
    # with the two marks around each text
    assert body["usage"] == {"prompt_tokens": 8, "total_tokens": 8}
    assert [(item["object"], item["index"]) for item in body["data"]] == [("embedding", 0), ("embedding", 1)]
    assert body["data"][0]["embedding"] == native["embedding"][0]


async def test_base64_holds_the_same_numbers_as_float32(http: httpx2.AsyncClient):
    plain = await post(http, "/v1/embeddings", input="read", encoding_format="float", dimensions=WIDTH)
    packed = await post(http, "/v1/embeddings", input="read", encoding_format="base64")
    values = array("f", base64.b64decode(packed["data"][0]["embedding"]))
    assert values == array("f", plain["data"][0]["embedding"])


async def test_a_text_is_cut_at_the_requested_length(http: httpx2.AsyncClient):
    async def tokens(**body: object) -> int:
        text = "a " * 300
        return (await post(http, "/v1/embeddings", input=text, **body))["usage"]["prompt_tokens"]

    assert await tokens(max_tokens=5) == 7
    # this model's own limit is below the default
    assert await tokens() == await tokens(max_tokens=510) == 96


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/embedding", {}, "`input` must be a text or a list of texts"),
        ("/embedding", {"content": []}, "`content` must be a text or a list of texts"),
        ("/embedding", {"content": [1, 2]}, "`content` must be a text or a list of texts"),
        ("/embedding", {"content": ["a"] * 2049}, "`content` has 2049 texts; send at most 2048 at once"),
        ("/embedding", {"content": "a", "embd_normalize": -1}, "`embd_normalize` must be 2"),
        ("/embedding", {"content": "a", "max_tokens": 511}, "`max_tokens` must be between 1 and 510"),
        ("/embedding", {"content": "a", "max_tokens": 0}, "`max_tokens` must be between 1 and 510"),
        ("/embedding", {"content": "a", "priority": "now"}, "`priority` must be one of"),
        ("/v1/embeddings", {"content": "a"}, "`input` must be a text or a list of texts"),
        ("/v1/embeddings", {"input": "a", "encoding_format": "hex"}, "`encoding_format` must be `float` or `base64`"),
        ("/v1/embeddings", {"input": "a", "dimensions": 8}, f"have exactly {WIDTH} `dimensions`"),
    ],
)
async def test_a_request_that_cannot_be_answered_is_refused(
    http: httpx2.AsyncClient, path: str, body: dict[str, Any], said: str
):
    response = await http.post(path, json=body)
    error = response.json()["error"]
    assert (response.status_code, error["type"]) == (400, "invalid_request_error")
    assert said in error["message"]


async def test_without_the_model_the_error_says_how_to_download_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(tmp_path))
    embedder = Embedder("all-minilm-l6-v2", is_busy=lambda: False)
    async with make_client(embedder) as http:
        for path, field in (("/embedding", "content"), ("/v1/embeddings", "input")):
            response = await http.post(path, json={field: "a"})
            assert response.status_code == 501
            assert "run: lsp-harness model pull all-minilm-l6-v2" in response.json()["error"]["message"]
    embedder.close()


async def test_more_texts_than_may_wait_are_turned_away(embedder: Embedder):
    small = Embedder(embedder.name, is_busy=lambda: False, max_texts=1)
    async with make_client(small) as http:
        response = await http.post("/embedding", json={"content": ["a", "b"]})
        assert (response.status_code, response.json()["error"]["type"]) == (503, "unavailable_error")
    small.close()


async def test_embedding_ends_when_the_client_disconnects(embedder: Embedder):
    app = Starlette(routes=list_routes(embedder))
    body = json.dumps({"content": ["a"] * 1000}).encode()
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])
    scope = {"type": "http", "method": "POST", "path": "/embedding", "headers": [], "query_string": b""}
    items: list[Any] = []

    async def receive() -> Any:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        items.append(message)

    await app(scope, receive, send)

    assert items[-1]["body"] == b"[]"
    async with make_client(embedder) as http:
        await http.post("/embedding", json={"content": "next"})
    assert embedder.pending == 0
