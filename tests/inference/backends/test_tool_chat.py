"""Conversations with tools in the formats of OpenAI and Anthropic, with servers that answer as the documentation says.

The real services were never called.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lsp_harness.errors import EngineError, EngineFailed, EngineRefused, ToolsRefused
from lsp_harness.inference.backends import fleet
from lsp_harness.inference.backends.chat_tools import CallAssembly, ToolWire, is_strict
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import (
    ChatMessage,
    Chunk,
    PastCall,
    Sampling,
    ToolChat,
    ToolSpec,
    Usage,
    WrittenCall,
)
from tests.inference.backends.test_remote import answer, join_chunks, make_llama_server, open_client
from tests.support.provider_replies import FORMATS, MODEL, PATHS, Format, ScriptedAnswer, serve_answers
from tests.support.server import FakeServer, Reply, open_server

PATH_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (ToolSpec("read", "Read a file.", PATH_SCHEMA), ToolSpec("list.all", "List files.", {}))
HISTORY = (
    ChatMessage("system", "Be brief."),
    ChatMessage("user", "Look."),
    ChatMessage("assistant", "I look.", (PastCall("1", "read", {"path": "ä.py"}), PastCall("2", "list.all", {}))),
    ChatMessage("tool", "text", call_id="1"),
    ChatMessage("tool", "Error: none", call_id="2", is_error=True),
    ChatMessage("user", "Go on."),
)
ANSWER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
BUSY = Reply(json={"error": {"type": "rate_limit_error", "message": "slow down"}}, status=429)


@asynccontextmanager
async def serve_and_connect(
    form: Format, *replies: ScriptedAnswer | Reply
) -> AsyncIterator[tuple[EngineClient, FakeServer]]:
    async with (
        open_server(serve_answers(form, *replies)) as server,
        open_client(server.url, model=MODEL, dialect=form) as engine_client,
    ):
        yield engine_client, server


def make_chat(**fields: Any) -> ToolChat:
    return ToolChat(HISTORY, TOOLS, sampling=Sampling(n_predict=8), **fields)


def calls_of(chunks: list[Chunk]) -> tuple[WrittenCall, ...]:
    return chunks[-1].calls


async def test_openai_gets_tools_calls_and_results():
    async with serve_and_connect("openai", ScriptedAnswer(["Done."])) as (engine_client, server):
        await answer(engine_client, make_chat())
    [body] = server.bodies(PATHS["openai"])
    read = {"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"path": "ä.py"}'}}
    listed = {"id": "2", "type": "function", "function": {"name": "list_all", "arguments": "{}"}}
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "I look.", "tool_calls": [read, listed]},
        {"role": "tool", "tool_call_id": "1", "content": "text"},
        {"role": "tool", "tool_call_id": "2", "content": "Error: none"},
        {"role": "user", "content": "Go on."},
    ]
    assert body["tools"] == [
        {"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": PATH_SCHEMA}},
        {
            "type": "function",
            "function": {
                "name": "list_all",
                "description": "List files.",
                "parameters": {"type": "object", "properties": {}},
            },
        },
    ]
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (8, 0.0, True)
    assert not body.keys() & {"tool_choice", "response_format"}


async def test_anthropic_gets_tools_calls_results_and_marks_for_its_cache():
    async with serve_and_connect("anthropic", ScriptedAnswer(["Done."])) as (engine_client, server):
        await answer(engine_client, make_chat())
    [body] = server.bodies(PATHS["anthropic"])
    cached = {"cache_control": {"type": "ephemeral"}}
    assert body["system"] == [{"type": "text", "text": "Be brief.", **cached}]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "1", "name": "read", "input": {"path": "ä.py"}},
                {"type": "tool_use", "id": "2", "name": "list_all", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "text"},
                {"type": "tool_result", "tool_use_id": "2", "content": "Error: none", "is_error": True},
                {"type": "text", "text": "Go on.", **cached},
            ],
        },
    ]
    assert body["tools"] == [
        {"name": "read", "description": "Read a file.", "input_schema": PATH_SCHEMA},
        {"name": "list_all", "description": "List files.", "input_schema": {"type": "object", "properties": {}}},
    ]
    assert "tool_choice" not in body


@pytest.mark.parametrize("form", FORMATS)
async def test_pieces_of_parallel_calls_are_joined(form: Format):
    said = ScriptedAnswer(["I ", "look."], [("read", ['{"pa', 'th": "a', '.py"}']), ("list_all", [])], thinking="hm")
    async with serve_and_connect(form, said) as (engine_client, _):
        chunks = await answer(engine_client, make_chat())
    assert join_chunks(chunks) == "I look."
    assert "".join(chunk.thinking for chunk in chunks) == "hm"
    assert calls_of(chunks) == (WrittenCall("read", '{"path": "a.py"}'), WrittenCall("list.all", ""))
    assert (chunks[-1].stop, chunks[-1].usage) == ("tool_calls", Usage(evaluated=7, reused=30, generated=4))


@pytest.mark.parametrize(
    ("form", "reason", "stop"),
    [
        ("openai", "length", "limit"),
        ("openai", "stop", "eos"),
        ("anthropic", "max_tokens", "limit"),
        ("anthropic", "end_turn", "eos"),
        ("anthropic", "stop_sequence", "word"),
    ],
)
async def test_the_reason_why_an_answer_ended_is_translated(form: Format, reason: str, stop: str):
    async with serve_and_connect(form, ScriptedAnswer(["a"], stop=reason)) as (engine_client, _):
        assert (await answer(engine_client, make_chat()))[-1].stop == stop


async def test_calls_that_end_like_a_text_are_calls():
    async with serve_and_connect("openai", ScriptedAnswer(calls=[("read", ["{}"])], stop="stop")) as (engine_client, _):
        chunks = await answer(engine_client, make_chat())
    assert chunks[-1].stop == "tool_calls"


@pytest.mark.parametrize(
    ("form", "reason", "message"),
    [("openai", "content_filter", "withheld the answer"), ("anthropic", "refusal", "refused to answer")],
)
async def test_a_refused_answer_is_no_refusal_of_tools(form: Format, reason: str, message: str):
    async with serve_and_connect(form, ScriptedAnswer([], stop=reason)) as (engine_client, _):
        with pytest.raises(EngineRefused, match=message) as refused:
            await answer(engine_client, make_chat())
    assert not isinstance(refused.value, ToolsRefused)


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([(0, "a", "read", "{}"), (0, "b", "read", '{"path": "x"}')], ["{}", '{"path": "x"}']),
        ([(None, "", "read", "{}"), (None, "", "read", "{}")], ["{}", "{}"]),
        ([(None, "a", "read", '{"p'), (None, "a", "", 'ath": "x"}')], ['{"path": "x"}']),
        ([(0, "a", "read", {"path": "x"})], ['{"path": "x"}']),
        ([(0, "a", "read", ""), (0, "a", "read", "{}")], ["{}"]),
    ],
    ids=["one index for all", "neither index nor id", "no index", "arguments as an object", "the name again"],
)
def test_calls_are_assembled_with_any_numbers_of_a_service(pieces: list[Any], calls: list[str]):
    assembly = CallAssembly(ToolWire(make_chat()))
    for piece in pieces:
        assembly.add(*piece)
    assert assembly.calls == tuple(WrittenCall("read", arguments) for arguments in calls)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("wait", ["0", "2"])
async def test_a_busy_service_is_asked_again_after_its_delay(form: Format, wait: str, monkeypatch: pytest.MonkeyPatch):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(fleet, "FIRST_RETRY_WAIT_S", 0.0)
    busy = Reply(json=BUSY.json, status=429, headers={"Retry-After": wait})
    async with serve_and_connect(form, busy, ScriptedAnswer(["b"])) as (engine_client, server):
        supply: Any = engine_client._supply  # pyright: ignore[reportPrivateUsage]
        supply.sleep = sleep
        assert join_chunks(await answer(engine_client, make_chat())) == "b"
    assert waits == [float(wait)]
    assert len(server.bodies(PATHS[form])) == 2


@pytest.mark.parametrize("form", FORMATS)
async def test_an_error_of_a_service_is_raised(form: Format):
    async with serve_and_connect(form, Reply(json={"error": {"message": "oops"}}, status=500)) as (engine_client, _):
        with pytest.raises(EngineFailed, match="oops"):
            await answer(engine_client, make_chat())


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "some-model does not support tools"),
        (404, "No endpoints found that support tool use."),
        (400, "'response_format.type' must be 'text'"),
        (500, "tools param requires another template"),
    ],
)
async def test_a_refusal_of_tools_is_distinguished_from_other_errors(status: int, message: str):
    other = Reply(json={"error": {"message": "the prompt is too long"}}, status=400)
    async with serve_and_connect("openai", Reply(json={"error": {"message": message}}, status=status), other) as (
        client_,
        _,
    ):
        with pytest.raises(ToolsRefused, match=message[-10:]):
            await answer(client_, make_chat())
        with pytest.raises(EngineError, match="too long") as error:
            await answer(client_, make_chat())
    assert not isinstance(error.value, ToolsRefused)


# -- structured output
async def test_openai_gets_the_schema_beside_the_tools(monkeypatch: pytest.MonkeyPatch):
    async with open_server(
        serve_answers("openai", ScriptedAnswer(['{"n": 1}']), ScriptedAnswer(['{"n": 2}']))
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        async with open_client(model=f"openai/{MODEL}") as engine_client:
            assert join_chunks(await answer(engine_client, make_chat(answer_schema=ANSWER))) == '{"n": 1}'
            await answer(engine_client, make_chat(answer_schema=ANSWER, must_answer=True))
    first, second = server.bodies(PATHS["openai"])
    shape = {"name": "answer", "schema": ANSWER, "strict": True}
    assert first["response_format"] == second["response_format"] == {"type": "json_schema", "json_schema": shape}
    assert first["tools"]
    assert ("tool_choice" in first, second["tool_choice"]) == (False, "none")
    # models that reason refuse settings of sampling, and their reasoning counts
    assert not first.keys() & {"temperature", "top_p", "seed", "stop"}
    assert first["max_completion_tokens"] > 8


async def test_other_services_get_the_schema_without_the_tools():
    """A service that forces the schema on each answer would call no tool."""
    async with serve_and_connect("openai", ScriptedAnswer(["so"]), ScriptedAnswer(['{"n": 1}'])) as (
        engine_client,
        server,
    ):
        await answer(engine_client, make_chat(answer_schema=ANSWER))
        await answer(engine_client, make_chat(answer_schema=ANSWER, must_answer=True))
    first, second = server.bodies(PATHS["openai"])
    assert ("tools" in first, "response_format" in first) == (True, False)
    assert ("tools" in second, "response_format" in second) == (False, True)


async def test_anthropic_gets_the_schema_as_a_tool():
    said = ScriptedAnswer(calls=[("give_answer", ['{"n"', ": 1}"])])
    both = ScriptedAnswer(calls=[("read", ["{}"]), ("give_answer", ['{"n": 1}'])])
    async with serve_and_connect("anthropic", said, both, said) as (engine_client, server):
        chunks = await answer(engine_client, make_chat(answer_schema=ANSWER))
        assert (join_chunks(chunks), chunks[-1].stop, calls_of(chunks)) == ('{"n": 1}', "eos", ())
        chunks = await answer(engine_client, make_chat(answer_schema=ANSWER))
        assert (join_chunks(chunks), calls_of(chunks)) == ("", (WrittenCall("read", "{}"),))
        await answer(engine_client, make_chat(answer_schema=ANSWER, must_answer=True))
    first, _, last = server.bodies(PATHS["anthropic"])
    assert first["tools"][-1]["input_schema"] == ANSWER
    assert first["tool_choice"] == {"type": "any"}
    assert last["tool_choice"] == {"type": "tool", "name": "give_answer"}


@pytest.mark.parametrize("form", FORMATS)
async def test_an_answer_that_is_no_object_is_wrapped_and_unwrapped(form: Format):
    written = ['{"answer"', ": [1, 2]}"]
    said = ScriptedAnswer(written) if form == "openai" else ScriptedAnswer(calls=[("give_answer", written)])
    schema = {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
    async with serve_and_connect(form, said) as (engine_client, server):
        chunks = await answer(engine_client, make_chat(answer_schema=schema, must_answer=True))
    assert json.loads(join_chunks(chunks)) == [1, 2]
    [body] = server.bodies(PATHS[form])
    sent: Mapping[str, Any] = (
        body["response_format"]["json_schema"]["schema"] if form == "openai" else body["tools"][-1]["input_schema"]
    )
    assert (sent["type"], sent["$defs"]) == ("object", {"n": {"type": "integer"}})
    assert sent["properties"] == {"answer": {"type": "array", "items": {"$ref": "#/$defs/n"}}}


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        (ANSWER, True),
        (ANSWER | {"required": []}, False),
        ({"type": "object", "properties": {}}, False),
        (ANSWER | {"properties": {"n": {"type": "array", "items": {"type": "object"}}}}, False),
        (ANSWER | {"properties": {"n": {"anyOf": [ANSWER, {"type": "null"}]}}}, True),
    ],
)
def test_only_closed_schemas_are_strict(schema: Mapping[str, Any], fits: bool):
    assert is_strict(schema) is fits


def test_names_are_cleaned_and_stay_different():
    names = ("a.b", "a/b", "x" * 80, "x" * 90, "give_answer", "")
    wire = ToolWire(ToolChat((), tuple(ToolSpec(name, "", {}) for name in names)))
    sent = [wire.name_of(name) for name in names]
    assert sent[:2] == ["a_b", "a_b_2"]
    assert [wire.tool_of(name) for name in sent] == list(names)
    assert len({*sent, wire.answer_tool}) == len(names) + 1
    assert max(map(len, sent)) == 64
    assert wire.name_of("made up!") == "made_up_"


async def test_servers_with_grammars_refuse_tools():
    async with open_server(make_llama_server()) as server, open_client(server.url) as engine_client:
        features = (await engine_client.props()).features
        with pytest.raises(EngineRefused, match="takes tools as text only"):
            await answer(engine_client, make_chat())
    assert (features["grammar"], features["tools"]) == (True, False)
