"""Tests of OpenAI's dialect with OpenAI's client, over the Unix socket and over TCP, with the tiny model."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI

from lsp_harness.config import paths
from tests.support.engine import EngineProcess, serve_engine

N_CTX = 1280
HI: Any = [{"role": "user", "content": "Hi"}]
PROMPT = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def engine(tiny_model: Path, probed: Path) -> Iterator[EngineProcess]:
    with serve_engine(
        tiny_model, probed, "--n-ctx", str(N_CTX), "--name", "tiny", "--tcp", "0", "--kv-disk", "0"
    ) as engine:
        yield engine


@pytest.fixture
async def http(engine: EngineProcess) -> AsyncIterator[httpx2.AsyncClient]:
    async with engine.http() as http:
        yield http


@pytest.fixture
async def client(http: httpx2.AsyncClient) -> AsyncOpenAI:
    return AsyncOpenAI(base_url="http://engine/v1", api_key="none", http_client=http, max_retries=0)


@pytest.fixture
async def over_tcp(
    http: httpx2.AsyncClient, probed: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[AsyncOpenAI]:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(probed.parent.parent))
    port = (await http.get("/props")).json()["tcp_port"]
    key = (paths.runtime_folder() / "token").read_text()
    async with AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=key, max_retries=0) as client:
        yield client


async def count(http: httpx2.AsyncClient, text: str) -> int:
    return len((await http.post("/tokenize", json={"content": text})).json()["tokens"])


async def test_unix_socket_and_tcp_serve_the_same_model(client: AsyncOpenAI, over_tcp: AsyncOpenAI):
    answers: list[str | None] = []
    for result in (client, over_tcp):
        chat = await result.chat.completions.create(model="any", messages=HI, temperature=0, max_tokens=8)
        answers.append(chat.choices[0].message.content)
        assert [model.id async for model in result.models.list()] == ["tiny"]

    assert answers[0] == answers[1] != ""


async def test_a_model_is_described_and_an_unknown_model_is_refused(client: AsyncOpenAI):
    model = await client.models.retrieve("tiny")

    assert (model.id, model.owned_by) == ("tiny", "lsp-harness")
    with pytest.raises(openai.NotFoundError, match="there is no model 'gpt-9' here; this engine has 'tiny'"):
        await client.models.retrieve("gpt-9")


async def test_a_conversation_is_answered(client: AsyncOpenAI, http: httpx2.AsyncClient):
    chat = await client.chat.completions.create(model="tiny", messages=HI, temperature=0, max_tokens=8)
    raw = {"prompt": PROMPT, "n_predict": 8, "temperature": 0}
    native = (await http.post("/completion", json=raw)).json()
    tokens = await count(http, PROMPT)

    assert (chat.object, chat.model, chat.choices[0].finish_reason) == ("chat.completion", "tiny", "length")
    assert chat.choices[0].message.role == "assistant"
    assert chat.choices[0].message.content == native["content"] != ""
    assert chat.usage
    assert (chat.usage.prompt_tokens, chat.usage.completion_tokens, chat.usage.total_tokens) == (tokens, 8, tokens + 8)
    assert chat.choices[0].logprobs is None
    assert (chat.model_extra or {})["timings"]["predicted_n"] == 8


async def test_tokens_that_were_evaluated_before_are_counted_as_cached(client: AsyncOpenAI):
    cached: list[int] = []
    for _ in range(2):
        messages: Any = [{"role": "user", "content": "something nobody said before"}]
        chat = await client.chat.completions.create(model="tiny", messages=messages, max_tokens=1)
        assert chat.usage
        assert chat.usage.prompt_tokens_details
        cached.append(chat.usage.prompt_tokens_details.cached_tokens or 0)
        assert cached[-1] <= chat.usage.prompt_tokens

    assert cached[1] > cached[0]


async def test_a_stream_has_the_same_text_in_pieces(client: AsyncOpenAI):
    settings: Any = {"model": "tiny", "messages": HI, "temperature": 0, "max_tokens": 8}
    whole = await client.chat.completions.create(**settings)
    stream = await client.chat.completions.create(**settings, stream=True, stream_options={"include_usage": True})
    parts = [part async for part in stream]

    assert {part.object for part in parts} == {"chat.completion.chunk"}
    assert len({part.id for part in parts}) == 1
    assert parts[0].choices[0].delta.role == "assistant"
    text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
    assert text == whole.choices[0].message.content
    assert parts[-2].choices[0].finish_reason == "length"
    assert parts[-1].choices == []
    assert parts[-1].usage
    assert parts[-1].usage.completion_tokens == 8
    assert all(part.usage is None for part in parts[:-1])
    assert not [part async for part in await client.chat.completions.create(**settings, stream=True) if part.usage]


async def test_a_stream_ends_with_done(http: httpx2.AsyncClient):
    body = {"messages": HI, "max_tokens": 1, "stream": True}
    lines = [line for line in (await http.post("/v1/chat/completions", json=body)).text.split("\n\n") if line]

    assert lines[-1] == "data: [DONE]"
    assert "usage" not in json.loads(lines[-2][6:])


async def test_one_prompt_can_have_several_choices(client: AsyncOpenAI, http: httpx2.AsyncClient):
    settings: Any = {"model": "tiny", "messages": HI, "n": 3, "seed": 7, "max_tokens": 8}
    chat = await client.chat.completions.create(**settings)
    texts = [choice.message.content for choice in chat.choices]
    streamed = ["", "", ""]
    ends: list[str] = []
    stream = await client.chat.completions.create(**settings, stream=True, stream_options={"include_usage": True})
    usages = []
    async for part in stream:
        usages += [part.usage] if part.usage else []
        for choice in part.choices:
            streamed[choice.index] += choice.delta.content or ""
            ends += [choice.finish_reason] if choice.finish_reason else []

    assert [choice.index for choice in chat.choices] == [0, 1, 2]
    assert len(set(texts)) > 1
    assert streamed == texts
    assert ends == ["length"] * 3
    for usage in (chat.usage, *usages):
        assert usage
        assert (usage.prompt_tokens, usage.completion_tokens) == (await count(http, PROMPT), 24)


async def test_a_seed_repeats_and_no_seed_does_not(client: AsyncOpenAI):
    async def complete_text(**more: Any) -> str:
        done = await client.completions.create(model="tiny", prompt="def f", max_tokens=24, **more)
        return done.choices[0].text

    assert await complete_text(seed=5) == await complete_text(seed=5)
    assert await complete_text() != await complete_text()
    assert await complete_text(temperature=0) == await complete_text(temperature=0)
    assert await complete_text(top_p=0.0001, seed=1) == await complete_text(top_p=0.0001, seed=2)


async def test_a_stop_string_ends_the_answer_before_itself(client: AsyncOpenAI):
    settings: Any = {"model": "tiny", "prompt": "def f", "temperature": 0, "max_tokens": 40}
    text = (await client.completions.create(**settings)).choices[0].text
    word = next(text[at : at + 2] for at in range(4, len(text)) if text[at : at + 2].isascii())

    for stop in (word, [word, "never that"]):
        choice = (await client.completions.create(**settings, stop=stop)).choices[0]
        assert (choice.text, choice.finish_reason) == (text[: text.index(word)], "stop")


async def test_the_number_of_tokens_of_an_answer_is_limited(client: AsyncOpenAI, http: httpx2.AsyncClient):
    async def generated(**more: Any) -> int:
        done = await client.chat.completions.create(model="tiny", messages=HI, temperature=0, **more)
        assert done.usage
        return done.usage.completion_tokens

    assert await generated(max_completion_tokens=3, max_tokens=5) == 3
    assert await generated(max_tokens=5) == 5
    assert await generated() == 1024
    # a limit is a limit, not an order: what fits is made
    assert await generated(max_tokens=10**6) == N_CTX - await count(http, PROMPT)
    text = await client.completions.create(model="tiny", prompt="def f")
    assert text.usage
    assert text.usage.completion_tokens == 16


async def test_a_conversation_can_have_log_probabilities(client: AsyncOpenAI):
    settings: Any = {"model": "tiny", "messages": HI, "temperature": 0, "max_tokens": 4, "logprobs": True}
    chat = await client.chat.completions.create(**settings, top_logprobs=2)
    bare = await client.chat.completions.create(**settings)
    stream = await client.chat.completions.create(**settings, top_logprobs=2, stream=True)
    parts = [part.choices[0].logprobs async for part in stream]

    assert chat.choices[0].logprobs
    assert bare.choices[0].logprobs
    items, plain = chat.choices[0].logprobs.content, bare.choices[0].logprobs.content
    assert items
    assert plain
    assert "".join(item.token for item in items) == chat.choices[0].message.content
    for item in items:
        assert item.bytes == list(item.token.encode())
        assert [len(item.top_logprobs), item.top_logprobs[0].token] == [2, item.token]
        assert item.top_logprobs[1].logprob <= item.logprob <= 0
    assert [(item.token, item.top_logprobs) for item in plain] == [(item.token, []) for item in items]
    assert [item for part in parts if part for item in part.content or []] == items


async def test_a_text_can_have_log_probabilities(client: AsyncOpenAI):
    settings: Any = {"model": "tiny", "prompt": "def f", "temperature": 0, "max_tokens": 4, "logprobs": 2}
    done = await client.completions.create(**settings)
    stream = await client.completions.create(**settings, stream=True)
    offsets = [offset async for part in stream for offset in getattr(part.choices[0].logprobs, "text_offset", [])]

    logprobs = done.choices[0].logprobs
    assert logprobs
    assert logprobs.tokens
    assert "".join(logprobs.tokens) == done.choices[0].text
    assert logprobs.text_offset == offsets
    assert [done.choices[0].text[at:].startswith(t) for at, t in zip(offsets, logprobs.tokens, strict=True)] == [
        True
    ] * 4
    assert [len(top) for top in logprobs.top_logprobs or []] == [2] * 4
    assert logprobs.token_logprobs == [
        top[token] for top, token in zip(logprobs.top_logprobs or [], logprobs.tokens, strict=True)
    ]


async def test_an_answer_follows_the_requested_format(client: AsyncOpenAI):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    of_schema: Any = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema, "strict": True}}

    async def answers(**more: Any) -> list[Any]:
        chat = await client.chat.completions.create(model="tiny", messages=HI, n=4, max_tokens=300, seed=3, **more)
        assert {choice.finish_reason for choice in chat.choices} == {"stop"}
        return [json.loads(choice.message.content or "") for choice in chat.choices]

    for verdict in await answers(response_format=of_schema) + await answers(extra_body={"json_schema": schema}):
        assert list(verdict) == ["ok"]
        assert isinstance(verdict["ok"], bool)
    assert set(await answers(extra_body={"grammar": 'root ::= "1" | "2"'})) <= {1, 2}
    small: Any = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer", "maximum": 3}}}
    assert max(await answers(response_format=small)) <= 3
    text: Any = {"type": "text"}
    plain = await client.chat.completions.create(model="tiny", messages=HI, max_tokens=4, response_format=text)
    assert plain.choices[0].finish_reason == "length"


async def test_a_json_object_begins_as_one(client: AsyncOpenAI):
    chat = await client.chat.completions.create(
        model="tiny", messages=HI, max_tokens=4, response_format={"type": "json_object"}
    )

    assert (chat.choices[0].message.content or "").startswith("{")


async def test_messages_in_parts_and_roles_by_other_names(client: AsyncOpenAI):
    parts: Any = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]},
    ]
    plain: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    chats = [
        await client.chat.completions.create(model="tiny", messages=messages, temperature=0, max_tokens=8)
        for messages in (parts, plain)
    ]

    assert chats[0].choices[0].message.content == chats[1].choices[0].message.content
    assert len({chat.usage.prompt_tokens for chat in chats if chat.usage}) == 1


async def test_a_prompt_can_be_text_tokens_or_a_list(client: AsyncOpenAI, http: httpx2.AsyncClient):
    settings: Any = {"model": "tiny", "temperature": 0, "max_tokens": 6}
    tokens = (await http.post("/tokenize", json={"content": "def f"})).json()["tokens"]
    alone = (await client.completions.create(prompt="def f", **settings)).choices[0].text
    other = (await client.completions.create(prompt="the value", **settings)).choices[0].text

    assert (await client.completions.create(prompt=tokens, **settings)).choices[0].text == alone
    assert (await client.completions.create(prompt=[tokens], **settings)).choices[0].text == alone
    both = await client.completions.create(prompt=["def f", "the value"], n=2, **settings)
    assert [(choice.index, choice.text) for choice in both.choices] == list(enumerate([alone, alone, other, other]))
    assert both.usage
    assert both.usage.completion_tokens == 24
    assert both.usage.prompt_tokens == len(tokens) + await count(http, "the value")
    stream = await client.completions.create(
        prompt=["def f", "the value"], stream=True, stream_options={"include_usage": True}, **settings
    )
    texts, usage = ["", ""], None
    async for part in stream:
        usage = part.usage or usage
        for choice in part.choices:
            texts[choice.index] += choice.text
    assert texts == [alone, other]
    assert usage
    assert usage.completion_tokens == 12


async def test_a_suffix_makes_a_completion_an_infill(client: AsyncOpenAI, http: httpx2.AsyncClient):
    done = await client.completions.create(
        model="tiny", prompt="def f():\n", suffix="\nprint(f())", temperature=0, max_tokens=8
    )
    body = {"input_prefix": "def f():\n", "input_suffix": "\nprint(f())", "heal": True, "n_predict": 8}

    assert done.choices[0].text == (await http.post("/infill", json=body)).json()["content"] != ""
    assert done.usage
    assert done.usage.completion_tokens == 8
    # what healing spells was there already
    word = await client.completions.create(
        model="tiny", prompt="def f():\n    retur", suffix="\nprint(f())", temperature=0, max_tokens=8
    )
    assert word.usage
    assert word.usage.completion_tokens == 8


async def test_the_token_limit_of_an_infill_is_lowered_to_the_free_context(client: AsyncOpenAI):
    values = {"model": "tiny", "prompt": "def f():\n    retur", "suffix": "\nprint(f())", "max_tokens": 10**6}
    for n in (1, 4):
        async with await client.completions.create(**values, n=n, stream=True) as chunks:
            assert (await anext(aiter(chunks))).choices


async def test_the_user_of_a_request_is_its_client(client: AsyncOpenAI, http: httpx2.AsyncClient):
    await client.completions.create(model="tiny", prompt="whose is this text", max_tokens=1, user="somebody")

    assert "somebody" in [row["client"] for row in (await http.get("/props")).json()["residents"]]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("chat/completions", {}, "`messages` must be a list"),
        ("chat/completions", {"messages": []}, "`messages` must be a list"),
        ("chat/completions", {"messages": ["Hi"]}, "a message must have a `role`"),
        ("chat/completions", {"messages": [{"role": "assistant", "content": None}]}, "tool calls are not supported"),
        ("chat/completions", {"messages": [{"role": "tool", "content": "1"}]}, "the role 'tool' is not known here"),
        (
            "chat/completions",
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "reads text only; leave the 'image_url' part of the message out",
        ),
        ("chat/completions", {"messages": [{"role": "user", "content": ["a"]}]}, "a part of a message"),
        ("chat/completions", {"messages": HI, "tools": [{}]}, "`tools` are not supported"),
        ("chat/completions", {"messages": HI, "n": 0}, "`n` must be between 1 and 16"),
        ("chat/completions", {"messages": HI, "n": 17}, "`n` must be between 1 and 16"),
        ("chat/completions", {"messages": HI, "max_tokens": -1}, "`max_tokens` must be between 0"),
        ("chat/completions", {"messages": HI, "max_completion_tokens": "a"}, "`max_completion_tokens`"),
        ("chat/completions", {"messages": HI, "temperature": "hot"}, "`temperature`"),
        ("chat/completions", {"messages": HI, "stop": [1]}, "`stop`"),
        ("chat/completions", {"messages": HI, "user": 1}, "`user`"),
        ("chat/completions", {"messages": HI, "priority": "high"}, "`priority`"),
        ("chat/completions", {"messages": HI, "logprobs": 2}, "`logprobs` must be true or false"),
        ("chat/completions", {"messages": HI, "top_logprobs": 2}, "true with `top_logprobs`"),
        ("chat/completions", {"messages": HI, "logprobs": True, "top_logprobs": 21}, "`top_logprobs`"),
        ("chat/completions", {"messages": HI, "logit_bias": {"1": 5}}, "`logit_bias` is not supported here"),
        ("chat/completions", {"messages": HI, "presence_penalty": 0.5}, "`presence_penalty`"),
        ("chat/completions", {"messages": HI, "response_format": "json"}, "`response_format` must be"),
        ("chat/completions", {"messages": HI, "response_format": {"type": "json_schema"}}, "`response_format` must be"),
        (
            "chat/completions",
            {
                "messages": HI,
                "response_format": {"type": "json_schema", "json_schema": {"schema": {"pattern": "a"}}},
            },
            "`pattern` in a JSON schema cannot be turned into a grammar",
        ),
        (
            "chat/completions",
            {"messages": HI, "grammar": "root ::= [a]", "response_format": {"type": "json_object"}},
            "`grammar` and `response_format` cannot be combined",
        ),
        ("chat/completions", {"messages": HI, "grammar": 5}, "`grammar`"),
        (
            "chat/completions",
            {"messages": [{"role": "user", "content": "a " * N_CTX}]},
            f"leave no room for an answer in the {N_CTX} tokens",
        ),
        ("completions", {}, "`prompt` must be a text"),
        ("completions", {"prompt": []}, "`prompt` is empty"),
        ("completions", {"prompt": ""}, "the prompt is empty"),
        ("completions", {"prompt": ["a", 1]}, "`prompt` must be a text"),
        ("completions", {"prompt": [[1], ["a"]]}, "`prompt` must be a text"),
        ("completions", {"prompt": ["a", [10**9]]}, "token 1000000000"),
        ("completions", {"prompt": "a", "suffix": 5}, "`suffix` and `prompt` must both be texts"),
        ("completions", {"prompt": [1], "suffix": "b"}, "`suffix` and `prompt` must both be texts"),
        ("completions", {"prompt": "a", "logprobs": True}, "`logprobs`"),
        ("completions", {"prompt": "a", "echo": True}, "`echo`"),
        ("completions", {"prompt": "a", "best_of": 3}, "`best_of`"),
    ],
)
async def test_a_wrong_request_is_a_bad_request(client: AsyncOpenAI, path: str, body: dict[str, Any], message: str):
    with pytest.raises(openai.BadRequestError) as refused:
        await client.post(f"/{path}", body=body, cast_to=object)

    error: Any = refused.value.body
    assert message in error["message"]
    assert (error["type"], refused.value.status_code) == ("invalid_request_error", 400)


@pytest.mark.parametrize(
    "more",
    [
        {"store": True, "metadata": {"a": "b"}, "service_tier": "auto", "unheard_of": [1]},
        {"tools": [], "logit_bias": {}, "presence_penalty": 0, "stop": None, "seed": None, "temperature": None},
        {"tools": [{"type": "function"}], "tool_choice": "none", "best_of": 1, "stream_options": None},
    ],
)
async def test_fields_without_an_effect_are_ignored(http: httpx2.AsyncClient, more: dict[str, Any]):
    body = {"model": "gpt-4", "messages": HI, "max_tokens": 1} | more

    assert (await http.post("/v1/chat/completions", json=body)).status_code == 200
