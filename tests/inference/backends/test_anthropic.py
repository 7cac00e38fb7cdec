"""Tests of the backend for Anthropic, with a server that answers as the documentation says. The real API was never
called."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lsp_harness.errors import EngineBusy, EngineError, EngineRefused
from lsp_harness.inference.backends import anthropic
from lsp_harness.inference.backends.backend import NO_INFILL_KEY
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import ChatRequest, Continuation, Infill, InfillContext, Sampling, Usage
from tests.inference.backends.test_remote import answer, join_chunks, open_client
from tests.support.server import FakeServer, Reply, open_server

START = {
    "type": "message_start",
    "message": {"usage": {"input_tokens": 5, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 30}},
}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
STOP = {"type": "message_stop"}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
BROKEN = {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}


def make_delta(content: str, kind: str = "text_delta") -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, "text": content}}


def make_end(reason: str = "end_turn") -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 4}}


HELLO = Reply((START, BLOCK, {"type": "ping"}, make_delta("Hel"), make_delta("lo"), make_end(), STOP))


@asynccontextmanager
async def serve_replies(
    monkeypatch: pytest.MonkeyPatch, *replies: Reply, **settings: Any
) -> AsyncIterator[tuple[EngineClient, FakeServer]]:
    server = FakeServer()
    server.on["POST", "/v1/messages"] = list(replies)
    async with open_server(server):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        async with open_client(model="anthropic/some", **settings) as engine_client:
            yield engine_client, server


async def ask_for_greeting(engine_client: EngineClient, **sampling: Any):
    messages = [("system", "Be brief."), ("user", "Hi"), ("assistant", "Yes?"), ("user", "Say")]
    return await answer(engine_client, ChatRequest(messages, Sampling(n_predict=8, **sampling)))


async def test_a_conversation_is_sent_as_one(monkeypatch: pytest.MonkeyPatch):
    async with serve_replies(monkeypatch, HELLO) as (engine_client, server):
        chunks = await ask_for_greeting(engine_client, temperature=0.6, stop=("\n", "END"))

    assert join_chunks(chunks) == "Hello"
    assert (chunks[-1].stop, chunks[-1].usage) == ("eos", Usage(evaluated=7, reused=30, generated=4))
    probe, result = server.requests
    assert (probe.path, result.path) == ("/v1/models", "/v1/messages")
    assert result.body == {
        "model": "some",
        "max_tokens": 8 + anthropic.THINKING_TOKENS,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "Say"},
        ],
        "stop_sequences": ["END"],
        "stream": True,
    }
    assert (result.headers["x-api-key"], result.headers["anthropic-version"]) == ("sk-secret", "2023-06-01")
    assert "authorization" not in result.headers


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("max_tokens", "limit"), ("stop_sequence", "word"), ("end_turn", "eos")],
)
async def test_the_reason_why_an_answer_ended_is_translated(monkeypatch: pytest.MonkeyPatch, reason: str, stop: str):
    async with serve_replies(monkeypatch, Reply((START, make_delta("a"), make_end(reason), STOP))) as (
        engine_client,
        _,
    ):
        assert (await ask_for_greeting(engine_client))[-1].stop == stop


async def test_thoughts_of_the_model_are_no_answer(monkeypatch: pytest.MonkeyPatch):
    async with serve_replies(
        monkeypatch, Reply((START, make_delta("hm", "thinking_delta"), make_delta("a"), make_end(), STOP))
    ) as (
        engine_client,
        _,
    ):
        assert join_chunks(await ask_for_greeting(engine_client)) == "a"


async def test_an_answer_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch):
    times = iter([10.0, 10.0, 10.2])
    monkeypatch.setattr(anthropic, "monotonic", lambda: next(times))
    content = ["a\n", "b", "c\n", "d"]
    async with serve_replies(monkeypatch, Reply((START, *map(make_delta, content), make_end(), STOP))) as (
        engine_client,
        _,
    ):
        chunks = await ask_for_greeting(engine_client, t_max_predict_ms=100)

    assert (join_chunks(chunks), chunks[-1].stop) == ("a\nbc\n", "deadline")


@pytest.mark.parametrize(
    "busy", [Reply(status=529, json=OVERLOADED), Reply(status=429, json=OVERLOADED), Reply((OVERLOADED,))]
)
async def test_an_overloaded_service_is_asked_again(monkeypatch: pytest.MonkeyPatch, busy: Reply):
    async with serve_replies(monkeypatch, busy, HELLO) as (engine_client, server):
        assert join_chunks(await ask_for_greeting(engine_client)) == "Hello"
    assert len(server.bodies("/v1/messages")) == 2


async def test_an_overloaded_service_is_an_error_after_the_last_retry(monkeypatch: pytest.MonkeyPatch):
    async with serve_replies(monkeypatch, Reply(status=529, json=OVERLOADED), retries=0) as (engine_client, _):
        with pytest.raises(EngineBusy, match="Overloaded"):
            await ask_for_greeting(engine_client)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply((START, make_delta("a"), BROKEN)), "Internal server error"),
        (Reply((START, make_end("refusal"), STOP)), "the model refused to answer"),
        (Reply(json={"error": {"message": "model: some"}}, status=404), "the server does not know this: model: some"),
        (Reply((START, make_delta("a"))), "stopped before the answer was complete"),
        (Reply(({"type": "content_block_delta"},)), "sent an answer that its protocol does not have"),
    ],
)
async def test_an_answer_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch, reply: Reply, message: str):
    async with serve_replies(monkeypatch, reply) as (engine_client, _):
        with pytest.raises(EngineError, match=message):
            await ask_for_greeting(engine_client)


async def test_a_request_that_anthropic_does_not_support_is_not_sent(monkeypatch: pytest.MonkeyPatch):
    async with serve_replies(monkeypatch) as (engine_client, server):
        for request in (Infill(InfillContext("a", "b")), Continuation("def f")):
            with pytest.raises(EngineRefused, match="Anthropic's API"):
                await answer(engine_client, request)
        with pytest.raises(EngineRefused, match="no embeddings"):
            await engine_client.embed(["a"])
        props = await engine_client.props()
        features = props.features

    assert server.bodies("/v1/messages") == []
    assert features["infill"] is False
    assert props.raw[NO_INFILL_KEY] == anthropic.NO_INFILL_REASON


async def test_a_refused_key_is_reported_before_a_fix_is_requested(monkeypatch: pytest.MonkeyPatch):
    async with serve_replies(monkeypatch) as (engine_client, server):
        server.on["GET", "/v1/models"] = Reply(json={}, status=401)
        with pytest.raises(EngineRefused, match="refuses the key in ANTHROPIC_API_KEY"):
            await engine_client.props()


async def test_an_address_of_anthropic_needs_a_model(monkeypatch: pytest.MonkeyPatch):
    async with open_server(FakeServer()) as server, open_client(server.url, dialect="anthropic") as engine_client:
        with pytest.raises(EngineRefused, match=r"set engine\.model"):
            await engine_client.props()
