"""An agent over the Agent Client Protocol whose messages are not valid."""

import sys
from collections.abc import Callable

import pytest

from lsp_harness.config.runtime_schema import AgentSetting
from lsp_harness.runtime.agent_errors import SpawnFailed
from tests.runtime.conftest import AgentBench

AGENT = r"""
import json, sys

def out(message):
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    sys.stdout.flush()

def say(text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    out({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})

GREETING = {"protocolVersion": 1, "agentCapabilities": {}}
for line in sys.stdin:
    message = json.loads(line)
    number, method = message.get("id"), message.get("method")
    if method == "initialize":
        out({"jsonrpc": "2.0", "id": number, "result": GREETING if len(sys.argv) < 2 else json.loads(sys.argv[1])})
    elif method == "session/new":
        out({"jsonrpc": "2.0", "id": number, "result": {"sessionId": "s"}})
    elif method == "session/prompt":
        text = message["params"]["prompt"][0]["text"]
        if text == "noise":
            for noise in ("[]", "5", "{", "[" * 9999, "{}", '{"id": [], "result": 1}', '{"id": {}, "error": 5}'):
                out(noise)
            for noise in ('{"id": 4711, "result": {}}', '{"id": 1, "method": 5}', '{"method": "session/update"}'):
                out(noise)
            say("half \ud83d of it")
        if text == "empty":
            out({"jsonrpc": "2.0", "id": number, "result": {}})
        elif text == "error":
            out({"jsonrpc": "2.0", "id": number, "error": "no"})
        else:
            out({"jsonrpc": "2.0", "id": number, "result": {"stopReason": "end_turn"}})
"""


def make_setting(*more: str) -> AgentSetting:
    return AgentSetting(name="unfit", command=sys.executable, args=("-c", AGENT, *more), transport="acp")


async def test_invalid_messages_end_neither_the_agent_nor_its_turns(make_bench: Callable[..., AgentBench]):
    bench = make_bench([make_setting()])
    agent = await bench.start("unfit")
    assert (await agent.send("noise")).response == "half \ufffd of it"
    answers = [await agent.send(text) for text in ("empty", "error")]
    assert [answer.response for answer in answers] == [
        "the agent gave an answer that is not valid",
        "the agent failed: the answer has no result",
    ]
    assert (await agent.send("noise")).response == "half \ufffd of it"


@pytest.mark.parametrize("greeting", ["5", "null", '{"protocolVersion": 1, "authMethods": 5, "agentInfo": []}'])
async def test_a_greeting_that_is_not_valid_is_an_error(make_bench: Callable[..., AgentBench], greeting: str):
    bench = make_bench([make_setting(greeting)])
    with pytest.raises(SpawnFailed, match="the agent gave an answer that is not valid"):
        await bench.start("unfit")
