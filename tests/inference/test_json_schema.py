"""Tests of grammars from JSON schemas: which texts llama.cpp's sampler accepts, and which schemas are refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.json_schema import format_rules, from_json_schema, schema_rules
from tests.support.grammar import Acceptor

PERSON = {
    "title": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        "home": {"$ref": "#/$defs/place/inner"},
        "work": {"$ref": "#/$defs/other/inner"},
    },
    "required": ["name", "home"],
    "additionalProperties": False,
    "$defs": {
        "place": {"inner": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
        "other": {"inner": {"type": "object", "properties": {"y": {"type": "boolean"}}, "required": ["y"]}},
    },
}
TREE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
}
MIXED: dict[str, Any] = {"prefixItems": [{"const": 1}, {"type": "string"}], "items": False}
ODD = ['say "hi"', "back\\slash", "two\nlines", "é日", "\t", ""]


@pytest.mark.parametrize(
    ("schema", "fits", "others"),
    [
        (
            PERSON,
            [
                '{"name": "Ann", "home": {"x": 1.5}}',
                '{"name":"Ann","age":150,"tags":["a","b"],"home":{"x":-2e10},"work":{"y":true}}',
                '{\n  "name": "\\u00e9\\n\\"", "tags": [], "home": {"x": 0}\n}',
            ],
            [
                "{}",
                '{"name": "Ann"}',
                '{"name": "", "home": {"x": 1}}',
                '{"name": "Ottoline", "home": {"x": 1}}',
                '{"name": "Ann", "age": 151, "home": {"x": 1}}',
                '{"name": "Ann", "tags": ["a", "b", "a"], "home": {"x": 1}}',
                '{"name": "Ann", "tags": ["c"], "home": {"x": 1}}',
                '{"name": "Ann", "home": {"y": true}}',
                '{"name": "Ann", "home": {"x": 1}, "work": {"x": 1}}',
                '{"name": "Ann", "home": {"x": 1}, "more": 1}',
                '{"name": "Ann", "home": {"x": 1},}',
                '{"name": "Ann" "home": {"x": 1}}',
            ],
        ),
        (TREE, ['{"value": 1, "children": [{"value": 2, "children": []}]}'], ['{"children": []}', '{"value": 1.5}']),
        ({"type": "string"}, ['""', '"a b"', '"\\ud7ff"', '"日本"'], ['"', "a", '"\\x"', '"\n"', '"\t"', '"\\ud800"']),
        ({"enum": [*ODD, 1, None, [1, "a"]]}, [json.dumps(o, ensure_ascii=False) for o in ODD], ['"two\nlines"', "2"]),
        ({"const": {"a": [1]}}, ['{"a": [1]}'], ["{}"]),
        ({"type": "integer"}, ["0", "-7", "123456789012345"], ["01", "1.0", "1e3", "", "1234567890123456"]),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3}, ["1", "2"], ["0", "3", "-1"]),
        ({"type": "number"}, ["0", "-0.5", "1.5e-10", "2E+3"], [".5", "1.", "1e", "1e100", "NaN"]),
        ({"type": "number", "minimum": 0, "maximum": 1}, ["0", "0.25", "1", "1.0"], ["1.1", "-0.1", "2", "1e1"]),
        ({"type": "boolean"}, ["true", "false"], ["True", "1"]),
        ({"type": ["string", "null"], "maxLength": 2}, ["null", '"ab"'], ['"abc"', "1"]),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, ["null", "5"], ['"a"']),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, ['"a"', '"b"'], ['"c"']),
        ({"allOf": [{"type": "integer"}]}, ["5"], ["null"]),
        ({"type": "array", "minItems": 2, "maxItems": 3}, ["[1, null]", '["a",{},[]]'], ["[]", "[1]", "[1,1,1,1]"]),
        ({"items": {"type": "integer"}, "maxItems": 1}, ["[]", "[1]"], ["[1, 2]", '["a"]']),
        ({"items": False}, ["[]", "[ ]"], ["[1]"]),
        (MIXED, ['[1, "a"]'], ["[1]", "[]", '[1, "a", 2]', '["a", 1]']),
        ({"type": "object"}, ["{}", '{"a": {"b": [1, {"c": null}]}}'], ["[]", '{"a"}', "{'a': 1}", '{"a": 1,}']),
        ({"additionalProperties": {"type": "integer"}}, ["{}", '{"a": 1, "b": 2}'], ['{"a": "b"}']),
        ({"type": "object", "additionalProperties": False}, ["{}", "{ }"], ['{"a": 1}']),
        ({"required": ["k\"'"], "additionalProperties": {"const": 1}}, ['{"k\\"\'": 1}'], ["{}", '{"k": 1}']),
        (
            {"properties": {"a": True, "b": {"const": 1}, "c": {"const": 2}}},
            ["{}", '{"a": []}', '{"b": 1, "c": 2}', '{"c": 2}', '{"a": "x", "c": 2}'],
            ['{"c": 2, "b": 1}', '{"b": 1 "c": 2}', '{,"c": 2}'],
        ),
        ({"format": "date"}, ['"2024-02-28"'], ['"2024-13-01"', '"2024-02-30"', '"24-1-1"']),
        (
            {"type": "string", "format": "date-time"},
            ['"2024-01-02T03:04:05Z"', '"2024-01-02T23:59:59.5+02:00"'],
            ['""'],
        ),
        ({"format": "time"}, ['"23:59:59Z"'], ['"24:00:00Z"']),
        ({"format": "uuid"}, ['"123e4567-e89b-12d3-a456-426614174000"'], ['"123e4567"']),
        ({}, ["1", '"a"', "null", "true", "[[1], {}]"], ["", "nul", "[1"]),
        ({"description": "whatever"}, ["1", "{}"], [""]),
        (True, ["1"], [""]),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else "",
)
def test_a_grammar_accepts_only_values_of_its_schema(
    acceptor: Acceptor, schema: Any, fits: list[str], others: list[str]
):
    for grammar in (from_json_schema(schema), from_json_schema(schema, max_chars=None, max_items=None)):
        assert [text for text in fits if not acceptor.accepts(grammar, text)] == []
        assert [text for text in others if acceptor.accepts(grammar, text)] == []


def test_without_its_own_maximum_a_schema_has_that_of_the_caller(acceptor: Acceptor):
    def longest(accepted: Callable[[int], str], **caps: Any) -> int:
        grammar = from_json_schema(True, **caps)
        return max(size for size in range(40) if acceptor.accepts(grammar, accepted(size)))

    def text(size: int) -> str:
        return json.dumps("x" * size)

    def row(size: int) -> str:
        return json.dumps([0] * size)

    def nest(size: int) -> str:
        return "[" * size + "]" * size

    assert (longest(text, max_chars=5), longest(row, max_items=7), longest(nest)) == (5, 7, 3)
    assert [longest(make, max_chars=None, max_items=None) for make in (text, row, nest)] == [39, 39, 39]
    assert acceptor.accepts(from_json_schema({"minLength": 9}, max_chars=5), '"123456789"')
    assert acceptor.accepts(from_json_schema({"minItems": 3}, max_items=2), "[1, 2, 3]")


def make_nested_schema(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ([], "must be an object"),
        (False, "must be an object"),
        ({"type": "text"}, "`type` must be one of object, array"),
        ({"type": []}, "`type`"),
        ({"type": [1]}, "`type`"),
        ({"pattern": "^a$"}, "`pattern` in a JSON schema cannot be turned into a grammar; leave it out"),
        ({"type": "string", "pattern": "^a$"}, "`pattern`"),
        ({"type": "string", "minimum": 1}, "`minimum`"),
        ({"type": "integer", "multipleOf": 2}, "`multipleOf`"),
        ({"items": True, "uniqueItems": True}, "`uniqueItems`"),
        ({"properties": {}, "patternProperties": {}}, "`patternProperties`"),
        ({"not": {}}, "`not`"),
        ({"format": "email"}, "`format` 'email'"),
        ({"format": "uuid", "minLength": 3}, "with a length"),
        ({"anyOf": [{}], "properties": {}}, "`properties` beside `anyOf`"),
        ({"$ref": "#", "minLength": 1}, "`minLength` beside `$ref`"),
        ({"anyOf": []}, "`anyOf` must be a list"),
        ({"allOf": [{}, {}]}, "`allOf` of several"),
        ({"$ref": "#/$defs/none"}, "points to nothing"),
        ({"$ref": "#/$defs/0", "$defs": []}, "points to nothing"),
        ({"$ref": "other.json"}, "not within the schema"),
        ({"$ref": 1}, "not within the schema"),
        ({"enum": []}, "`enum`"),
        ({"enum": ["a", 1], "type": "string"}, "not of its `type`"),
        ({"const": True, "type": "integer"}, "not of its `type`"),
        ({"properties": []}, "`properties`"),
        ({"required": "a"}, "`required`"),
        ({"required": [1]}, "`required`"),
        ({"required": ["a"], "additionalProperties": False}, "requires `a` and forbids it"),
        ({"properties": {"a": {}}, "additionalProperties": {}}, "`additionalProperties` with a schema"),
        ({"prefixItems": {}}, "`prefixItems`"),
        ({"prefixItems": [{}], "minItems": 2}, "`prefixItems` with other"),
        ({"prefixItems": [{}], "items": {}}, "`prefixItems` with other"),
        ({"items": False, "minItems": 1}, "must be an object"),
        ({"minItems": -1}, "`minItems` must be a number from 0 to 2000"),
        ({"minLength": 2001}, "`minLength`"),
        ({"maxLength": 1_000_001}, "`maxLength`"),
        ({"minLength": 2, "maxLength": 1}, "`maxLength` is below its `minLength`"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "minimum is above"),
        ({"type": "integer", "minimum": "a"}, "`minimum` must be a number"),
        ({"type": "integer", "maximum": 10**15}, "`maximum` must be a number of up to 15 digits"),
        ({"type": "number", "exclusiveMinimum": 0}, "`exclusiveMinimum` 0 of a number that need not be an integer"),
        ({"type": "number", "maximum": 0.5}, "`maximum` 0.5"),
        (make_nested_schema(100), "nested deeper than 64"),
    ],
    ids=lambda value: json.dumps(value)[:50] if not isinstance(value, str) else "",
)
def test_a_keyword_that_a_grammar_cannot_express_is_refused_by_name(schema: Any, message: str):
    with pytest.raises(EngineRefused) as refused:
        from_json_schema(schema)

    assert message in refused.value.message


@pytest.mark.parametrize(
    ("minimum", "maximum"), [(0, 2000), (0, 2001), (10, 2005), (0, 4000), (1, 4001), (2000, 4100), (0, 6500)]
)
def test_long_strings_are_counted_exactly(acceptor: Acceptor, minimum: int, maximum: int):
    grammar = from_json_schema({"type": "string", "minLength": minimum, "maxLength": maximum})
    sizes = (minimum - 1, minimum, 1999, 2000, 2001, 4000, 4001, maximum - 1, maximum, maximum + 1)
    for size in (size for size in sizes if size >= 0):
        assert acceptor.accepts(grammar, json.dumps("x" * size)) is (minimum <= size <= maximum), size


def test_the_rules_of_several_schemas_fit_in_one_grammar(acceptor: Acceptor):
    rules = {"root": "a-root | b-root"} | schema_rules(PERSON, prefix="a-") | schema_rules(TREE, prefix="b-")
    grammar = format_rules(rules)
    person, tree = '{"name": "Ada", "home": {"x": 1}}', from_json_schema(TREE)
    assert acceptor.accepts(grammar, person)
    assert not acceptor.accepts(tree, person)
    assert {"a-root", "b-root"} < rules.keys()
