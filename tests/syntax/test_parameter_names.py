"""The places of a parameter in its function, in functions that stand behind their names, too."""

import pytest

from lsp_harness.errors import NoAnswer
from lsp_harness.syntax.names.parameter_names import find_local_uses
from tests.syntax.markup import parse_tree


def find_uses(path: str, source: str, function: str, name: str) -> list[str]:
    """Return the lines, from 1, and columns of the uses of a parameter."""
    tree = parse_tree(path, source)
    spans = find_local_uses(tree, source.index(function), name, "other")
    return [f"{source[: span.start].count(chr(10)) + 1}:{source[span.start : span.end]}" for span in spans]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.ts", "export const area = (r: number) => {\n  return r * r\n}\nconst r = 1\n"),
        ("a.js", "const area = function (r) {\n  return r * r\n}\nconst r = 1\n"),
        ("a.ts", "class A {\n  area = (r: number) => r * r\n  r = 1\n}\n"),
    ],
)
def test_the_function_behind_a_name_has_its_parameters(path: str, source: str):
    uses = find_uses(path, source, "area", "r")
    assert len(uses) == 3
    assert {use.partition(":")[2] for use in uses} == {"r"}
    assert "4:r" not in uses


def test_the_function_around_a_value_is_not_meant():
    source = "function outer(r) {\n  const area = (r) => r\n  const two = 2\n  return r\n}\n"
    assert find_uses("a.js", source, "area", "r") == ["2:r", "2:r"]
    with pytest.raises(NoAnswer, match="no function"):
        find_uses("b.js", "const two = 2\n", "two", "r")
