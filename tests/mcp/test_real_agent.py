"""Claude Code and Codex, as `make agents` installs them, call our tools. Fakes of their models tell them to."""

import asyncio
import json
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import GEO, ServedFolder
from tests.support.fake_model_server import FakeModelServer
from tests.support.real_agents import DEAD_PROXY, FOLDER, KEY

ROOT = Path(__file__).parents[2]
CLAUDE, CODEX = FOLDER / "claude", FOLDER / "codex"
PROXIES = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD_PROXY)
TOOL = "mcp__lsp-harness__verify_change"
CHANGE = {"path": "geo.py", "edits": [{"old": "3 *", "new": "tau *"}]}


class FakeMessages(BaseHTTPRequestHandler):
    """Anthropic Messages: the first answer calls our tool, and the next one repeats what it returned."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        names = {tool["name"] for tool in body.get("tools", ())}
        results = [
            block
            for message in body.get("messages", ())
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        block: dict[str, Any] = {"type": "text", "text": f"no tool {TOOL} among {sorted(names)}"}
        if results:
            block = {"type": "text", "text": json.dumps(results[-1]["content"])}
        elif TOOL in names:
            block = {"type": "tool_use", "id": "toolu_1", "name": TOOL, "input": CHANGE}
        message: dict[str, Any] = {"id": f"msg_{len(results)}", "type": "message", "role": "assistant"}
        message |= {"model": body.get("model", ""), "content": [block], "stop_sequence": None}
        message |= {"stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn"}
        message |= {"usage": {"input_tokens": 10, "output_tokens": 5}}
        data = json.dumps(message).encode()
        kind = "application/json"
        if body.get("stream"):
            data, kind = "".join(self._events(message, block)).encode(), "text/event-stream"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _events(self, message: dict[str, Any], block: dict[str, Any]) -> Generator[str]:
        is_text = block["type"] == "text"
        empty = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
        delta = {"type": "text_delta", "text": block.get("text")}
        if not is_text:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"]}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
        for event in events:
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def serve_messages() -> Generator[str]:
    """Yield the URL of the fake model while it runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeMessages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.timeout(300)
async def test_claude_gets_a_verdict_from_its_configured_server(served: ServedFolder, tmp_path: Path):
    if not CLAUDE.exists():
        pytest.skip("claude is not installed: run `make agents`")
    entry = {"command": served.argv[0], "args": served.argv[1:], "env": {"LSP_HARNESS_HOME": str(served.home)}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"lsp-harness": entry}}))
    home = tmp_path / "claude"
    home.mkdir()
    (home / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True}))
    with serve_messages() as url:
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "NO_PROXY": "127.0.0.1",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": url,
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **PROXIES,
        }
        options = ["--mcp-config", str(tmp_path / "mcp.json"), "--strict-mcp-config", "--allowedTools", TOOL]
        process = await asyncio.create_subprocess_exec(
            *[CLAUDE, "-p", "Is this change right?", *options, "--output-format", "json"],
            env=environment,
            # not the project, because python would import what is there
            cwd=ROOT,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 240)
    answer = json.loads(output)
    assert not answer["is_error"], answer
    assert "failed: geo.py" in answer["result"] or '\\"verdict\\":\\"failed\\"' in answer["result"], answer
    assert "Undefined name `tau`" in answer["result"]
    assert (served.root / "geo.py").read_text() == GEO


@pytest.mark.timeout(300)
async def test_codex_gets_a_verdict_from_its_configured_server(served: ServedFolder, tmp_path: Path):
    if not CODEX.exists():
        pytest.skip("codex is not installed: run `make agents`")
    settings = tmp_path / "codex" / ".codex"
    settings.mkdir(parents=True)
    lines = [
        "[mcp_servers.lsp-harness]",
        f"command = {json.dumps(served.argv[0])}",
        f"args = {json.dumps(served.argv[1:])}",
        f"env = {{LSP_HARNESS_HOME = {json.dumps(str(served.home))}}}",
        f"cwd = {json.dumps(str(ROOT))}",
        # otherwise the first message is sent without the tools of a server that still starts
        "required = true",
        "startup_timeout_sec = 120",
    ]
    (settings / "config.toml").write_text("\n".join(lines))
    with FakeModelServer() as fake:
        environment = {
            "HOME": str(settings.parent),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "NO_PROXY": "127.0.0.1",
            "OPENAI_API_KEY": KEY,
            **PROXIES,
        }
        provider = f'{{name="fake",base_url="{fake.url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}}'
        options = ["-c", 'model_provider="fake"', "-c", f"model_providers.fake={provider}", "--model", "gpt-5"]
        process = await asyncio.create_subprocess_exec(
            *[CODEX, "exec", "--json", "--skip-git-repo-check", *options],
            f"USE mcp__lsp_harness.verify_change {json.dumps(CHANGE)}",
            env=environment,
            cwd=served.root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 240)
    items = [event["item"] for line in output.splitlines() if (event := json.loads(line)).get("item")]
    calls = [item for item in items if item["type"] == "mcp_tool_call"]
    assert {call["tool"] for call in calls} == {"verify_change"}, output
    answer = next(item["text"] for item in items if item["type"] == "agent_message")
    assert answer.startswith("RAN "), output
    assert "Undefined name `tau`" in answer
    assert (served.root / "geo.py").read_text() == GEO
