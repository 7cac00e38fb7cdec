"""Tests of the HTTP routes of the engine, with a real engine process and the tiny model."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.engine import EngineProcess, serve_engine

N_CTX = 32768
"""So much that generating it all takes seconds."""


@pytest.fixture(scope="module")
def engine(tiny_model: Path, probed: Path) -> Iterator[EngineProcess]:
    with serve_engine(
        tiny_model, probed, "--n-ctx", str(N_CTX), "--name", "tiny", "--fim-order", "suffix-first"
    ) as engine:
        yield engine


@pytest.fixture
async def http(engine: EngineProcess) -> AsyncIterator[httpx2.AsyncClient]:
    async with engine.http() as http:
        yield http


async def post(http: httpx2.AsyncClient, path: str, **body: object) -> Any:
    response = await http.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def read_refusal(http: httpx2.AsyncClient, path: str, body: object) -> str:
    """Return the message of the answer with status 400."""
    response = await http.post(path, content=body if isinstance(body, bytes) else json.dumps(body).encode())
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert (error["code"], error["type"]) == (400, "invalid_request_error")
    return error["message"]


async def read_stream_events(http: httpx2.AsyncClient, path: str, **body: object) -> list[dict[str, Any]]:
    async with http.stream("POST", path, json=body | {"stream": True}) as response:
        assert response.headers["content-type"] == "text/event-stream"
        return [json.loads(line[6:]) async for line in response.aiter_lines() if line]


async def test_health_and_props_describe_the_engine(http: httpx2.AsyncClient, engine: EngineProcess):
    props = (await http.get("/props")).json()

    assert (await http.get("/health")).json() == {"status": "ok", "silent_s": 0.0}
    assert engine.said == {"pid": engine.process.pid}
    assert {key: props[key] for key in ("model_alias", "pid", "fim_order", "pending", "total_slots", "threads")} == {
        "model_alias": "tiny",
        "pid": engine.process.pid,
        "fim_order": "suffix-first",
        "pending": 0,
        "total_slots": 32,
        "threads": 1,
    }
    assert props["default_generation_settings"] == {"n_ctx": N_CTX}


async def test_tokens_become_the_same_text_again(http: httpx2.AsyncClient):
    text = "def é():\n    return '日本'\n<|im_end|>"
    marked = (await post(http, "/tokenize", content=text))["tokens"]
    plain = (await post(http, "/tokenize", content=text, parse_special=False))["tokens"]

    assert len(plain) > len(marked)
    for tokens in (marked, plain):
        assert await post(http, "/detokenize", tokens=tokens) == {"content": text}
    assert await post(http, "/tokenize", content=["", "a", text], count=True) == {"counts": [0, 1, len(plain)]}


async def test_a_conversation_becomes_a_prompt(http: httpx2.AsyncClient):
    answer = await post(http, "/apply-template", messages=[{"role": "user", "content": "Hi"}])

    assert answer == {"prompt": "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"}


async def test_an_answer_in_one_piece_and_as_a_stream_is_the_same(http: httpx2.AsyncClient):
    whole = await post(http, "/completion", prompt="def f", n_predict=12)
    stream = await read_stream_events(http, "/completion", prompt="def f", n_predict=12)

    assert "".join(event["content"] for event in stream) == whole["content"] != ""
    assert [event["stop"] for event in stream] == [False] * 12 + [True]
    for last in (whole, stream[-1]):
        assert {key: last[key] for key in ("stop", "stop_type", "stop_reason", "tokens_predicted")} == {
            "stop": True,
            "stop_type": "limit",
            "stop_reason": "limit",
            "tokens_predicted": 12,
        }
    assert stream[-1]["timings"]["prompt_n"] == 0
    assert stream[-1]["tokens_evaluated"] == whole["tokens_evaluated"]


async def test_a_prompt_may_be_text_tokens_or_both(http: httpx2.AsyncClient):
    text = "<|im_start|>user\nreturn value"
    tokens = (await post(http, "/tokenize", content=text))["tokens"]
    head = len((await post(http, "/tokenize", content="<|im_start|>user\n"))["tokens"])
    prompts: list[object] = [text, tokens, [*tokens[:head], "return value"], ["<|im_start|>user\n", *tokens[head:]]]

    answers = [await post(http, "/completion", prompt=prompt, n_predict=8) for prompt in prompts]

    assert len({answer["content"] for answer in answers}) == 1
    assert {answer["tokens_evaluated"] for answer in answers} == {len(tokens)}


async def test_a_body_that_is_too_large_is_refused_unread(http: httpx2.AsyncClient):
    long = "x" * (128 * 32_768 + 1)
    for path, body in (
        ("/completion", {"prompt": long}),
        ("/infill", {"input_prefix": long}),
        ("/apply-template", {"messages": [{"role": "user", "content": long}]}),
    ):
        assert "characters do not fit into the 32,768 tokens of model.context_length" in await read_refusal(
            http, path, body
        )
    # long ones that fit are split while others go on
    assert len((await post(http, "/tokenize", content="value" * 10_000))["tokens"]) == 10_000


async def test_the_sequences_in_memory_are_listed(http: httpx2.AsyncClient):
    await post(http, "/completion", prompt="who is here", n_predict=1, client="somebody")

    assert "somebody" in [slot["client"] for slot in (await http.get("/slots")).json()]


async def test_an_infill_uses_the_token_order_of_the_model(http: httpx2.AsyncClient):
    body: dict[str, Any] = {
        "input_prefix": "def f():\n    ",
        "input_suffix": "\n\nprint(f())\n",
        "input_extra": [{"filename": "a.py", "text": "import os\n"}],
        "n_predict": 8,
    }
    parts = [(await post(http, "/tokenize", content=body[key]))["tokens"] for key in ("input_suffix", "input_prefix")]
    (extra,) = [(await post(http, "/tokenize", content="import os\n"))["tokens"]]
    fim = (await http.get("/props")).json()["fim_tokens"]
    prompt = [*extra, fim["pre"], fim["suf"], *parts[0], fim["mid"], *parts[1]]

    filled = await post(http, "/infill", **body, heal=False)
    assert filled["content"] == (await post(http, "/completion", prompt=prompt, n_predict=8))["content"]
    healed = await read_stream_events(http, "/infill", **body)
    assert healed[-1]["stop_reason"] == "limit"
    # the model's order is the default, not the only one
    body["heal"] = False
    other = await post(http, "/infill", **body, fim_order="prefix-suffix-middle")
    assert other["tokens_evaluated"] == filled["tokens_evaluated"]
    assert other["content"] != filled["content"]
    assert (await post(http, "/infill", **body, fim_order="suffix-first"))["content"] == filled["content"]
    assert "`fim_order`" in await read_refusal(http, "/infill", body | {"fim_order": "sideways"})


async def test_lines_that_move_up_in_a_prompt_are_not_read_again(tiny_model: Path, home: Path):
    socket, small = home / "s", ("--n-ctx", "2048", "--cache-reuse", "64")
    with EngineProcess.start(tiny_model, socket, *small):
        result = home / "cache" / "machine.json"
        [(key, machine)] = json.loads(result.read_text()).items()
    assert machine["move_ms"] > 0
    # so small a model may read as fast as it moves
    result.write_text(json.dumps({key: machine | {"move_ms": 0.001}}))

    with EngineProcess.start(tiny_model, socket, *small) as engine:
        async with engine.http() as http:

            async def moved(client: str, first: int, **more: object) -> tuple[int, int]:
                lines = [f"{client}_{number} = make({number * number})\n" for number in range(30)]
                body = {"input_prefix": "".join(lines[first:]), "input_suffix": "end\n", "client": client}
                timings = (await post(http, "/infill", **body, n_predict=1, heal=False, **more))["timings"]
                assert timings["shift_n"] <= timings["cache_n"]
                return timings["shift_n"], timings["prompt_n"]

            for name in ("own", "none", "long"):
                assert (await moved(name, 0))[0] == 0
            shifted, evaluated = await moved("own", 10)
            assert shifted > 300
            assert evaluated < 10
            assert (await moved("none", 11, n_cache_reuse=0))[0] == 0
            assert (await moved("long", 12, n_cache_reuse=2000))[0] == 0
            assert "`n_cache_reuse`" in await read_refusal(http, "/infill", {"n_cache_reuse": -1})
            props = (await http.get("/props")).json()
    assert props["features"]["shift"] is props["memory"]["shifts"] is True
    assert props["curve"]["move_ms"] >= 0
    assert props["totals"]["prompt_tokens_shifted"] == shifted


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/completion", b"{", "not JSON"),
        ("/completion", b"\xff\xfe", "not JSON"),
        ("/completion", b"[" * 100_000, "not JSON"),
        ("/completion", [1], "JSON object"),
        ("/completion", {}, "`prompt`"),
        ("/completion", {"prompt": ""}, "empty"),
        ("/completion", {"prompt": [-1]}, "token -1"),
        ("/completion", {"prompt": ["a", 10**9]}, "token 1000000000"),
        ("/completion", {"prompt": "a", "n_predict": "many"}, "`n_predict`"),
        ("/completion", {"prompt": "a", "temperature": float("nan")}, "`temperature`"),
        ("/completion", {"prompt": "a", "grammar": "root ::= ("}, "grammar"),
        ("/completion", {"prompt": "a", "grammar": "root ::= (", "stream": True}, "grammar"),
        (
            "/completion",
            {"prompt": [5] * N_CTX, "n_predict": 1},
            f"are more than the {N_CTX} tokens of model.context_length",
        ),
        ("/completion", {"prompt": "a", "n_predict": 10**12}, "model.context_length"),
        ("/infill", {"input_prefix": 1}, "`input_prefix`"),
        ("/tokenize", {"content": 1}, "`content`"),
        ("/detokenize", {"tokens": "a"}, "`tokens`"),
        ("/detokenize", {"tokens": [1, -1]}, "`tokens`"),
        ("/detokenize", {"tokens": [True]}, "`tokens`"),
        ("/detokenize", {"tokens": [10**30]}, "`tokens`"),
        ("/apply-template", {}, "`messages`"),
        ("/apply-template", {"messages": ["a"]}, "`messages`"),
        ("/apply-template", {"messages": [{"role": "user"}]}, "`messages`"),
    ],
)
async def test_a_wrong_request_is_refused_with_a_reason(
    http: httpx2.AsyncClient, path: str, body: object, message: str
):
    assert message in await read_refusal(http, path, body)
    assert (await http.get("/health")).status_code == 200


async def test_unknown_paths_and_methods_are_refused(http: httpx2.AsyncClient):
    assert (await http.get("/nothing")).status_code == 404
    assert (await http.get("/completion")).status_code == 405
    assert (await http.post("/health", json={})).status_code == 405


async def wait_for_props(http: httpx2.AsyncClient, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Read the properties until a condition holds; the limit of the test run ends the wait."""
    while True:
        props = (await http.get("/props")).json()
        if condition(props):
            return props


