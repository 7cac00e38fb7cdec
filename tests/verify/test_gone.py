"""The third gate: is the diagnostic the fix is for gone?"""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify import feedback
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.gone import GoneCheck
from lsp_harness.verify.ruff import Ruff
from tests.support import markup

BEFORE = """
    def area(r):
        return pi * r ** 2
        #      ^^ F821 Undefined name `pi`
    """


async def check(ruff: Ruff, before: str, after: str, project: Path, name: str = "a.py", **finding: Any) -> Outcome:
    source = markup.parse(before, project / name)
    reported = source.finding
    if finding:
        reported = Finding(reported.start, reported.end, **finding)
    change = Change.between(source.document, Document.of(source.document.uri, after), project / name, project)
    outcome = await GoneCheck(ruff, reported).run(change)
    return Outcome(outcome.check, outcome.status, outcome.findings, outcome.reason)


async def test_a_rule_that_says_nothing_any_more_passes(ruff: Ruff, project: Path) -> None:
    after = "from math import pi\n\n\ndef area(r):\n    return pi * r ** 2\n"
    assert await check(ruff, BEFORE, after, project) == Outcome("gone", "passed")


async def test_a_rule_that_still_says_it_fails_wherever_it_says_it_now(ruff: Ruff, project: Path) -> None:
    after = "# new\ndef area(r):\n    return r ** 2 * pi\n"
    outcome = await check(ruff, BEFORE, after, project)
    assert outcome.status == "failed"
    [finding] = outcome.findings
    assert after[finding.start : finding.end] == "pi"
    document = Document.of("file:///a.py", after)
    assert feedback.lines(outcome, document) == ["STILL THERE: F821 Undefined name `pi`"]


async def test_the_same_finding_elsewhere_does_not_count(ruff: Ruff, project: Path) -> None:
    other = "\n\ndef f():\n    return pi\n"
    before = "def area(r):\n    return pi\n    #      ^^ F821 Undefined name `pi`\n" + other
    assert (await check(ruff, before, "def area(r):\n    return 3\n" + other, project)).status == "passed"
    assert (await check(ruff, before, "def area(r):\n    return pi + 0\n" + other, project)).status == "failed"


async def test_a_rule_is_asked_even_if_the_project_does_not_use_it(ruff: Ruff, project: Path) -> None:
    (project / "ruff.toml").write_text('[lint]\nselect = ["E9"]\n')
    assert (await check(ruff, BEFORE, "def area(r):\n    return pi\n", project)).status == "failed"


async def test_another_server_s_diagnostic_is_gone_when_ours_at_its_place_is(ruff: Ruff, project: Path) -> None:
    told = {"message": '"pi" is not defined', "source": "Pyright", "code": "reportUndefinedVariable"}
    assert (await check(ruff, BEFORE, "def area(r):\n    return 3\n", project, **told)).status == "passed"
    assert (await check(ruff, BEFORE, "def area(r):\n    return 1 + pi\n", project, **told)).status == "failed"


async def test_what_only_its_own_tool_can_tell_is_skipped_and_says_so(ruff: Ruff, project: Path) -> None:
    before = "x: int = ''\n#        ^^ type\n"
    told = {"message": "wrong type", "source": "Pyright", "code": "reportAssignmentType"}
    reason = "only Pyright can say whether it is gone"
    assert await check(ruff, before, "x: int = 1\n", project, **told) == Outcome("gone", "skipped", reason=reason)
    reason = "only the tool that reported it can say whether it is gone"
    assert await check(ruff, before, "x: int = 1\n", project) == Outcome("gone", "skipped", reason=reason)


async def test_without_ruff_it_cannot_be_asked(no_ruff: Ruff, project: Path) -> None:
    outcome = await check(no_ruff, BEFORE, "def area(r):\n    return 3\n", project)
    assert outcome == Outcome("gone", "skipped", reason="only ruff can say whether it is gone")


@pytest.mark.parametrize("carets", ["//   ^", "// ^^", "//^^^"])
@pytest.mark.parametrize(("after", "status"), [("foo(1);\n", "passed"), ("foo(2;\n", "failed")])
async def test_a_syntax_error_of_another_language_is_asked_of_the_parser(
    ruff: Ruff, project: Path, after: str, status: str, carets: str
) -> None:
    outcome = await check(ruff, f"foo(1;\n{carets} ')' expected\n", after, project, "a.js")
    assert outcome.status == status
