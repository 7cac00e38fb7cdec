"""Tests of tools with invalid schemas: none of them stops a prompt, a grammar or a check of arguments."""

import random
from types import SimpleNamespace
from typing import Any

import pytest

from lsp_harness.chat.mcp.mcp_tool import (
    ANY_OBJECT,
    MAX_DESCRIPTION_CHARS,
    MAX_SCHEMA_CHARS,
    READERS,
    McpTool,
    read_schema,
)
from lsp_harness.chat.mcp.server_connection import ServerConnection
from lsp_harness.chat.mcp.server_specs import ServerSpec
from lsp_harness.chat.schema_check import find_mismatch
from lsp_harness.chat.shown_tools import render_views
from lsp_harness.chat.tool_execution import find_input_problem
from lsp_harness.chat.tool_grammar import build_tool_grammar
from lsp_harness.chat.tool_prompt import format_full_signature, format_short_signature

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 10**30, "", "x", "object", "string", "array", [], {}, [None], ["a", 1], {"a": 1}),
    *({"type": "string"}, {"$ref": "#"}, {"$ref": 5}, {"type": ["string", "null"]}, {"enum": []}, {"const": None}),
    *({"pattern": "("}, {"items": 5}, {"properties": 5}, {"required": 5}, {"anyOf": []}, {"minLength": -5}),
]
KEYWORDS = (*READERS, "const", "default", "examples", "$comment")


def make_schema(choose: random.Random, depth: int) -> Any:
    if depth == 0 or choose.random() < 0.2:
        return choose.choice(VALUES)
    chosen = choose.sample(KEYWORDS, choose.randint(0, 5))
    schema: dict[str, Any] = {keyword: make_schema(choose, depth - 1) for keyword in chosen}
    if choose.random() < 0.7:
        names = ("a", "b c", "", "é", "type", "x\ny", '"')
        schema["type"] = "object"
        schema["properties"] = {choose.choice(names): make_schema(choose, depth - 1) for _ in range(3)}
    return schema


def make_tool(schema: Any, description: str = "A tool.") -> McpTool:
    listed: Any = SimpleNamespace(name="t", title=None, description=description, input_schema=schema)
    return McpTool(ServerConnection(ServerSpec("s", "program"), None, 1.0), listed)


def test_random_schemas_stop_no_reader():
    choose = random.Random(20_261_130)
    for _ in range(1_000):
        tool = make_tool(make_schema(choose, 3))
        assert tool.schema["type"] == "object"
        build_tool_grammar([tool])
        render_views("system", [tool])
        format_full_signature(tool)
        format_short_signature(tool)
        for given in ({}, {"a": 1, "b c": [None]}, {"a": {"a": "x"}}):
            find_input_problem(tool, given)
            find_mismatch(tool.schema, given)


@pytest.mark.parametrize(
    ("schema", "read"),
    [
        ({"type": "object", "properties": {"a": True, "b": 5}}, {"type": "object", "properties": {"a": {}, "b": {}}}),
        ({"properties": 5, "required": ["a", 1], "title": "T"}, {"required": ["a"], "title": "T", "type": "object"}),
        ({"type": "string"}, ANY_OBJECT),
        (5, ANY_OBJECT),
        ({"description": "x" * MAX_SCHEMA_CHARS}, ANY_OBJECT),
        (
            {"type": "object", "properties": {"a": {"type": ["string", "null"], "minLength": 2, "enum": ["ab"]}}},
            {"type": "object", "properties": {"a": {"type": ["string", "null"], "minLength": 2, "enum": ["ab"]}}},
        ),
    ],
)
def test_a_value_that_is_no_schema_is_left_out(schema: Any, read: Any):
    assert read_schema(schema) == read


def test_a_schema_that_is_nested_too_deeply_allows_anything():
    schema: Any = {}
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"a": schema}}
    assert read_schema(schema)["type"] == "object"


def test_a_long_description_is_cut():
    assert len(make_tool({}, "x" * 100_000).description) == MAX_DESCRIPTION_CHARS