async def test_a_stream_without_a_reader_ends_early(http: httpx2.AsyncClient, engine: EngineProcess):
    before = (await http.get("/props")).json()["tokens_generated_total"]
    body = {"prompt": "def f", "n_predict": N_CTX - 100, "stream": True}
    async with engine.http() as reader, reader.stream("POST", "/completion", json=body) as response:
        lines = response.aiter_lines()
        for _ in range(3):
            await anext(lines)
    props = await wait_for_props(http, lambda props: props["pending"] == 0)

    assert 0 < props["tokens_generated_total"] - before < (N_CTX - 100) / 2
    assert (await post(http, "/completion", prompt="def f", n_predict=2))["stop"]


async def test_an_answer_without_a_waiting_client_ends_early(http: httpx2.AsyncClient, engine: EngineProcess):
    before = (await http.get("/props")).json()["tokens_generated_total"]
    async with engine.http() as reader:
        asking = asyncio.create_task(post(reader, "/completion", prompt="def g", n_predict=N_CTX - 100))
        await wait_for_props(http, lambda props: props["pending"] == 1 and props["tokens_generated_total"] > before)
        asking.cancel()
        await asyncio.wait({asking})
    props = await wait_for_props(http, lambda props: props["pending"] == 0)

    assert 0 < props["tokens_generated_total"] - before < N_CTX - 100


