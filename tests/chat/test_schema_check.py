"""The check of structured output against its schema."""

from typing import Any

import pytest

from lsp_harness.chat.schema_check import find_mismatch

jsonschema = pytest.importorskip("jsonschema")
SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False},
    {"type": "array", "items": {"type": "string", "minLength": 2}, "minItems": 1, "maxItems": 2},
    {"type": ["number", "null"], "minimum": 1, "exclusiveMaximum": 5},
    {"anyOf": [{"const": "a"}, {"type": "boolean"}]},
    {"enum": ["a", "x"]},
    {"allOf": [{"type": "integer"}, {"maximum": 3}]},
    {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
]
VALUES: list[Any] = [
    {"n": 1}, {"n": "x"}, {}, {"n": 1, "m": 2}, ["ab"], ["a"], [], ["ab", "cd", "ef"], 3, 0, 5, 4.5, None, True, "a",
    "b", [1], [1, 2],
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_schema_check_agrees_with_the_library(schema: dict[str, Any]):
    validator = jsonschema.Draft202012Validator(schema)
    assert [value for value in VALUES if not find_mismatch(schema, value)] == [
        value for value in VALUES if validator.is_valid(value)
    ]


def test_the_message_names_the_place():
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    assert find_mismatch(schema, {"a": [1, "x"]}) == 'the answer.a[1] must be a whole number, not "x"'
