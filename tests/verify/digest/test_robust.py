"""Tests that each text has a digest."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.verify.digest.digest import READERS_BY_TOOL, digest_output
from lsp_harness.verify.digest.digest_result import Digest
from tests.verify.digest.conftest import NAMES, digest_of_fixture, read_fixture

tools = st.sampled_from(["", *READERS_BY_TOOL])
SCRAPS = [
    *('{"a":', "[", '"', "\x1b[31m", "\r\n", "a.py:1:2: ", "E   ", "=== FAILURES ===\n", "___ a ___\n", "99999999999"),
    *("--- FAIL: T (0s)\n", "<testsuite>", "<testcase>", '{"Action":"fail","Package":1,"Test":[]}\n', "\ud800", "\0"),
    *('{"reason":"compiler-message","message":{"level":"error","message":"m","spans":[{"line_start":1e999}]}}\n',),
]


def check_digest(digest: Digest) -> None:
    for budget in (1, 3, 1000):
        lines = digest.lines(budget)
        assert 1 <= len(lines) <= budget
        assert all(line and "\n" not in line for line in lines)
    assert json.loads(json.dumps(digest.as_json()))["tool"] == digest.tool
    assert digest.tool or digest.note


@given(st.text(), tools)
def test_any_text_has_a_digest(text: str, tool: str):
    check_digest(digest_output(text, tool))


@given(st.lists(st.one_of(st.sampled_from(SCRAPS), st.text(max_size=5))).map("".join), tools)
def test_any_fragments_of_formats_have_a_digest(text: str, tool: str):
    check_digest(digest_output(text, tool))


@settings(max_examples=300)
@given(st.sampled_from(NAMES), st.floats(0, 1), st.floats(0, 1), st.sampled_from(["", *SCRAPS]))
def test_any_parts_of_outputs_have_a_digest(name: str, start: float, end: float, scrap: str):
    text = read_fixture(name)
    at = int(start * len(text))
    check_digest(digest_output(text[:at] + scrap + text[at + int(end * (len(text) - at)) :]))


@given(st.sampled_from([name for name in NAMES if name.endswith((".json", ".xml"))]), st.floats(0, 1))
def test_the_beginning_of_a_truncated_file_is_read(name: str, end: float):
    text = read_fixture(name)
    whole, digest = (
        digest_of_fixture(name),
        digest_output(text[: int(end * len(text))], name.split("-")[0].split(".")[0], "/project"),
    )
    places = {(p.message, p.path, p.line) for p in whole.problems}
    # the rule of the last may be what is missing
    assert {(p.message, p.path, p.line) for p in digest.problems if p.code != "summary"} <= places
    half = digest_output(text[: len(text) * 3 // 4], root="/project")
    if len(whole.problems) > 3:
        assert len(half.problems) >= 2
        assert half.is_truncated


def test_values_of_unexpected_types_are_survived():
    for row in (
        {"filename": "a", "location": 3, "message": "m"},
        {"filePath": "a", "messages": [{"message": "m", "line": "x", "severity": None}, 4, None]},
    ):
        check_digest(digest_output(json.dumps([row])))
        assert [p.message for p in digest_output(json.dumps([row])).problems] == ["m"]
    [problem] = digest_output(
        '{"generalDiagnostics": [{"message": "m", "range": {"start": {"line": true}}}, []]}'
    ).problems
    assert (problem.message, problem.column) == ("m", 1)


def test_a_file_that_defines_entities_is_not_read():
    bomb = '<!DOCTYPE t [<!ENTITY a "b">]><testsuite><testcase name="x"><failure message="&a;"/></testcase></testsuite>'
    assert digest_output(bomb).problems == ()


def test_a_very_long_output_has_a_digest():
    # what is quadratic does not end in time here
    many = "".join(f"a.py:{line}:1: F401 `m{line}` imported but unused\n" for line in range(1, 20_001))
    digest = digest_output(many)
    assert len(digest.problems) == 20_000
    assert digest.lines(2) == ["a.py:1:1: warning: `m1` imported but unused [F401]", "… and 19999 more: 19999 warnings"]
    for text in ("[" * 1_000_000, '{"a":' * 300_000, "a/" * 500_000, "__ a" + "_a" * 500_000, "1:" * 500_000):
        assert digest_output(text).problems == ()
