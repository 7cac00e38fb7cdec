"""Tests of the backend for OpenAI. vLLM is tested with recorded requests: `vllm.json` says how they were made."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config, Generation
from lsp_harness.errors import ConfigError, EngineError, EngineRefused
from lsp_harness.inference.backends import openai
from lsp_harness.inference.backends.backend import NO_INFILL_KEY, EstimatedCount
from lsp_harness.inference.backends.endpoint import Endpoint, SilenceLimits
from lsp_harness.inference.backends.model_family import FAMILIES, find_family
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.models.gguf import FIM_TEXTS
from lsp_harness.inference.request import (
    ChatRequest,
    Continuation,
    Infill,
    InfillContext,
    Sampling,
    TokenLogprob,
    Usage,
)
from lsp_harness.inference.target import Target
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.text.edit import apply
from lsp_harness.text.position import decode
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from tests.inference.backends.test_remote import answer, join_chunks, open_client
from tests.support import markup
from tests.support.server import FakeServer, Reply, open_server

REWRITTEN = "```python\ndef area(radius):\n    return 3 * radius\n```"
CONTRACT = json.loads(Path(__file__).with_name("vllm.json").read_text())["exchanges"]


def make_chunk(pieces: str = "", finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": more.pop("index", 0), "text": pieces, "finish_reason": finish, **more}]}


def make_usage(prompt: int, generated: int, **more: Any) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": generated, **more}}


@asynccontextmanager
async def open_vllm() -> AsyncIterator[tuple[EngineClient, FakeServer]]:
    """Yield a client and a server that answers only the recorded requests of vLLM."""
    server = FakeServer()

    def recorded(method: str, path: str):
        def reply(body: Any) -> Reply:
            for exchange in CONTRACT:
                if exchange["request"] == {"method": method, "path": path, "body": body}:
                    return Reply(**exchange["response"])
            return Reply(status=400, json={"error": {"message": f"not recorded: {path} {json.dumps(body)}"}})

        return reply

    for exchange in CONTRACT:
        key = exchange["request"]["method"], exchange["request"]["path"]
        server.on[key] = recorded(*key)
    async with open_server(server), open_client(server.url) as engine_client:
        yield engine_client, server


@asynccontextmanager
async def serve_replies(
    *events: Any, model: str = "some", **settings: Any
) -> AsyncIterator[tuple[EngineClient, FakeServer]]:
    """Yield a client and a compatible server that is not vLLM and always gives the same answer."""
    server = FakeServer()
    server.on["GET", "/v1/models"] = Reply(json={"data": [{"id": model, "owned_by": "somebody"}]})
    server.on["POST", "/v1/completions"] = server.on["POST", "/v1/chat/completions"] = Reply(events)
    async with open_server(server), open_client(server.url, **settings) as engine_client:
        yield engine_client, server


# -- vLLM, as recorded
async def test_vllm_is_recognised():
    async with open_vllm() as (engine_client, _):
        props = await engine_client.props()
        features = props.features

    assert (props.model, props.n_ctx) == ("Qwen/Qwen2.5-Coder-7B-Instruct", 32768)
    assert props.raw == {"server": "vLLM 0.14.0", "token_counts": "exact"}
    assert features["infill"] == "by the tokens of qwen2.5-coder"
    assert (features["grammar"], features["tokenize"], features["persist"]) == (True, True, False)


async def test_vllm_answers_an_infill_request():
    context = InfillContext("def f(a, b):\n    c = ", "\n    return c\n", (("a.py", "# a.py\n"),))
    async with open_vllm() as (engine_client, _):
        chunks = await answer(engine_client, Infill(context, sampling=Sampling(n_predict=16, stop=("\n",))))

    assert join_chunks(chunks) == "a + b"
    assert (chunks[-1].stop, chunks[-1].usage) == ("word", Usage(evaluated=9, reused=32, generated=4))


async def test_vllm_gives_candidates():
    async with open_vllm() as (engine_client, _):
        chunks = await answer(engine_client, Continuation("x =", Sampling(n_predict=2, n=2, temperature=0.6, seed=7)))

    texts = ["".join(c.text for c in chunks if c.index == index) for index in (0, 1)]
    assert texts == [" 2", " 13"]
    assert [(c.index, c.stop, c.usage.generated) for c in chunks if c.stop] == [(1, "limit", 0), (0, "eos", 3)]


async def test_vllm_keeps_to_a_grammar():
    continuation = Continuation("yes or no? ", Sampling(n_predict=4, grammar='root ::= "yes" | "no"'))
    async with open_vllm() as (engine_client, _):
        assert join_chunks(await answer(engine_client, continuation)) == "yes"


async def test_vllm_tells_log_probabilities():
    async with open_vllm() as (engine_client, _):
        first, _ = await answer(engine_client, Continuation("a", Sampling(n_predict=1, top_logprobs=2)))

    assert first.logprobs == (TokenLogprob("b", -0.25, (("b", -0.25), ("c", -1.5))),)


async def test_vllm_warms_a_prompt_with_one_hidden_token():
    async with open_vllm() as (engine_client, _):
        [only] = await answer(engine_client, Continuation("import os\n", Sampling(n_predict=0)))

    assert (only.text, only.stop, only.usage.evaluated) == ("", "limit", 3)


async def test_vllm_formats_a_conversation_with_its_own_template():
    async with open_vllm() as (engine_client, _):
        messages = [("system", "Be brief."), ("user", "Hi")]
        chunks = await answer(engine_client, ChatRequest(messages, Sampling(n_predict=8)))

    assert (join_chunks(chunks), chunks[-1].usage.reused) == ("Hello", 16)


async def test_vllm_counts_tokens_exactly_and_embeds():
    async with open_vllm() as (engine_client, _):
        [counted, nothing] = await engine_client.count(["def f():", ""])
        vectors = await engine_client.embed(["a", "b"])

    assert (counted, nothing) == (3, 0)
    assert not isinstance(counted, EstimatedCount)
    assert vectors == [[1.0, 0.0], [0.0, 1.0]]


async def test_vllm_refuses_a_prompt_that_is_too_long():
    async with open_vllm() as (engine_client, _):
        with pytest.raises(EngineRefused, match="maximum context length"):
            await answer(engine_client, Continuation("long", Sampling(n_predict=99999)))


@pytest.mark.parametrize(("version", "field"), [("0.10.2", "guided_grammar"), ("0.12.0", "structured_outputs")])
async def test_the_field_of_a_grammar_depends_on_the_version_of_vllm(version: str, field: str):
    async with serve_replies(make_chunk("a", "stop"), "[DONE]") as (engine_client, server):
        server.on["GET", "/v1/models"] = Reply(json={"data": [{"id": "m", "owned_by": "vllm"}]})
        server.on["GET", "/version"] = Reply(json={"version": version})
        await answer(engine_client, Continuation("a", Sampling(grammar="root ::= [a]")))

    [body] = server.bodies("/v1/completions")
    assert [name for name in ("guided_grammar", "structured_outputs") if name in body] == [field]


# -- services that lack more
async def test_a_service_gets_only_the_standard_fields():
    async with serve_replies(make_chunk("a"), make_chunk(finish="length"), make_usage(5, 1), "[DONE]") as (
        engine_client,
        server,
    ):
        sampling = Sampling(n_predict=1, grammar="root ::= [a]", stop=tuple("abcdef"))
        chunks = await answer(engine_client, Continuation("x", sampling))
        features = (await engine_client.props()).features

    assert (join_chunks(chunks), chunks[-1].stop, chunks[-1].usage) == ("a", "limit", Usage(evaluated=5, generated=1))
    [body] = server.bodies("/v1/completions")
    result = "model prompt temperature top_p seed n stop stream stream_options max_tokens"
    assert sorted(body) == sorted(result.split())
    assert body["stop"] == list("abcd")
    assert (features["grammar"], features["warm"]) == (False, False)


async def test_a_service_is_not_paid_to_warm():
    async with serve_replies() as (engine_client, server):
        [only] = await answer(engine_client, Continuation("x", Sampling(n_predict=0)))

    assert (only.text, only.stop) == ("", "limit")
    assert not server.bodies("/v1/completions")


async def test_a_stream_without_its_last_line_is_complete_if_every_candidate_is():
    async with serve_replies(make_chunk("a", "stop")) as (engine_client, _):
        assert [c.stop for c in await answer(engine_client)] == [None, "eos"]


async def test_a_service_may_give_fewer_candidates_than_asked():
    async with serve_replies(make_chunk("a", "stop"), make_usage(1, 1), "[DONE]") as (engine_client, _):
        chunks = await answer(engine_client, Continuation("x", Sampling(n=2)))

    assert [(c.index, c.stop) for c in chunks] == [(0, None), (0, "eos")]


async def test_a_stream_that_ends_early_is_an_error():
    async with serve_replies(make_chunk("a")) as (engine_client, _):
        with pytest.raises(EngineError, match="before the answer was complete"):
            await answer(engine_client)


async def test_a_deadline_ends_the_connection(monkeypatch: pytest.MonkeyPatch):
    ticks = count(step=0.6)
    monkeypatch.setattr(openai, "monotonic", lambda: next(ticks))
    pieces = ["a\n", "b", "c", "d\n", "e"]
    async with serve_replies(*[make_chunk(piece) for piece in pieces], asyncio.Event()) as (engine_client, server):
        chunks = await answer(engine_client, Continuation("x", Sampling(t_max_predict_ms=1000)))
        await server.left.wait()

    assert (join_chunks(chunks), chunks[-1].stop) == ("a\nbcd\n", "deadline")


async def test_each_candidate_ends_with_its_own_last_line(monkeypatch: pytest.MonkeyPatch):
    ticks = count(step=2.0)
    monkeypatch.setattr(openai, "monotonic", lambda: next(ticks))
    pieces = [
        make_chunk("a"),
        make_chunk("b", index=1),
        make_chunk("c\n", index=1),
        make_chunk("d", index=1),
        make_chunk("e\n"),
        make_chunk("f"),
    ]
    async with serve_replies(*pieces, asyncio.Event()) as (engine_client, server):
        chunks = await answer(engine_client, Continuation("x", Sampling(n=2, t_max_predict_ms=1000)))
        await server.left.wait()

    assert [join_chunks([c for c in chunks if c.index == index]) for index in (0, 1)] == ["ae\n", "bc\n"]
    assert [c.stop for c in chunks if c.stop] == ["deadline", "deadline"]


async def test_an_end_after_the_deadline_is_reported(monkeypatch: pytest.MonkeyPatch):
    ticks = count(step=2.0)
    monkeypatch.setattr(openai, "monotonic", lambda: next(ticks))
    async with serve_replies(make_chunk("a"), make_chunk("b\n", "length"), "[DONE]") as (engine_client, _):
        chunks = await answer(engine_client, Continuation("x", Sampling(t_max_predict_ms=1000)))

    assert [(c.text, c.stop) for c in chunks] == [("a", None), ("b\n", None), ("", "limit")]


async def test_a_server_with_a_suffix_parameter_gets_the_suffix():
    async with serve_replies(make_chunk("a", "stop"), "[DONE]", fim="suffix") as (engine_client, server):
        await answer(engine_client, Infill(InfillContext("p", "s", (("x.py", "# x\n"),))))
        features = (await engine_client.props()).features

    [body] = server.bodies("/v1/completions")
    assert (body["prompt"], body["suffix"]) == ("# x\np", "s")
    assert features["infill"] == "by the `suffix` parameter"


async def test_a_model_of_no_known_family_cannot_fill():
    async with serve_replies() as (engine_client, _):
        with pytest.raises(
            EngineRefused, match=r"the fill-in-the-middle format of some is not known; set engine\.fim to qwen2.5-c"
        ):
            await answer(engine_client, Infill(InfillContext("p", "s")))
        assert (await engine_client.props()).features["infill"] is False
        reason = (await engine_client.props()).raw[NO_INFILL_KEY]

    assert reason.startswith("the fill-in-the-middle format of some is not known")


async def test_a_server_without_infill_refuses_it():
    async with serve_replies(model="qwen2.5-coder", fim="none") as (engine_client, _):
        assert (await engine_client.props()).raw[
            NO_INFILL_KEY
        ] == "qwen2.5-coder gets no fill-in-the-middle prompts, because engine.fim is none"
    async with serve_replies(model="qwen2.5-coder") as (engine_client, _):
        assert NO_INFILL_KEY not in (await engine_client.props()).raw


@pytest.mark.process
async def test_a_model_without_fill_in_the_middle_rewrites_the_function(tmp_path: Path):
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    source = "def area(radius):\n    return 3 * raduis\n    #          ^^^^^^ F821 what is this\n"
    src = markup.parse(source, tmp_path / "a.py")
    event = {"choices": [{"index": 0, "delta": {"content": REWRITTEN}, "finish_reason": "stop"}]}
    async with serve_replies(event, "[DONE]") as (engine_client, server):
        with closing(SessionLog(tmp_path / "sessions")) as log:
            job = TurnContext(
                engine=engine_client,
                config=Config(generation=Generation(repairs=False)),
                tools=CheckTools(Ruff()),
                turn=log.turn(),
                document=src.document,
                file=tmp_path / "a.py",
                root=tmp_path,
                path="a.py",
                report=lambda _: None,
            )
            proposal = await run_edit_task(Fix(job, src.finding))

    assert decode(apply(src.document.data, proposal.edits)) == "def area(radius):\n    return 3 * radius\n"
    assert [result.path for result in server.requests if result.method == "POST"] == ["/v1/chat/completions"]


async def test_a_prompt_of_tokens_is_sent_as_tokens_and_a_mixed_one_is_refused():
    async with serve_replies(make_chunk("a", "stop"), "[DONE]") as (engine_client, server):
        await answer(engine_client, Continuation((1, 2)))
        await answer(engine_client, Continuation(("a", "b")))
        with pytest.raises(EngineRefused, match="mixture"):
            await answer(engine_client, Continuation(("a", 1)))

    assert [body["prompt"] for body in server.bodies("/v1/completions")] == [[1, 2], "ab"]


async def test_a_conversation_has_log_probabilities():
    row = {"token": "a", "logprob": -1.0, "top_logprobs": [{"token": "a", "logprob": -1.0}]}
    event = {
        "choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [row]}, "finish_reason": "stop"}]
    }
    async with serve_replies(event, "[DONE]") as (engine_client, server):
        chat_request = ChatRequest([("user", "x")], Sampling(top_logprobs=1))
        first, *_ = await answer(engine_client, chat_request)

    assert first.logprobs == (TokenLogprob("a", -1.0, (("a", -1.0),)),)
    [body] = server.bodies("/v1/chat/completions")
    assert (body["logprobs"], body["top_logprobs"]) == (True, 1)


async def test_confidence_is_asked_of_vllm_only():
    """Other servers may refuse fields that they do not know."""
    continuation = Continuation("a", Sampling(n_predict=1, confidence=True))
    async with serve_replies(make_chunk("a", "stop"), "[DONE]") as (engine_client, server):
        await answer(engine_client, continuation)
    backend = openai.OpenAI(Endpoint(Target(base="http://m", model="m"), SilenceLimits()), "m", vllm="0.11.0")

    [body] = server.bodies("/v1/completions")
    assert "logprobs" not in body
    assert (await backend.build_exchange(continuation)).body["logprobs"] == 0


# -- families
def test_families_use_the_same_marks_as_llama_cpp():
    for family in FAMILIES:
        roles = {"prefix": family.prefix, "suffix": family.suffix, "middle": family.middle}
        assert len({FIM_TEXTS[role].index(text) for role, text in roles.items()}) == 1


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2.5-coder"),
        ("qwen2.5-coder:7b", "qwen2.5-coder"),
        ("Qwen3-Coder-30B-A3B", "qwen3-coder"),
        ("bigcode/starcoder2-7b", "starcoder"),
        ("deepseek-ai/deepseek-coder-6.7b-base", "deepseek-coder"),
        ("ibm-granite/granite-8b-code-base", "granite"),
        ("google/codegemma-2b", "codegemma"),
    ],
)
def test_a_family_is_known_by_the_name_of_the_model(model: str, family: str):
    result = find_family("auto", model)

    assert result
    assert result.name == family


def test_an_unmeasured_family_has_the_usual_order():
    result = find_family("starcoder", "")

    assert result
    assert result.prompt(InfillContext("a", "b")) == "<fim_prefix>a<fim_suffix>b<fim_middle>"


def test_an_unknown_family_is_refused():
    with pytest.raises(
        ConfigError, match=r"engine.fim must be auto or qwen2.5-coder, .*, suffix or none, not 'klingon'"
    ):
        find_family("klingon", "m")


@pytest.mark.parametrize(
    ("model", "completes"), [("gpt-3.5-turbo-instruct", True), ("davinci-002", True), ("gpt-4o", False)]
)
def test_only_some_models_of_openai_can_complete_code(model: str, completes: bool):
    if completes:
        assert find_family("auto", model) is None
    else:
        with pytest.raises(EngineRefused):
            find_family("auto", model)
