"""Tests of the client with servers on real sockets: detection, failures, and the choice of the next server."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any, cast

import pytest

from lsp_harness.config.schema import Config, EngineSettings
from lsp_harness.errors import EngineBusy, EngineError, EngineRefused, EngineUnavailable
from lsp_harness.inference.backends import fleet
from lsp_harness.inference.backends.backend import FEATURES, NO_INFILL_KEY, EstimatedCount
from lsp_harness.inference.backends.endpoint import parse_retry_after
from lsp_harness.inference.client import EngineClient, affinity_key, process_name
from lsp_harness.inference.request import Chunk, Continuation, Infill, InfillContext, ModelRequest, Owner, Sampling
from tests.support.server import FakeServer, Reply, open_server

PROPS = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2, "model_alias": "some"}
OURS = PROPS | {"fim_order": "suffix-first", "pid": 7}
END = {"content": "", "stop": True, "stop_type": "limit"}
ASK = Continuation("def f", Sampling(n_predict=8))


def make_llama_server(*events: Any, props: dict[str, Any] = PROPS) -> FakeServer:
    """Return a llama-server that always gives the same answer."""
    server = FakeServer()
    server.on["GET", "/props"] = Reply(json=props)
    server.on["GET", "/health"] = Reply(json={"status": "ok"})
    server.on["POST", "/completion"] = server.on["POST", "/infill"] = Reply(events or ({"content": "a"}, END))
    return server


@asynccontextmanager
async def open_client(*urls: str, **settings: Any) -> AsyncIterator[EngineClient]:
    config = Config(engine=EngineSettings(url=",".join(urls), **settings))
    async with aclosing(EngineClient(config)) as engine_client:
        yield engine_client


async def answer(engine_client: EngineClient, request: ModelRequest = ASK) -> list[Chunk]:
    return [chunk async for chunk in engine_client.stream(request)]


def join_chunks(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


def find_unused_address() -> str:
    """Return an address at which no server listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fleet, "FIRST_RETRY_WAIT_S", 0.0)
    monkeypatch.delenv("LSP_HARNESS_API_KEY", raising=False)


# -- what it is
async def test_a_llama_server_is_recognised_by_its_props():
    async with open_server(make_llama_server()) as server, open_client(server.url) as engine_client:
        assert join_chunks(await answer(engine_client)) == "a"
        props = await engine_client.props()
        features = props.features

    assert (props.model, props.n_ctx) == ("some", 4096)
    assert set(features) == set(FEATURES)
    assert features["persist"] is False
    [body] = server.bodies("/completion")
    assert not body.keys() & {"client", "id", "persist", "priority", "lookup", "affinity"}
    assert body["samplers"] == ["top_k", "top_p", "temperature"]


async def test_our_own_engine_at_another_address_gets_all_fields():
    async with (
        open_server(make_llama_server(props=OURS | {"features": {"embedding": False}})) as server,
        open_client(server.url) as engine_client,
    ):
        await answer(engine_client, Continuation("a", owner=Owner(affinity="file:///a.py")))
        features = (await engine_client.props()).features

    assert features == dict.fromkeys(FEATURES, True) | {"embedding": False, "tools": False}
    [body] = server.bodies("/completion")
    assert (body["client"], body["priority"]) == (process_name(), "normal")
    assert "affinity" not in body


async def test_a_client_keeps_its_own_name():
    async with open_server(make_llama_server(props=OURS)) as server, open_client(server.url) as engine_client:
        await answer(engine_client, Continuation("a", owner=Owner(client="me")))

    assert server.bodies("/completion")[0]["client"] == "me"


async def test_the_model_of_a_server_without_props_is_read_from_its_list():
    server = FakeServer()
    server.on["GET", "/v1/models"] = Reply(json={"data": [{"id": "m"}]})
    async with open_server(server), open_client(server.url) as engine_client:
        assert (await engine_client.props()).model == "m"


