"""A suggestion that leaves a name unbound which the code below needs is replaced by one that binds the name."""

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.reply_source import find_binding_start
from lsp_harness.config.schema import Completion
from lsp_harness.inference.request import Infill
from lsp_harness.syntax.names.unbound_names import find_missing_names
from lsp_harness.syntax.tree import parse
from lsp_harness.workspace.cursor import Cursor
from tests.harness.tools import Script
from tests.support import markup
from tests.support.desk import Desk

LOOP = """\
def smallest_divisor(n):
    if n == 1:
        return 1
    <|>
        if n % divisor == 0:
            return divisor
    return n
"""
TOTAL = """\
def mean(values):
    <|>
    for value in values:
        total += value
    return total / len(values)
"""
PARAMETERS = """\
def find(
    values,
    <|>
    **options,
):
    return [value for value in values if value.key == key]
"""
DOCSTRING = """\
def outer(values):
    <|>
        '''Return the smallest value.'''
        return min(values, key=order)
    return inner
"""


def start_of(source: str, text: str, path: str = "a.py") -> str:
    """Return the start that `find_binding_start` finds after a suggestion."""
    place = markup.parse(source, path)
    tree = parse(place.document)
    assert tree
    missing = find_missing_names(tree, place.cursor)
    assert missing.names
    return find_binding_start(Cursor(place.document, tree, place.cursor, "a"), missing, text or None, text)


@pytest.mark.parametrize(
    ("source", "text", "start"),
    [
        (LOOP, "elif n % 2 == 0:", "for divisor in"),
        (LOOP, "for divisor in range(2, n):", ""),
        (TOTAL, "count = len(values)", "total ="),
        (TOTAL, "total = 0", ""),
        (TOTAL, "count = 0\n    total = 0", ""),
        # nothing to show
        (TOTAL, "", "total ="),
        (PARAMETERS, "other,", "key"),
        (PARAMETERS, "key: str,", ""),
        (PARAMETERS.replace("options", "options: str"), "other,", "key:"),
        (DOCSTRING, "x = 3", "def"),
        # a name that is called below is a function
        (LOOP.replace("return divisor", "return divisor()"), "elif n % 2 == 0:", "def divisor("),
        # the rest of a statement binds nothing more
        (TOTAL.replace("<|>", "count = <|>"), "len(values)", ""),
    ],
)
def test_the_start_binds_the_first_missing_name(source: str, text: str, start: str) -> None:
    assert start_of(source, text) == start


def test_the_start_has_the_indentation_of_the_suggestion() -> None:
    assert start_of(TOTAL.replace("    <|>\n", "<|>"), "    count = 0\n") == "    total ="


def test_other_languages_bind_names_in_their_own_way() -> None:
    source = "function mean(values) {\n  <|>\n  for (const v of values) { total.add(v); }\n  return total;\n}\n"
    assert start_of(source, "console.log(values);", "a.js") == "const total ="
    loop = "function f(values) {\n  let sum = 0;\n  <|>\n    sum += value.size;\n  }\n  return sum;\n}\n"
    assert start_of(loop, "if (sum > 3) {", "a.js") == "for (const value of"


def make_desk(source: str, *replies: str) -> tuple[Script, Desk, tuple[object, ...]]:
    place = markup.parse(source)
    engine = Script(*replies)
    return engine, Desk(Completer(engine, Completion())), (place.document, parse(place.document), place.cursor, "a.py")


async def test_the_model_continues_a_statement_that_binds_the_name() -> None:
    engine, completer, place = make_desk(LOOP, "elif n % 2 == 0:\n", " range(2, n):\n")
    suggestion = await completer.complete(*place)  # type: ignore[arg-type]
    assert suggestion
    assert suggestion.text.rstrip() == "for divisor in range(2, n):"
    first, second = (request for request in engine.foreground_requests if isinstance(request, Infill))
    assert second.context.prefix == first.context.prefix + "for divisor in"
    assert second.context.suffix == first.context.suffix


async def test_a_text_that_does_not_fit_after_the_start_leaves_the_first_suggestion() -> None:
    _, completer, place = make_desk(LOOP, "elif n % 2 == 0:\n", " )](\n")
    suggestion = await completer.complete(*place)  # type: ignore[arg-type]
    assert suggestion
    assert suggestion.text.rstrip() == "elif n % 2 == 0:"


async def test_a_suggestion_that_binds_the_name_is_not_generated_again() -> None:
    engine, completer, place = make_desk(LOOP, "for divisor in range(2, n):\n")
    assert await completer.complete(*place)  # type: ignore[arg-type]
    assert len(engine.foreground_requests) == 1


async def test_several_missing_parameters_may_be_on_lines_of_their_own() -> None:
    source = (
        "def find(\n    values: list,\n    <|>\n):\n    return [v for v in values if v.key == key and v.age < age]\n"
    )
    _, completer, place = make_desk(source, "key: str,\n    age: int,\n")
    suggestion = await completer.complete(*place)  # type: ignore[arg-type]
    assert suggestion
    assert suggestion.text.rstrip() == "key: str,\n    age: int,"
