"""Texts and positions that break servers: each request gets one answer, and the server goes on.

The model is tiny and random, so its suggestions mean nothing. The tests only check that there is an answer.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from lsp_harness.cli.lsp_client import LspClient, RpcError
from tests.support.user_home import open_home

pytestmark = pytest.mark.asyncio(loop_scope="module")
INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(probed: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LspClient]:
    """Start one server for all tests: none of them ends it."""
    with open_home(probed) as home:
        env = {**os.environ, "LSP_HARNESS_HOME": str(home), "LSP_HARNESS_MODEL__PATH": str(tiny_model)}
        async with LspClient.start(tmp_path_factory.mktemp("project"), env=env) as client:
            yield client


@pytest_asyncio.fixture(loop_scope="module")
async def client(server: LspClient, tmp_path: Path) -> AsyncIterator[LspClient]:
    yield server
    # after each test, the server still completes
    uri = server.open(tmp_path / "last.py", "x = ", "python")
    assert isinstance(await complete(server, uri, 0, 4), list)


async def complete(client: LspClient, uri: str, line: int, character: int) -> Any:
    position = {"line": line, "character": character}
    params = {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 2}}
    return (await client.request("textDocument/inlineCompletion", params))["items"]


@pytest.mark.parametrize(
    ("text", "line", "character"),
    [
        pytest.param("a = 1\x0cb = 2\nc = ", 1, 4, id="form feed"),
        pytest.param("a = '\u2028'\nc = ", 1, 4, id="U+2028"),
        pytest.param("a = 1\rb = 2\rc = ", 2, 4, id="lone CR"),
        pytest.param("s = '🐍🐜'; c = ", 0, 15, id="emoji columns in utf-16"),
        pytest.param("s = '🐍'", 0, 6, id="inside a surrogate pair"),
        pytest.param("x = 1\n", 99, 99, id="past the end"),
        pytest.param("", 0, 0, id="empty"),
        pytest.param("x" * 300_000, 0, 150_000, id="one long line"),
    ],
)
async def test_odd_texts_get_a_list(client: LspClient, tmp_path: Path, text: str, line: int, character: int):
    uri = client.open(tmp_path / "odd.py", text, "python")

    assert isinstance(await complete(client, uri, line, character), list)


async def test_an_edit_behind_a_form_feed_and_a_line_separator_lands_where_the_client_means(
    client: LspClient, tmp_path: Path
):
    uri = client.open(tmp_path / "feed.py", "a\x0cb\u2028\nc\n", "python")
    client.edit(uri, {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}, "Z")

    status = await client.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})

    assert client.text(uri).text == "a\x0cb\u2028\nZc\n"
    [document] = [document for document in status["documents"] if document["uri"] == uri]
    assert document["bytes"] == len(client.text(uri).data)


@pytest.mark.parametrize("text", ["\0binary\0" * 100, "x = 1\n" * 900_000], ids=["binary", "5 MB"])
async def test_a_document_that_is_no_text_or_too_large_gets_an_empty_list(client: LspClient, tmp_path: Path, text: str):
    uri = client.open(tmp_path / "big.py", text, "python")

    assert await complete(client, uri, 0, 0) == []


async def test_a_closed_document_is_refused(client: LspClient, tmp_path: Path):
    uri = client.open(tmp_path / "x.py", "x = ", "python")
    client.close(uri)

    with pytest.raises(RpcError, match="is not open") as error:
        await complete(client, uri, 0, 4)
    assert error.value.code == INVALID_PARAMS


@pytest.mark.parametrize("params", [None, [], {"textDocument": 5}, {"position": {"line": "one"}}])
async def test_malformed_params_are_refused(client: LspClient, params: Any):
    with pytest.raises(RpcError) as error:
        await client.request("textDocument/inlineCompletion", params)
    assert error.value.code == INVALID_PARAMS


async def test_an_unknown_method_is_refused(client: LspClient):
    with pytest.raises(RpcError) as error:
        await client.request("textDocument/unheardOf", {})
    assert error.value.code == METHOD_NOT_FOUND