async def test_a_dialect_that_is_set_is_not_looked_for():
    server = make_llama_server()
    server.on["GET", "/v1/models"] = Reply(json={"data": [{"id": "m"}]})
    async with open_server(server), open_client(server.url, dialect="openai") as engine_client:
        assert (await engine_client.props()).model == "m"
    assert not server.bodies("/props")


@pytest.mark.parametrize(
    ("settings", "models", "message"),
    [
        ({}, None, "neither a llama-server nor an OpenAI-compatible server"),
        ({"dialect": "llama-server"}, {"data": []}, "has no /props, which every llama-server has"),
        ({}, {"data": [{"id": n} for n in "abcdefg"]}, "serves 7 models; set engine.model to one of a, b, c, d, e, …"),
    ],
)
async def test_a_server_that_cannot_be_made_out(settings: dict[str, str], models: Any, message: str):
    server = FakeServer()
    if models:
        server.on["GET", "/v1/models"] = Reply(json=models)
    async with open_server(server), open_client(server.url, **settings) as engine_client:
        with pytest.raises(EngineRefused, match=message):
            await engine_client.props()


# -- keys
async def test_the_key_is_sent_and_never_repeated(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINE", "sk-secret")
    server = make_llama_server()
    server.on["POST", "/completion"] = [
        Reply(json={"error": {"message": "bad key sk-secret"}}, status=401),
        Reply(json={"error": {"message": "what is sk-secret"}}, status=400),
    ]
    async with open_server(server), open_client(server.url, api_key_env="MINE") as engine_client:
        with pytest.raises(EngineRefused, match="refuses the key in MINE") as refused:
            await answer(engine_client)
        with pytest.raises(EngineRefused, match="what is …") as wrong:
            await answer(engine_client)
        props = await engine_client.props()

    assert all(result.headers["authorization"] == "Bearer sk-secret" for result in server.requests)
    assert "secret" not in f"{refused.value}{wrong.value}{props}"


async def test_a_server_that_needs_a_key_is_reported():
    server = FakeServer()
    server.on["GET", "/props"] = Reply(json={"error": {"message": "Invalid API Key"}}, status=401)
    async with open_server(server), open_client(server.url) as engine_client:
        with pytest.raises(EngineRefused, match="needs a key; put the right one"):
            await engine_client.props()


# -- failures
@pytest.mark.parametrize("status", [429, 503, 502])
async def test_a_busy_server_is_asked_again(status: int):
    server = make_llama_server()
    server.on["POST", "/completion"] = [Reply(status=status, json={}), Reply(({"content": "b"}, END))]
    async with open_server(server), open_client(server.url) as engine_client:
        assert join_chunks(await answer(engine_client)) == "b"


async def test_a_request_is_repeated_as_often_as_the_setting_says():
    server = make_llama_server()
    server.on["POST", "/completion"] = Reply(status=503, json={"error": {"message": "full"}})
    async with open_server(server), open_client(server.url, retries=2) as engine_client:
        with pytest.raises(EngineBusy, match="full"):
            await answer(engine_client)

    assert len(server.bodies("/completion")) == 3


async def test_a_long_retry_after_is_not_waited_for():
    server = make_llama_server()
    server.on["POST", "/completion"] = Reply(status=429, json={}, headers={"Retry-After": "3600"})
    async with open_server(server), open_client(server.url) as engine_client:
        with pytest.raises(EngineBusy):
            await answer(engine_client)

    assert len(server.bodies("/completion")) == 1


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [("", 0, 0), ("soon", 0, 0), ("2.5", 2.5, 2.5), ("-1", 0, 0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0)],
)
def test_retry_after_is_a_number_or_a_date(header: str, least: float, most: float):
    assert least <= parse_retry_after(header) <= most
    assert parse_retry_after("Fri, 31 Dec 2100 23:59:59 GMT") > 1_000_000


async def test_an_answer_that_has_begun_is_not_requested_again():
    async with (
        open_server(make_llama_server({"content": "a"}, None)) as server,
        open_client(server.url) as engine_client,
    ):
        with pytest.raises(EngineUnavailable, match="closed the connection"):
            await answer(engine_client)

    assert len(server.bodies("/completion")) == 1


