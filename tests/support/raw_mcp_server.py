"""A server of tools that writes any line: `python tests/support/raw_mcp_server.py SCRIPT`.

The script is a JSON object: method → the lines that answer it. In a line, ID is the id of the request. A method without
lines is not answered. `END` ends the server, `WAIT` lets it answer nothing more, and `OTHER` is a second tool from then
on. A line with NOEND at its end has no end.
"""

import json
import sys
from typing import Any

VERSION = "2025-06-18"
TOOL: dict[str, Any] = {"name": "one", "description": "First.", "inputSchema": {"type": "object"}}
GREETING = {
    "protocolVersion": VERSION,
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "raw", "version": "1"},
}


def answer(result: Any) -> str:
    """Return a line that answers a request."""
    return json.dumps({"jsonrpc": "2.0", "id": "ID", "result": result}).replace('"ID"', "ID")


def make_text_answer(text: str) -> str:
    """Return a line that answers a call with a text."""
    return answer({"content": [{"type": "text", "text": text}]})


def serve(script: dict[str, list[str]]):
    """Answer requests until the end."""
    listed = [TOOL]
    for line in sys.stdin:
        request = json.loads(line)
        method, id = request.get("method"), request.get("id")
        lines = {
            "initialize": [answer(GREETING)],
            "server/discover": ['{"jsonrpc": "2.0", "id": ID, "error": {"code": -32601, "message": "no"}}'],
            "tools/list": [answer({"tools": listed})],
            "tools/call": [make_text_answer(json.dumps(request.get("params", {}).get("arguments")))],
        } | script
        for text in lines.get(method, ()):
            if text == "END":
                sys.exit(0)
            if text == "WAIT":
                sys.stdin.read()
            if text == "OTHER":
                listed = [TOOL, {**TOOL, "name": "two"}]
                continue
            end = "" if text.endswith("NOEND") else "\n"
            text = text.removesuffix("NOEND").replace("ID", json.dumps(id)) + end
            sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
            sys.stdout.flush()


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
