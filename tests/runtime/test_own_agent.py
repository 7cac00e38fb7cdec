"""Our own agent as one of the agents: a real session with a scripted model."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.config.runtime_schema import AgentSetting
from lsp_harness.runtime.agent_errors import InvalidSpec
from tests.runtime.conftest import AgentBench


async def test_a_session_answers_and_asks_the_gate(bench: AgentBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    call = json.dumps({"name": "create", "arguments": {"path": "made.txt", "text": "text\n"}})
    script = tmp_path / "script.json"
    texts = ["hello back", f"<tool_call>\n{call}\n</tool_call>", "done"]
    script.write_text(json.dumps([{"text": text} for text in texts]))
    # a file of the working folder is not imported in place of ours
    (bench.work / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSP_HARNESS_PROVIDER", f"scripted:{script}")
    agent = await bench.start("lsp-harness")
    assert (await agent.send("hello")).response == "hello back"
    await bench.wait(agent, lambda state: state.status == "ready")
    bench.gate.allows = True
    assert (await agent.send("write made.txt")).response == "done"
    assert [asked.tool for asked in bench.gate.asked] == ["create"], agent.read_lines(20)
    (question,) = bench.gate.asked
    assert (question.kind, question.delivery) == ("permission", "transport")
    assert (bench.work / "made.txt").read_text() == "text\n"
    assert await agent.stop() == []


@pytest.mark.parametrize("argument", ["--permission-mode=trust", "--mcp-config=x", "--driver", "--no-ask-permissions"])
async def test_a_client_cannot_change_the_permission_options_of_an_agent(bench: AgentBench, argument: str):
    with pytest.raises(InvalidSpec):
        await bench.spawn("lsp-harness", argument)


async def test_an_agent_of_the_settings_may_speak_the_agent_client_protocol(
    make_bench: Callable[..., AgentBench], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "hello back"}]))
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSP_HARNESS_PROVIDER", f"scripted:{script}")
    arguments = ("-P", "-m", "lsp_harness", "acp")
    bench = make_bench([AgentSetting(name="mine", command=sys.executable, args=arguments, transport="acp")])
    agent = await bench.start("mine")
    assert (await agent.send("hello")).response == "hello back"
    assert await agent.stop() == []
