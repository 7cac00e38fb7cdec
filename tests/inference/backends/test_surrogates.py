"""Tests of texts with half a surrogate pair in all kinds of requests to all kinds of servers."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lsp_harness.errors import EngineError
from lsp_harness.inference.backends.endpoint import encode_body
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import ChatRequest, Continuation, Infill, InfillContext, Owner, Sampling
from tests.inference.backends.test_remote import OURS, answer, make_llama_server, open_client
from tests.support.server import FakeServer, Reply, open_server

HALF = "\ud83d"
TEXT = f'NAME = "{HALF}"\n'
SENT = 'NAME = "\ufffd"\n'
Ask = Callable[[EngineClient], Awaitable[Any]]
ASKS: dict[str, Ask] = {
    "completion": lambda engine_client: answer(
        engine_client, Continuation(TEXT, Sampling(stop=(HALF,)), owner=Owner(affinity=TEXT))
    ),
    "infill": lambda engine_client: answer(
        engine_client, Infill(InfillContext(TEXT, TEXT, ((TEXT, TEXT),)), shorter=(InfillContext(TEXT, ""),))
    ),
    "count": lambda engine_client: engine_client.count([TEXT]),
    "embed": lambda engine_client: engine_client.embed([TEXT]),
    "chat": lambda engine_client: answer(engine_client, ChatRequest([("user", TEXT)])),
    "chat prompt": lambda engine_client: engine_client.chat_prompt([("user", TEXT)]),
}


def make_server(props: dict[str, Any]) -> FakeServer:
    server = make_llama_server(props=props)
    ours = "fim_order" in props
    server.on["POST", "/tokenize"] = Reply(json={"counts": [4]} if ours else {"tokens": [1, 2, 3, 4]})
    server.on["POST", "/embedding"] = Reply(json=[{"index": 0, "embedding": [1.0]}])
    server.on["POST", "/apply-template"] = Reply(json={"prompt": "p"})
    return server


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("props", [OURS, {key: OURS[key] for key in OURS if key != "fim_order"}], ids=["ours", "llama"])
async def test_servers_get_a_replacement_character(props: dict[str, Any], ask: str):
    async with open_server(make_server(props)) as server, open_client(server.url) as engine_client:
        await ASKS[ask](engine_client)

    posted = [result.body for result in server.requests if result.method == "POST"]
    assert posted
    sent_text = repr(posted)
    assert repr(SENT)[1:-1] in sent_text
    # json.loads would have taken an escape for one, too
    assert "\\ud83d" not in sent_text


async def test_a_text_that_cannot_be_written_is_no_fault_of_the_server():
    with pytest.raises(EngineError, match="this request cannot be sent: "):
        encode_body({"temperature": float("nan")})
