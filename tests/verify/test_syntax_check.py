"""Tests of the syntax check: new errors fail, and old errors do not."""

import threading
from pathlib import Path

import pytest

from lsp_harness.process.offload import SHORT_TEXT_BYTES
from lsp_harness.syntax.parse_budget import Allowance
from lsp_harness.syntax.tree import SyntaxTree, parse_within
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, line_edits
from lsp_harness.verify import change as change_module
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import Check
from lsp_harness.verify.checks import SyntaxCheck
from lsp_harness.verify.current_findings import examine_text
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.preservation.preservation_check import PreservationCheck
from lsp_harness.verify.ruff_linter import Ruff
from tests.verify.single_change import check_change


async def check(path: str, before: str, after: str) -> tuple[str, list[str]]:
    """Return the status and the feedback lines of the check."""
    old = Document.from_text(f"file:///{path}", before)
    change = Change.from_edits(old, line_edits(old.data, after.encode()), Path(f"/{path}"))
    outcome = await check_change(SyntaxCheck(), change)
    assert outcome.check == "syntax"
    return outcome.status, list(outcome.lines)


async def test_a_new_error_is_reported_with_its_line() -> None:
    body = "x = 1\n" * 11
    assert await check("a.py", body + "y = 2\n", body + "    y = 2\n") == (
        "failed",
        ["SYNTAX ERROR at line 12: unexpected indent"],
    )


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = = 1\ny = 2\n", "x = = 1\ny = 3\n"),
        ("a.py", "x = = 1\ny = 2\n", "import os\nx = = 1\ny = 2\n"),
        ("a.js", "foo(1;\nbar()\n", "foo(1;\nbar(2)\n"),
        ("a.go", "package a\nfunc f( {\n}\n", "package a\nfunc f( {\n}\nfunc g() {}\n"),
        ("a.py", "x = 1\n", "x = 2\n"),
    ],
)
async def test_an_old_error_of_a_file_is_not_blamed_on_an_edit(path: str, before: str, after: str) -> None:
    assert await check(path, before, after) == ("passed", [])


async def test_a_second_error_in_a_broken_file_fails() -> None:
    status, lines = await check("a.py", "x = = 1\ny = 3\n", "x = = 1\ny = = 3\n")
    assert (status, lines) == ("failed", ["SYNTAX ERROR at line 2: unexpected `=`"])


async def test_repairing_an_error_passes() -> None:
    assert await check("a.js", "foo(1;\n", "foo(1);\n") == ("passed", [])


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [("a.unknown", "x", "no grammar for .unknown"), ("noend", "x", "no grammar for this text"), ("a.py", "\0", "")],
)
async def test_a_text_that_cannot_be_parsed_is_skipped_with_a_reason(path: str, text: str, reason: str) -> None:
    old = Document.from_text(f"file:///{path}", text)
    outcome = await check_change(
        SyntaxCheck(), Change.from_documents(old, Document.from_text(old.uri, text + "y"), Path(f"/{path}"))
    )
    assert outcome.status == "skipped"
    assert outcome.reason.startswith(reason or "no grammar for")
    assert outcome == Outcome("syntax", "skipped", reason=outcome.reason)


DEEP = "x = " + "(" * 20_000 + "1" + ")" * 20_000 + "\n"


async def test_a_text_that_can_no_longer_be_parsed_fails() -> None:
    old = Document.from_text("file:///a.py", "x = 1\n")
    change = Change.from_documents(old, Document.from_text(old.uri, DEEP), Path("/a.py"))
    outcome = await check_change(SyntaxCheck(), change)
    assert outcome.status == "failed"
    [finding] = outcome.findings
    assert finding.message.startswith("the new text has no syntax tree: ")
    assert change.tree_before
    assert not change.parse_failure_before


async def test_a_text_that_could_not_be_parsed_before_is_skipped() -> None:
    old = Document.from_text("file:///a.py", DEEP)
    change = Change.from_documents(old, Document.from_text(old.uri, "x = 1\n"), Path("/a.py"))
    outcome = await check_change(SyntaxCheck(), change)
    assert outcome.status == "skipped"
    assert outcome.reason.startswith("the text has no syntax tree: ")


@pytest.mark.parametrize(("lines", "beside"), [(1, False), (SHORT_TEXT_BYTES // 6 + 1, True)])
@pytest.mark.parametrize("checking", [SyntaxCheck(), PreservationCheck()])
async def test_checks_parse_long_texts_beside_the_event_loop(
    checking: Check, monkeypatch: pytest.MonkeyPatch, lines: int, beside: bool
) -> None:
    threads: list[int] = []

    def recorded(document: Document, allowance: Allowance) -> SyntaxTree | None:
        threads.append(threading.get_ident())
        return parse_within(document, allowance)

    monkeypatch.setattr(change_module, "parse_within", recorded)
    old = Document.from_text("file:///a.py", "x = 1\n" * lines)
    outcome = await check_change(checking, Change.from_edits(old, [Edit(4, 5, b"2")], Path("/a.py")))
    assert outcome.status != "failed"
    assert len(threads) == 2
    assert (threading.get_ident() not in threads) == beside


async def test_an_examination_says_why_there_is_no_tree() -> None:
    ruff = Ruff()
    deep, unknown = Document.from_text("file:///a.py", DEEP), Document.from_text("file:///a.unknown", "x")
    [reason] = (await examine_text(deep, None, ruff, Path("/a.py"), None)).skip_reasons
    assert reason.startswith("a.py has no syntax tree: ")
    assert (await examine_text(unknown, None, ruff, Path("/a.unknown"), None)).skip_reasons == (
        "there is no grammar for a.unknown",
    )
