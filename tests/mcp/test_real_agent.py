"""Claude Code, as `make agents` installs it, calls our tools. A fake of its model, on this machine, tells it to."""

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

ROOT = Path(__file__).parents[2]
CLAUDE = Path(os.environ.get("AGENTS") or ROOT / ".agents") / "node_modules" / ".bin" / "claude"
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
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    with serve_messages() as url:
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "NO_PROXY": "127.0.0.1",
            "ANTHROPIC_API_KEY": "sk-test-0123456789abcdef",
            "ANTHROPIC_BASE_URL": url,
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **proxies,
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
