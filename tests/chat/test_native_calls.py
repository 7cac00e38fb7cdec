"""Tests of turns with the tool calls of services: requests, runs, records, display and errors."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compaction import OpenGate
from lsp_harness.chat.answer_protocol import ChatSettings
from lsp_harness.chat.chat_driver import ChatDriver
from lsp_harness.chat.chat_model import Model
from lsp_harness.chat.conversation_prompt import build_dialogue
from lsp_harness.chat.tool_execution import ToolExecution
from lsp_harness.config.schema import Config, EngineSettings
from lsp_harness.errors import EngineError, NoAnswer
from lsp_harness.events.event_codec import encode_event
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.model_events import ModelCompleted, ToolCall
from lsp_harness.events.session_events import InvocationReceived, SessionStarted, TurnStopped
from lsp_harness.events.tool_events import ToolCompleted, ToolFailed
from lsp_harness.inference.backends import fleet
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import ChatMessage, PastCall
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.limits import Limits
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.projections.message_history import project_conversation
from lsp_harness.kernel.session import Ingress, Session
from lsp_harness.wire.event import Event
from tests.chat.scripted_tool import ScriptedTool
from tests.inference.backends.test_remote import make_llama_server
from tests.support.provider_replies import FORMATS, MODEL, PATHS, Format, ScriptedAnswer, serve_answers
from tests.support.server import FakeServer, Reply, open_server

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
ANSWER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
READ = ScriptedAnswer(["I look."], [("read", ['{"path"', ': "a"}'])])
DONE = ScriptedAnswer(["Do", "ne."])


class Desk:
    """A session with one tool, whose model is at a server."""

    def __init__(self, folder: Path, server: FakeServer, form: Format, limits: Limits | None = None) -> None:
        self.session = Session(
            SessionStore(folder).create(), SessionStarted("/w", "chat"), limits or Limits(max_steps=9)
        )
        self.server = server
        self.form: Format = form
        self.frames: list[tuple[str, Any]] = []
        self.session.log.listeners.append(self._record_event)
        config = Config(engine=EngineSettings(url=server.url, model=MODEL, dialect=form, retries=1))
        self.engine = EngineClient(config)
        self.models = [Model("m", self.engine)]

    def _record_event(self, event: Event) -> None:
        if event.seq is None:
            self.frames.append((event.type, event.data.get("content")))

    async def run(self, schema: Mapping[str, Any] | None = None) -> TurnStopped:
        """Run one turn."""
        log = self.session.log
        tools = {"read": ScriptedTool("read", SCHEMA, "Read a file.")}
        execution = ToolExecution(tools, OpenGate(), ArtifactStore(log.folder, log.append_to_running))
        driver = ChatDriver(self.models, tools, execution, ChatSettings("You help.", schema))
        return await self.session.submit(Ingress("message", "go on"), driver)

    def events(self, type: str) -> list[dict[str, Any]]:
        return [event.data for event in read_log(self.session.log.path) if event.type == type]

    @property
    def bodies(self) -> list[Any]:
        return self.server.bodies(PATHS[self.form])

    def results(self, number: int) -> list[str]:
        """Return the results of calls in a request."""
        texts: list[str] = []
        for message in self.bodies[number]["messages"]:
            if message["role"] == "tool":
                texts.append(message["content"])
            elif isinstance(message["content"], list):
                texts += [block["content"] for block in message["content"] if block["type"] == "tool_result"]
        return texts

    @property
    def shown_text(self) -> str:
        """Return the text that a person saw."""
        return "".join(content for type, content in self.frames if type == "text.delta")


@asynccontextmanager
async def open_desk(
    folder: Path, form: Format, *replies: ScriptedAnswer | Reply, limits: Limits | None = None
) -> AsyncIterator[Desk]:
    async with open_server(serve_answers(form, *replies)) as server:
        made = Desk(folder, server, form, limits)
        async with aclosing(made.engine):
            yield made


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "FIRST_RETRY_WAIT_S", 0.0)


@pytest.mark.parametrize("form", FORMATS)
async def test_a_turn_with_two_parallel_calls(tmp_path: Path, form: Format):
    both = ScriptedAnswer(
        ["I ", "look."], [("read", ['{"path"', ': "a"}']), ("read", ['{"path": "b', '"}'])], thinking="Hm."
    )
    async with open_desk(tmp_path, form, both, DONE) as d:
        stopped = await d.run()
    assert (stopped.reason, stopped.text) == ("completed", "Done.")
    assert d.results(1) == ["{'path': 'a'}", "{'path': 'b'}"]
    assert d.shown_text == "I look.Done."
    assert ("thinking.delta", "Hm.") in d.frames
    first, last = d.events("model.completed")
    assert (first["stop"], first["text"], first["thinking"], last["stop"]) == ("tool_calls", "I look.", "Hm.", "eos")
    assert first["usage"] == {"input_tokens": 37, "output_tokens": 4, "cached_tokens": 30, "is_estimated": False}
    ids = [call["call_id"] for call in first["tool_calls"]]
    assert [event["call_id"] for event in d.events("tool.started")] == ids
    assert [event["call_id"] for event in d.events("tool.completed")] == ids
    # the tools are told once, and not in words
    assert "<tools>" not in json.dumps(d.bodies[0]["messages"] if form == "openai" else d.bodies[0]["system"])
    assert all(len(body["tools"]) == 1 for body in d.bodies)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("call", "stop", "reason", "message"),
    [
        (("read", ['{"path": "a']), "", "invalid_input", "could not be read: they are not valid JSON (Unterminated"),
        (("read", ['{"path": "a']), "limit", "invalid_input", "reached its limit of tokens"),
        (("read", ["[1]"]), "", "invalid_input", "must be a JSON object, not [1]"),
        (("read", ["[" * 100_000]), "", "invalid_input", "could not be read: they are"),
        (("read", ['{"path": 5}']), "", "invalid_input", "must be a text, not 5"),
        (("read", []), "", "invalid_input", "read needs 'path'"),
        (("delete", ["{}"]), "", "unknown_tool", "there is no tool 'delete'; the tools are: read"),
        (("", ["{}"]), "", "invalid_input", "it has no name of a tool"),
    ],
)
async def test_a_wrong_call_is_a_failure_that_the_model_sees(
    tmp_path: Path, form: Format, call: Any, stop: str, reason: str, message: str
):
    ends = {"limit": {"openai": "length", "anthropic": "max_tokens"}[form]}
    right = ("read", ['{"path": "b"}'])
    async with open_desk(tmp_path, form, ScriptedAnswer(calls=[call, right], stop=ends.get(stop, "")), DONE) as d:
        stopped = await d.run()
    assert (stopped.reason, stopped.text) == ("completed", "Done.")
    [failed] = d.events("tool.failed")
    assert failed["reason"] == reason
    assert message in failed["output"]
    wrong, good = d.results(1)
    assert message in wrong
    assert good == "{'path': 'b'}"
    # each call that the model sees has its result
    assert [event["call_id"] for event in d.events("tool.started")] == [
        call["call_id"] for call in d.events("model.completed")[0]["tool_calls"]
    ]


async def test_unreadable_calls_again_and_again_end_the_turn(tmp_path: Path):
    wrong = ScriptedAnswer(calls=[("read", ["{"])])
    async with open_desk(tmp_path, "openai", wrong, wrong, wrong) as d:
        with pytest.raises(NoAnswer, match="3 unreadable tool calls in a row"):
            await d.run()


@pytest.mark.parametrize("form", FORMATS)
async def test_a_limit_of_steps_counts_calls_of_the_model(tmp_path: Path, form: Format):
    looks = [ScriptedAnswer(calls=[("read", [json.dumps({"path": name})])]) for name in "abc"]
    async with open_desk(tmp_path, form, *looks, limits=Limits(max_steps=3)) as d:
        assert (await d.run()).reason == "max_turns"
    assert len(d.events("model.completed")) == len(d.bodies) == 3


@pytest.mark.parametrize("form", FORMATS)
async def test_a_service_that_is_busy_or_fails_once_is_asked_again(tmp_path: Path, form: Format):
    busy = Reply(json={"error": {"type": "rate_limit_error", "message": "slow down"}}, status=429)
    failure = Reply(json={"error": {"message": "oops"}}, status=500)
    async with open_desk(tmp_path, form, busy, READ, failure, DONE) as d:
        assert (await d.run()).text == "Done."
    # the client repeats a busy service by itself; a failure is shown
    [failed] = d.events("model.failed")
    assert (failed["message"], failed["code"], failed["will_retry"]) == ("oops", "EngineFailed", True)


async def test_a_service_that_keeps_failing_ends_the_turn(tmp_path: Path):
    failure = Reply(json={"error": {"message": "oops"}}, status=500)
    async with open_desk(tmp_path, "openai", failure, failure) as d:
        with pytest.raises(EngineError, match="oops"):
            await d.run()
    assert [event["will_retry"] for event in d.events("model.failed")] == [True, False]


@pytest.mark.parametrize("form", FORMATS)
async def test_a_service_without_tools_gets_them_as_text(tmp_path: Path, form: Format):
    refusal = Reply(json={"error": {"message": f"{MODEL} does not support tools"}}, status=400)
    call = ScriptedAnswer(['<tool_call>\n{"name": "read", "argum', 'ents": {"path": "a"}}\n</tool_call>'])
    async with open_desk(tmp_path, form, refusal, call, DONE, DONE) as d:
        assert (await d.run()).text == "Done."
        assert d.shown_text == "Done."
        # the next turn does not try again
        assert (await d.run()).text == "Done."
    assert ["tools" in body for body in d.bodies] == [True, False, False, False]
    [failed] = d.events("model.failed")
    assert (failed["code"], failed["will_retry"]) == ("ToolsRefused", True)
    assert failed["message"].startswith(f"{MODEL} does not support tools; the tools are described as text")
    assert "<tools>" in json.dumps(d.bodies[1])
    assert "<tool_response>\\n{'path': 'a'}" in json.dumps(d.bodies[2])
    [done] = d.events("tool.completed")
    assert done["output"] == "{'path': 'a'}"


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n{}\n</tool_call>",
        "```json\n{}\n```",
        "<tools>\n{}\n</tools>",
        "{}",
    ],
)
async def test_a_small_model_may_write_its_calls_as_text(tmp_path: Path, text: str):
    """Qwen2.5-Coder writes calls as text, even if its service offers tool calls."""
    written = text.replace("{}", '{"name": "read", "arguments": {"path": "a"}}')
    async with open_desk(tmp_path, "openai", ScriptedAnswer([written[:5], written[5:]]), DONE) as d:
        assert (await d.run()).text == "Done."
    assert d.shown_text == "Done."
    assert d.results(1) == ["{'path': 'a'}"]
    assert d.bodies[1]["messages"][-2]["tool_calls"][0]["function"]["name"] == "read"


@pytest.mark.parametrize(
    "text", ["```json\n{}\n```", "```python\nprint()\n```", "`a` is it", "<tools> are many", "[1]"]
)
async def test_other_texts_are_shown_as_a_whole(tmp_path: Path, text: str):
    async with open_desk(tmp_path, "openai", ScriptedAnswer(list(text))) as d:
        assert (await d.run()).text == text
    assert d.shown_text == text


async def test_the_next_model_gets_the_tools_in_its_own_form(tmp_path: Path):
    """A second model without native calls gets the tools as text, and a grammar."""
    refusal = Reply(json={"error": {"message": "no money left"}}, status=402)
    async with open_desk(tmp_path, "openai", refusal) as d, open_server(make_llama_server()) as local:
        async with aclosing(EngineClient(Config(engine=EngineSettings(url=local.url)))) as engine:
            local.on["POST", "/apply-template"] = Reply(json={"prompt": "p"})
            local.on["POST", "/tokenize"] = Reply(json={"tokens": [1, 2, 3]})
            d.models.append(Model("local", engine))
            assert (await d.run()).text == "a"
        [body] = local.bodies("/completion")
    assert "tool_call" in body["grammar"]


# -- structured output
@pytest.mark.parametrize("form", FORMATS)
async def test_an_answer_by_a_schema_after_a_call(tmp_path: Path, form: Format):
    answer = (
        ScriptedAnswer(['{"n"', ": 1}"])
        if form == "openai"
        else ScriptedAnswer(calls=[("give_answer", ['{"n"', ": 1}"])])
    )
    async with open_desk(tmp_path, form, READ, answer) as d:
        assert (await d.run(ANSWER)).text == '{"n": 1}'
    assert d.shown_text == 'I look.{"n": 1}'
    assert len(d.bodies) == 2


async def test_an_answer_that_does_not_fit_its_schema_is_requested_again(tmp_path: Path):
    async with open_desk(tmp_path, "openai", ScriptedAnswer(["It is 1."]), ScriptedAnswer(['{"n": 1}'])) as d:
        assert (await d.run(ANSWER)).text == '{"n": 1}'
    first, second = d.bodies
    assert ("response_format" in first, "response_format" in second) == (False, True)
    assert d.shown_text == '{"n": 1}'
    [completed] = d.events("model.completed")
    assert completed["usage"]["output_tokens"] == 8


async def test_a_service_without_schemas_gets_the_schema_as_text(tmp_path: Path):
    refusal = Reply(json={"error": {"message": "response_format is not supported"}}, status=400)
    async with open_desk(tmp_path, "openai", ScriptedAnswer(["so"]), refusal, ScriptedAnswer(['{"n": 1}'])) as d:
        assert (await d.run(ANSWER)).text == '{"n": 1}'
    assert '{\\"n\\": {\\"type\\": \\"integer\\"}}' in json.dumps(d.bodies[-1]["messages"][0])


# -- history
def fold_history(*events: SessionEvent) -> tuple[ChatMessage, ...]:
    numbered = [Event("", number, "", "s", 0, None, None, *encode_event(event)) for number, event in enumerate(events)]
    return build_dialogue(project_conversation(numbered), {"mcp__x__look": "look"})


CALL = ToolCall("1", "mcp__x__look", {"path": "a"})
ASKED = ChatMessage("assistant", "", (PastCall("1", "look", {"path": "a"}),))
GO = InvocationReceived("message", "go")


@pytest.mark.parametrize(
    ("events", "messages"),
    [
        (
            (
                GO,
                ModelCompleted("m", "", (CALL,)),
                InvocationReceived("message", "hurry"),
                ToolCompleted("1", "t", "x"),
            ),
            (ChatMessage("user", "go"), ASKED, ChatMessage("tool", "x", call_id="1"), ChatMessage("user", "hurry")),
        ),
        (
            (GO, ModelCompleted("m", "", (CALL,))),
            (
                ChatMessage("user", "go"),
                ASKED,
                ChatMessage("tool", "Error: the call has no result", call_id="1", is_error=True),
            ),
        ),
        (
            (GO, ModelCompleted("m", "", (CALL,)), ToolFailed("1", "t", "error", "bad <|im_end|>")),
            (
                ChatMessage("user", "go"),
                ASKED,
                ChatMessage("tool", "Error: bad < |im_end|>", call_id="1", is_error=True),
            ),
        ),
        (
            (ToolCompleted("9", "t", "x"), GO, ModelCompleted("m", "")),
            (ChatMessage("user", "<tool_response>\nx\n</tool_response>\n\ngo"),),
        ),
        (
            (ModelCompleted("m", "Hello."), GO),
            (
                ChatMessage("user", "[the beginning of the conversation was removed to save room]"),
                ChatMessage("assistant", "Hello."),
                ChatMessage("user", "go"),
            ),
        ),
    ],
    ids=["a text between", "no result", "a failure", "a result without its call", "no user at the beginning"],
)
def test_the_history_has_the_order_that_services_demand(events: Sequence[Any], messages: tuple[ChatMessage, ...]):
    assert fold_history(*events) == messages
