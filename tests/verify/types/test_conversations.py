"""Tests of the three ways to ask a type checker: requests, published findings, and its own protocol."""

from pathlib import Path

import pytest

from lsp_harness.workspace.folder_stamps import ChangedFile
from tests.verify.types.conftest import Make
from tests.verify.types.desk import wait_for

pytestmark = pytest.mark.process


# -- a server that publishes findings
async def test_published_findings_of_the_right_version_count(make: Make):
    desk = make("push")
    await desk.warm()
    # what is published of an unknown or an earlier version says that all is wrong
    assert await desk.check("x = <|>\n", "right", "wrong", "right", "1") == ["passed", "failed", "passed", "passed"]
    assert await desk.check("<|>\n", "import absent") == ["failed"]
    desk.pool.forget_document(desk.cursor("").document.uri)
    assert await desk.check("x = <|>\n", "right", "wrong") == ["passed", "failed"]
    assert [row[0] for row in desk.rows("close")] == ["close"]


async def test_a_text_with_published_findings_is_answered_at_once(make: Make):
    desk = make("push")
    await desk.warm()
    assert await desk.check("<|>", "wrong") == ["failed"]
    # the answers are forgotten, but the server has this text and published its findings
    await desk.gate.check(desk.cursor("<|>"), ["wrong"])
    desk.session._answers.clear()
    assert await desk.check("<|>", "wrong", "") == ["failed", "passed"]


async def test_a_publishing_server_that_ends_is_noticed(make: Make):
    desk = make("push")
    await desk.warm()
    [outcome] = await desk.gate.check(desk.cursor("<|>"), ["crash"])
    assert (outcome.status, outcome.reason) == ("skipped", "the process has ended")


# -- tsserver
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n", "a\nb\n"),
        ("const a = '€𝒳';\nb\nc", "const a = '€𝒲';\nb\nc"),
        ("é", "è"),
        ("a\r\nb\r\n", "a\r\n\r\nb\r\n"),
        ("a\r\nb", "a\r\r\nb"),
        ("a", ""),
        ("", "a\n"),
        ("a\na\na\n", "a\na\n"),
    ],
)
async def test_tsserver_gets_the_changed_lines(make: Make, before: str, after: str):
    desk = make("tsserver")
    await desk.warm()
    for text in (before, after, before):
        await desk.session.find_findings(desk.cursor(text).document)
        desk.session._answers.clear()
    texts = [row[2] for row in desk.rows("open", "change")]
    assert texts[-2:] == [after, before]


async def test_tsserver_finds_errors_at_their_place(make: Make):
    desk = make("tsserver")
    await desk.warm()
    assert await desk.check("x = '€𝒳' + <|>\ny\n", "right", "wrong") == ["passed", "failed"]
    [outcome] = await desk.gate.check(desk.cursor("'€𝒳' + <|>"), ["wrong"])
    [finding] = outcome.findings
    assert finding.message == "Name 'wrong' is not defined"
    assert (finding.start, finding.end, finding.source) == (12, 17, "ty")
    # a suggestion of tsserver counts only in JavaScript
    assert await desk.check("<|>", "hint") == ["passed"]
    assert await desk.check("<|>", "hint", name="a.js") == ["failed"]
    [outcome] = await desk.gate.check(desk.cursor("<|>"), ["refuse"])
    assert (outcome.status, outcome.reason) == ("skipped", "it answered: Debug Failure.")


async def test_tsserver_learns_about_closed_documents(make: Make):
    desk = make("tsserver")
    await desk.warm()
    await desk.check("<|>", "a")
    desk.pool.record_file_changes([ChangedFile(Path("/elsewhere/b.py"), "changed")])
    desk.pool.forget_document(desk.cursor("").document.uri)
    await wait_for(lambda: bool(desk.rows("close")))
    assert [row[0] for row in desk.rows()] == ["request", "request", "open", "change", "close"]
