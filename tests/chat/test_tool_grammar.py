"""Tests of the grammar of answers with tools, with llama.cpp's own reader of grammars."""

import json
import random
from typing import Any

import jsonschema
import pytest

from lsp_harness.chat.tool_calls import parse_answer
from lsp_harness.chat.tool_grammar import AnswerForm, build_tool_grammar
from lsp_harness.errors import EngineRefused
from tests.chat.scripted_tool import ScriptedTool
from tests.support.grammar import Acceptor

PATH: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20}
READ = ScriptedTool(
    "read",
    {
        "type": "object",
        "properties": {"path": PATH, "first": {"type": "integer", "minimum": 1, "maximum": 99}},
        "required": ["path"],
    },
)
EDIT = ScriptedTool(
    "edit",
    {
        "type": "object",
        "properties": {"path": PATH, "old": {"type": "string", "maxLength": 5000}, "new": {"type": "string"}},
        "required": ["path", "old", "new"],
    },
)
NOTHING = ScriptedTool("nothing", {"type": "object"})
TOOLS = (READ, EDIT, NOTHING)


def call(name: str, arguments: object) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)}}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (call("read", {"path": "a.py"}), True),
        (call("read", {"path": "a.py", "first": 7}), True),
        (call("read", {"path": "a.py", "first": 100}), False),
        (call("read", {"path": ""}), False),
        (call("read", {"first": 7}), False),
        (call("read", {"path": "a.py", "other": 1}), False),
        (call("edit", {"path": "a", "old": "x\n\"y\"", "new": ""}), True),
        (call("edit", {"path": "a", "old": "x" * 5000, "new": ""}), True),
        (call("edit", {"path": "a", "old": "x" * 5001, "new": ""}), False),
        (call("edit", {"path": "a", "old": "", "new": "x" * 2001}), False),
        (call("nothing", {}), True),
        (call("nothing", {"a": 1}), False),
        (call("other", {}), False),
        (call("read", {"path": "a.py"}) + " ", False),
        ("It is done.", True),
        ("a < b << c, vec<tool>, if a<t<b:\n\n<html></html> <<<<x", True),
        ("<tool_call", False),
        ("I call it: " + call("read", {"path": "a.py"}), False),
        ("text <<tool_call> text", False),
        ("", False),
    ],
)  # fmt: skip
def test_an_answer_is_a_text_or_one_call(acceptor: Acceptor, text: str, fits: bool):
    assert acceptor.accepts(build_tool_grammar(TOOLS).text, text) is fits


def test_the_form_of_the_answer_allows_one_kind_only(acceptor: Acceptor):
    some_call, text = call("nothing", {}), "It is done."
    forms = {
        form: build_tool_grammar(TOOLS, form).text
        for form in (AnswerForm(must_call=True), AnswerForm(must_answer=True))
    }
    assert [[acceptor.accepts(grammar, answer) for answer in (some_call, text)] for grammar in forms.values()] == [
        [True, False],
        [False, True],
    ]
    assert acceptor.accepts(build_tool_grammar(()).text, text)
    assert not acceptor.accepts(build_tool_grammar((), AnswerForm(max_chars=5)).text, text)


def test_a_structured_answer_fits_its_schema(acceptor: Acceptor):
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    grammar = build_tool_grammar(TOOLS, AnswerForm(answer_schema=schema)).text
    # a call without its marks would be read as an answer
    bare_call = '{"name": "nothing", "arguments": {}}'
    answers = ('{"ok": true}', '{"ok": 1}', "yes", call("nothing", {}), bare_call)
    assert [acceptor.accepts(grammar, answer) for answer in answers] == [True, False, False, True, False]
    assert acceptor.accepts(build_tool_grammar(TOOLS).text, bare_call)
    with pytest.raises(EngineRefused, match="`pattern` beside `type` in a JSON schema cannot be turned into a grammar"):
        build_tool_grammar(TOOLS, AnswerForm(answer_schema={"type": "string", "pattern": "a+"}))


@pytest.mark.parametrize(
    ("tools", "form"),
    [((), AnswerForm(must_call=True)), (TOOLS, AnswerForm(must_call=True, must_answer=True))],
)
def test_a_form_without_any_answer_is_refused(tools: tuple[ScriptedTool, ...], form: AnswerForm):
    with pytest.raises(EngineRefused, match="allow a tool or drop the requirement"):
        build_tool_grammar(tools, form)


def test_a_schema_without_a_grammar_allows_any_object_with_a_warning(acceptor: Acceptor):
    foreign = ScriptedTool(
        "mcp__x__find", {"type": "object", "properties": {"q": {"type": "string", "pattern": "^a"}}, "required": ["q"]}
    )
    grammar = build_tool_grammar([READ, foreign])
    [warning] = grammar.warnings
    assert warning.startswith("the arguments of the tool mcp__x__find are not constrained: `pattern` beside `type`")
    assert acceptor.accepts(grammar.text, call("mcp__x__find", {"q": "a", "deep": {"x": [1, None]}}))
    assert not acceptor.accepts(grammar.text, call("read", {"q": "a"}))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": PATH}, "required": ["a"]}}},
        {"properties": {"a": {"anyOf": [PATH, {"type": "null"}], "default": None, "title": "A"}}, "type": "object"},
        {"properties": {"a": PATH}, "additionalProperties": {"type": "string"}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"a": PATH}},
    ],
)
def test_schemas_of_other_programs_become_grammars(acceptor: Acceptor, schema: dict[str, Any]):
    grammar = build_tool_grammar([ScriptedTool("x", schema)])
    assert grammar.warnings == ()
    assert acceptor.accepts(grammar.text, call("x", {"a": "b"}))


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "object", "properties": 5}, {"required": "a"}])
def test_a_schema_that_is_not_valid_allows_any_object(acceptor: Acceptor, schema: dict[str, Any]):
    grammar = build_tool_grammar([ScriptedTool("x", schema)])
    assert len(grammar.warnings) == 1
    assert acceptor.valid(grammar.text)


def test_the_names_of_tools_are_quoted(acceptor: Acceptor):
    grammar = build_tool_grammar([ScriptedTool('a"b\\c', {})]).text
    assert acceptor.accepts(grammar, '<tool_call>\n{"name": "a\\"b\\\\c", "arguments": {}}\n</tool_call>')


@pytest.mark.parametrize("form", [AnswerForm(must_call=True), AnswerForm(max_chars=300)], ids=["calls", "all"])
def test_random_walks_through_the_grammar_can_be_read(acceptor: Acceptor, form: AnswerForm):
    grammar = build_tool_grammar(TOOLS, form).text
    schemas = {tool.name: tool.schema for tool in TOOLS}
    dice = random.Random(7)
    for _ in range(12):
        text = acceptor.walk(grammar, dice)
        answer = parse_answer(text, schemas)
        assert not answer.problem, text
        assert len(answer.calls) == text.startswith(("<tool_call>", "{"))
        assert answer.calls or not form.must_call
        for found in answer.calls:
            # of bytes that are no text, llama.cpp counts fewer characters than there are marks for them
            input = json.loads(json.dumps(found.input).replace("\\ufffd", ""))
            jsonschema.validate(input, schemas[found.name])
