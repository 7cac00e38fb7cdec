"""Tools of an MCP server that change while a session runs: the model sees and calls them in the next step."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from lsp_harness.inference.scripted_engine import ScriptedEngine
from tests.sessions.conftest import OpenScripted, ask, make_tool_call, say
from tests.support import raw_mcp_server
from tests.support.raw_mcp_server import make_text_answer

CHANGED = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'


def write_servers(folder: Path) -> str:
    """Write the settings of a server that has a second tool after its first call, and return the file."""
    script = {"tools/call": ["OTHER", CHANGED, make_text_answer("ok")]}
    server = {"command": sys.executable, "args": [raw_mcp_server.__file__, json.dumps(script)]}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"raw": server}}))
    return str(file)


async def test_a_new_tool_is_seen_and_called_in_the_next_step(open_scripted: OpenScripted, tmp_path: Path):
    replies = (make_tool_call("one"), make_tool_call("two"), make_tool_call("find_tool", words="two"), say("done"))
    opened = await open_scripted(*replies, mcp_config=write_servers(tmp_path), permission_mode="trust")
    await ask(opened, "use the tools")
    calls = [event.data for event in opened.session.log.turns[0] if event.type == "tool.completed"]
    assert [call["tool"] for call in calls] == ["mcp__raw__one", "mcp__raw__two", "find_tool"]
    assert "two" in calls[-1]["output"]
    requests = cast("list[Any]", cast("ScriptedEngine", opened.parts.models[0].engine).foreground_requests)
    assert ["two(" in str(request) or '"two"' in str(request.messages[0]) for request in requests][:2] == [False, True]


async def test_a_new_tool_that_the_session_forbids_stays_hidden(open_scripted: OpenScripted, tmp_path: Path):
    opened = await open_scripted(
        *(make_tool_call("one"), make_tool_call("mcp__raw__two"), say("done")),
        mcp_config=write_servers(tmp_path),
        permission_mode="trust",
        disallowed_tools=("mcp__raw__two",),
    )
    await ask(opened, "use the tools")
    assert (list(opened.parts.hidden_tools), "mcp__raw__two" in opened.parts.tools) == (["mcp__raw__two"], False)
    [failed] = [event.data for event in opened.session.log.turns[0] if event.type == "tool.failed"]
    assert failed["reason"] == "not_allowed"
