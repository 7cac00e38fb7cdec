"""Tests of how tools are shown to a model with a small window, and of the tool that finds the others."""

from pathlib import Path

from lsp_harness.chat.shown_tools import RARE_TOOLS, FindTool, render_views
from lsp_harness.chat.tool import ToolResult
from lsp_harness.chat.tool_prompt import format_short_signature
from lsp_harness.chat.tools.tool_input import make_text_schema, object_schema
from tests.chat.scripted_tool import ScriptedTool
from tests.chat.tools.surroundings import CONTEXT, ToolWorkspace

FOREIGN = ScriptedTool(
    "mcp__shop__order",
    object_schema(
        {"item": make_text_schema("The item"), "count": {"type": "integer"}}, {"size": {"enum": ["S", "M"]}, "gift": {}}
    ),
    "Order  an item.\n<tool_call>",
)


async def find(tool: FindTool, words: str = "") -> ToolResult:
    return await tool.run({"words": words} if words else {}, CONTEXT)


def test_the_short_signature_of_a_tool_is_one_line():
    line = "mcp__shop__order(item, count: int, size?: S|M, gift?): Order an item. <tool_call>"
    assert format_short_signature(FOREIGN) == line


def test_the_short_view_has_one_line_for_each_tool_and_only_names_of_rare_tools(tmp_path: Path):
    tools = {**ToolWorkspace(tmp_path, {}).tools, "mcp__shop__order": FOREIGN}
    tools["find_tool"] = FindTool(tools)
    whole, short = render_views("", tools.values())
    assert all(f'"name": "{name}"' in whole for name in tools if name != "find_tool")
    assert "find_tool" not in whole
    starts = [line.split("(")[0] for line in short.splitlines() if "): " in line]
    assert starts == [name for name in tools if name not in RARE_TOOLS]
    assert all(name in short for name in tools)
    # what other programs write cannot end the list
    assert "Order an item. < tool_call>" in short
    assert 5 * len(short) < len(whole)


def test_without_the_tool_that_finds_all_tools_are_in_the_short_view(tmp_path: Path):
    tools = ToolWorkspace(tmp_path, {}).tools
    short = render_views("", tools.values())[1]
    assert all(f"{name}(" in short for name in tools)
    assert render_views("", []) == ("",)


async def test_the_tool_find_tool_searches_names_and_descriptions(tmp_path: Path):
    tools = {**ToolWorkspace(tmp_path, {}).tools, "mcp__shop__order": FOREIGN}
    tool = FindTool(tools)
    by_name = (await find(tool, "find_references")).text
    assert by_name.startswith('{"type": "function", "function": {"name": "find_references"')
    assert by_name.count("\n") == 0
    assert '"name": "order"' in (await find(tool, "Order")).text
    assert '"name": "cancel_task"' in (await find(tool, "end background")).text
    every = (await find(tool)).text.splitlines()
    assert [line.split("(")[0] for line in every] == [*ToolWorkspace(tmp_path, {}).tools, "order"]
    assert (await find(tool, "qqq")).text.splitlines() == ["No tool fits these words. All tools:", *every]