async def test_the_interactive_is_answered_while_the_background_is_at_work(
    http: httpx2.AsyncClient, engine: EngineProcess
):
    async with engine.http() as other:
        body = {"prompt": "def f", "n_predict": N_CTX - 100, "priority": "background"}
        tasks = [asyncio.create_task(other.post("/completion", json=body)) for _ in range(4)]
        await wait_for_props(http, lambda props: props["pending"] == 4)
        answer = await post(http, "/infill", input_prefix="a", n_predict=2)
        props = (await http.get("/props")).json()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert answer["stop"]
    assert props["pending"] >= 3
    await wait_for_props(http, lambda props: props["pending"] == 0)


async def test_the_queue_full_is_503(http: httpx2.AsyncClient, engine: EngineProcess):
    """One request runs and 63 wait; the next one is refused, and then all are cancelled."""
    limits = httpx2.Limits(max_connections=100)
    transport = httpx2.AsyncHTTPTransport(uds=str(engine.socket), limits=limits)
    async with httpx2.AsyncClient(transport=transport, base_url="http://engine", timeout=60) as crowd:
        body = {"prompt": "def f", "n_predict": N_CTX - 100, "priority": "background"}
        tasks = [asyncio.create_task(crowd.post("/completion", json=body)) for _ in range(64)]
        await wait_for_props(http, lambda props: props["pending"] == 64)
        response = await http.post("/completion", json=body)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert response.status_code == 503
    assert "try again" in response.json()["error"]["message"]
    await wait_for_props(http, lambda props: props["pending"] == 0)