async def test_a_request_that_fails_before_its_answer_is_repeated():
    server = make_llama_server()
    server.on["POST", "/completion"] = [Reply((None,)), Reply(({"content": "b"}, END))]
    async with open_server(server), open_client(server.url) as engine_client:
        assert join_chunks(await answer(engine_client)) == "b"


async def test_an_answer_without_an_end_is_an_error():
    async with open_server(make_llama_server({"content": "a"})) as server, open_client(server.url) as engine_client:
        with pytest.raises(EngineUnavailable, match="before the answer was complete"):
            await answer(engine_client)


@pytest.mark.parametrize("event", ["no JSON", "[1]", {"timings": 3}, {"completion_probabilities": [3]}])
async def test_an_invalid_event_is_an_error_and_no_crash(event: Any):
    async with open_server(make_llama_server(event)) as server, open_client(server.url) as engine_client:
        with pytest.raises(EngineError, match=r"an answer that its protocol does not have|not an object"):
            await answer(engine_client)


@pytest.mark.parametrize("body", [{}, [], {"tokens": 3}])
async def test_an_invalid_body_is_an_error_and_no_crash(body: Any):
    server = make_llama_server()
    server.on["POST", "/tokenize"] = Reply(json=body)
    async with open_server(server), open_client(server.url) as engine_client:
        with pytest.raises(EngineError, match="an answer that its protocol does not have"):
            await engine_client.count(["a"])


async def test_an_invalid_list_of_models_is_an_error_and_no_crash():
    server = FakeServer()
    server.on["GET", "/v1/models"] = Reply(json={"data": [3]})
    async with open_server(server), open_client(server.url) as engine_client:
        with pytest.raises(EngineError, match="an answer that its protocol does not have"):
            await engine_client.props()


async def test_an_error_inside_of_a_stream_is_raised():
    async with (
        open_server(make_llama_server({"error": {"message": "out of memory"}})) as server,
        open_client(server.url) as engine_client,
    ):
        with pytest.raises(EngineError, match="out of memory"):
            await answer(engine_client)


@pytest.mark.parametrize(("key", "events"), [("first_token_seconds", ()), ("next_token_seconds", ({"content": "a"},))])
async def test_a_server_that_falls_silent_has_failed(key: str, events: tuple[Any, ...]):
    never = asyncio.Event()
    async with (
        open_server(make_llama_server(*events, never)) as server,
        open_client(server.url, **{key: 1.0}) as engine_client,
    ):
        with pytest.raises(EngineUnavailable, match=key):
            await answer(engine_client)
        await server.left.wait()

    assert len(server.bodies("/completion")) == 1


async def test_leaving_early_closes_the_connection():
    async with (
        open_server(make_llama_server({"content": "a"}, asyncio.Event())) as server,
        open_client(server.url) as engine_client,
    ):
        async with aclosing(cast("Any", engine_client.stream(ASK))) as chunks:
            await anext(chunks)
        await server.left.wait()


# -- several
async def test_the_same_document_goes_to_the_same_server():
    servers = [make_llama_server(props=OURS) for _ in range(3)]
    requests = [Continuation("a", owner=Owner(affinity=f"file:///{n}.py")) for n in range(48)]
    async with AsyncExitStack() as stack:
        for server in servers:
            await stack.enter_async_context(open_server(server))
        engine_client = await stack.enter_async_context(open_client(*(server.url for server in servers)))
        went: list[list[int]] = []
        for request in requests * 2:
            before = [len(server.bodies("/completion")) for server in servers]
            await answer(engine_client, request)
            went.append([len(server.bodies("/completion")) - n for server, n in zip(servers, before, strict=True)])

    assert went[:48] == went[48:]
    # the ports, and with them the shares, differ from run to run: one of three servers without any of 48 is 1 in 10^8
    assert len({tuple(item) for item in went}) == 3


async def test_a_server_that_is_down_costs_no_request_and_is_left_out():
    result = find_unused_address()
    async with open_server(make_llama_server()) as server, open_client(server.url, result) as engine_client:
        for n in range(8):
            assert join_chunks(await answer(engine_client, Continuation("a", owner=Owner(affinity=str(n))))) == "a"


async def test_if_no_server_answers_the_error_says_so():
    async with open_client(find_unused_address(), find_unused_address()) as engine_client:
        with pytest.raises(EngineUnavailable, match="cannot be reached or closed the connection; check that it runs"):
            await answer(engine_client)


def test_a_request_has_an_affinity_key():
    infill = Infill(InfillContext("a", "b", (("a.py", "x"),)), owner=Owner("me"))

    assert affinity_key(infill) == "me\0a.py"
    assert affinity_key(Continuation("a", owner=Owner("me"))) == "me\0"
    assert affinity_key(Infill(InfillContext("", ""), owner=Owner("me", affinity="file:///a.py"))) == "file:///a.py"


# -- llama-server
async def test_blanks_before_the_cursor_are_left_to_the_model():
    async with (
        open_server(make_llama_server({"content": " a"}, END)) as server,
        open_client(server.url) as engine_client,
    ):
        healed = join_chunks(await answer(engine_client, Infill(InfillContext("c = ", "\n"))))
        plain = join_chunks(await answer(engine_client, Infill(InfillContext("c = ", "\n"), heal=False)))

    assert (healed, plain) == ("a", " a")
    assert [body["input_prefix"] for body in server.bodies("/infill")] == ["c =", "c = "]


@pytest.mark.parametrize(("fim", "alias"), [("auto", "Qwen2.5-Coder-7B"), ("qwen2.5-coder", "some")])
async def test_an_infill_prompt_is_built_for_a_known_family(fim: str, alias: str):
    server = make_llama_server(props=PROPS | {"model_alias": alias})
    async with open_server(server), open_client(server.url, fim=fim) as engine_client:
        await answer(engine_client, Infill(InfillContext("a", "b", (("x.py", "# x\n"),))))
        features = (await engine_client.props()).features

    [body] = server.bodies("/completion")
    assert body["prompt"] == "# x\n<|fim_prefix|><|fim_suffix|>b<|fim_middle|>a"
    assert "<|endoftext|>" in body["stop"]
    assert features["infill"] == "laid out for qwen2.5-coder"


@pytest.mark.parametrize("props", [PROPS, OURS])
async def test_a_llama_server_without_fim_tokens_refuses_infill(props: dict[str, Any]):
    async with (
        open_server(make_llama_server(props=props)) as server,
        open_client(server.url, fim="none") as engine_client,
    ):
        assert (await engine_client.props()).raw[
            NO_INFILL_KEY
        ] == "some gets no fill-in-the-middle prompts, because engine.fim is none"
        assert (await engine_client.props()).features["infill"] is False
    async with open_server(make_llama_server()) as server, open_client(server.url) as engine_client:
        assert NO_INFILL_KEY not in (await engine_client.props()).raw


@pytest.mark.parametrize(
    ("status", "message"),
    [(501, "^Infill is not supported$"), (404, "^the server does not know this: Infill is not supported$")],
)
async def test_a_task_that_a_server_does_not_do_is_refused(status: int, message: str):
    server = make_llama_server()
    server.on["POST", "/infill"] = Reply(json={"error": {"message": "Infill is not supported"}}, status=status)
    async with open_server(server), open_client(server.url) as engine_client:
        with pytest.raises(EngineRefused, match=message):
            await answer(engine_client, Infill(InfillContext("a", "b")))
    assert len(server.bodies("/infill")) == 1