async def test_an_answer_has_only_the_requested_fields(http: httpx2.AsyncClient):
    fields = ["content", "timings/predicted_n", "truncated", "no/such", "content/deeper"]
    body: dict[str, Any] = {"prompt": "def f", "n_predict": 3, "response_fields": fields}
    whole = await post(http, "/completion", **body)
    *parts, last = await read_stream_events(http, "/completion", **body)

    assert set(whole) == {"content", "timings/predicted_n", "truncated"}
    assert (whole["timings/predicted_n"], whole["truncated"]) == (3, False)
    assert last == whole | {"content": ""}
    assert "".join(part["content"] for part in parts) == whole["content"]
    assert "`response_fields`" in await read_refusal(http, "/completion", {"prompt": "a", "response_fields": [1]})


async def test_several_candidates_come_as_a_list_and_as_events_with_their_index(http: httpx2.AsyncClient):
    body: dict[str, Any] = {"prompt": "def f", "n_predict": 4, "n_cmpl": 3, "temperature": 1.0, "n_probs": 2}
    whole = await post(http, "/completion", **body)
    stream = await read_stream_events(http, "/completion", **body)

    assert [item["index"] for item in whole] == [0, 1, 2]
    for item in whole:
        own = [event for event in stream if event["index"] == item["index"]]
        assert "".join(event["content"] for event in own) == item["content"]
        assert [event["stop"] for event in own] == [False] * 4 + [True]
        assert [len(token["top_logprobs"]) for token in item["completion_probabilities"]] == [2] * 4


async def test_an_answer_follows_a_schema(http: httpx2.AsyncClient):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    answer = await post(http, "/completion", prompt="def f", n_predict=200, temperature=2.0, json_schema=schema)

    assert json.loads(answer["content"])["ok"] in (True, False)


async def test_a_request_over_http_is_cancelled_by_its_name(http: httpx2.AsyncClient, engine: EngineProcess):
    body = {"prompt": "def f", "n_predict": N_CTX // 4, "n_cmpl": 2, "id": "one", "client": "me", "stream": True}
    async with engine.http() as reader, reader.stream("POST", "/completion", json=body) as response:
        lines = response.aiter_lines()
        await anext(lines)
        assert await post(http, "/cancel", id="one", client="you") == {"cancelled": False}
        assert await post(http, "/cancel", id="one", client="me", index=1) == {"cancelled": True}
        assert await post(http, "/cancel", id="one", client="me") == {"cancelled": True}
        ends = {}
        async for line in lines:
            event = json.loads(line[6:]) if line else {"stop": False}
            if event["stop"]:
                ends[event["index"]] = event["stop_reason"]
    assert ends == {0: "cancelled", 1: "cancelled"}
    assert "`id`" in await read_refusal(http, "/cancel", {"index": 1})