async def test_a_server_has_as_many_candidates_as_slots():
    events = ({"content": "a", "index": 0}, {"content": "b", "index": 1}, END | {"index": 1}, END | {"index": 0})
    async with open_server(make_llama_server(*events)) as server, open_client(server.url) as engine_client:
        chunks = await answer(engine_client, Continuation("a", Sampling(n=5)))

    assert [chunk.index for chunk in chunks if chunk.stop] == [1, 0]
    assert server.bodies("/completion")[0]["n_cmpl"] == 2


async def test_a_warming_request_returns_no_text():
    async with (
        open_server(make_llama_server({"content": "a"}, END)) as server,
        open_client(server.url) as engine_client,
    ):
        assert [(c.text, c.stop) for c in await answer(engine_client, Continuation("a", Sampling(n_predict=0)))] == [
            ("", "limit")
        ]


async def test_token_counts_are_requested_one_by_one_and_remembered():
    server = make_llama_server()
    server.on["POST", "/tokenize"] = lambda body: Reply(json={"tokens": list(range(len(body["content"])))})
    async with open_server(server), open_client(server.url) as engine_client:
        assert await engine_client.count(["abc", "", "a", "abc"]) == [3, 0, 1, 3]
        assert await engine_client.count(["a"]) == [1]

    assert sorted(body["content"] for body in server.bodies("/tokenize")) == ["", "a", "abc"]
    assert not any(body["parse_special"] for body in server.bodies("/tokenize"))


@pytest.mark.parametrize(
    "rows",
    [
        [{"index": 1, "embedding": [[0, 1]]}, {"index": 0, "embedding": [[1, 0]]}],
        [{"embedding": [1, 0]}, {"embedding": [0, 1]}],
    ],
)
async def test_embeddings_come_in_order_flat_or_not(rows: Any):
    server = make_llama_server()
    server.on["POST", "/embedding"] = Reply(json=rows)
    async with open_server(server), open_client(server.url) as engine_client:
        assert await engine_client.embed(["a", "b"], max_tokens=9) == [[1, 0], [0, 1]]
        assert await engine_client.embed([]) == []

    assert server.bodies("/embedding") == [{"content": ["a", "b"], "max_tokens": 9}]


@pytest.mark.parametrize(
    ("rows", "message"),
    [([{"index": 0, "embedding": [[1], [2]]}], "for each token"), ([], "0 vectors for 1 text")],
)
async def test_invalid_embeddings_are_refused(rows: Any, message: str):
    server = make_llama_server()
    server.on["POST", "/embedding"] = Reply(json=rows)
    async with open_server(server), open_client(server.url) as engine_client:
        with pytest.raises(EngineError, match=message):
            await engine_client.embed(["a"])


async def test_a_candidate_is_cancelled_by_its_name_while_it_runs():
    go_on = asyncio.Event()
    server = make_llama_server({"content": "a"}, go_on, END, props=OURS)
    server.on["POST", "/cancel"] = Reply(json={"cancelled": True})
    async with open_server(server), open_client(server.url) as engine_client:
        chunks = cast("Any", engine_client.stream(Continuation("a", owner=Owner(id="r1"))))
        await anext(chunks)
        assert await engine_client.cancel("r1", 0)
        go_on.set()
        assert [chunk.stop async for chunk in chunks] == ["limit"]
        assert not await engine_client.cancel("r1")

    assert server.bodies("/cancel") == [{"client": process_name(), "id": "r1", "index": 0}]


async def test_counts_of_an_unknown_server_are_marked_as_estimates():
    server = FakeServer()
    server.on["GET", "/v1/models"] = Reply(json={"data": [{"id": "m", "owned_by": "somebody"}]})
    async with open_server(server), open_client(server.url) as engine_client:
        counts = await engine_client.count(["", "abcd", "é" * 9])
        again = await engine_client.count(["abcd"])
        props = await engine_client.props()
        features = props.features

    assert counts == [0, 2, 6]
    assert all(isinstance(count, EstimatedCount) for count in [*counts, *again])
    assert repr(counts[1]) == "about 2"
    assert features["tokenize"] == "estimated: 3 bytes a token"
    assert props.raw["token_counts"] == "estimated"
