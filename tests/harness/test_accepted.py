"""Findings about edits that the user accepted: for which version they hold, and until when."""

import asyncio
from pathlib import Path

import pytest

from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.kernel.projections.summary import summarize
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.verify.ruff_linter import Ruff, RuffReport
from tests.harness.bench import QUICK, Bench, BlockedRuff, Make, accept
from tests.harness.tools import make_settings
from tests.support import markup
from tests.support.verification import wait_until_verified

pytestmark = pytest.mark.process


async def test_a_finding_of_an_accepted_completion_is_published_and_later_cleared(
    bench: Make,
) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    assert await b.next() == (2, [("F821", 1)])
    published = b.harness.verification.findings(b.harness.documents.get(src.document.uri).text)
    assert (published.version, [f.code for f in published.findings]) == (2, ["F821"])
    assert published.accepted == (src.cursor, src.cursor + len("pi * r ** 2"))
    assert "LINT: F821" in b.harness.turns.verdict(published.verdict)
    b.type(src, "from math import pi\n", 0)
    assert b.harness.verification.findings(b.harness.documents.get(src.document.uri).text) == PublishedFindings(3)
    told = [event for events in b.harness.services.session.log.turns.values() for event in events]
    assert [path for path, _ in summarize(told).open] == ["a.py"]
    assert await b.next() == (3, [])
    assert b.published == [(2, [("F821", 1)]), (3, [])]
    # the session knows that it is mended
    assert summarize(event for events in b.harness.services.session.log.turns.values() for event in events).open == ()


async def test_files_of_one_name_are_two_files_in_the_session(bench: Make) -> None:
    b = bench("pi * r ** 2", "pi * r ** 2")
    first, second = (b.open("def area(r):\n    return <|>\n", f"{name}/__init__.py") for name in "ab")
    for src in (first, second):
        await accept(b, src)
        await b.next()
    assert [path for path, _ in b.harness.services.session.log.summary.open] == ["b/__init__.py", "a/__init__.py"]
    b.type(second, "from math import pi\n", 0)
    await b.next()
    assert [path for path, _ in b.harness.services.session.log.summary.open] == ["a/__init__.py"]


async def test_an_accepted_fix_clears_the_finding_in_its_file(bench: Make) -> None:
    b = bench("raduis ** 2", "return radius ** 2", config=make_settings(QUICK, generation={"candidates": 1}))
    src = b.open("def area(radius):\n    return <|>\n", "src/a.py")
    await accept(b, src)
    await b.next()
    assert [path for path, _ in b.harness.services.session.log.summary.open] == ["src/a.py"]
    snapshot = b.harness.snapshot(src.document.uri)
    [offer] = await b.harness.fixes.offer(snapshot, b.harness.verification.findings(snapshot.document).findings)
    proposal = await b.harness.fixes.fix(snapshot, offer, lambda progress: None)
    [edit] = proposal.edits
    b.harness.change(src.document.uri, edit, snapshot.document.version + 1)
    assert b.harness.services.session.log.summary.open == ()
    await b.next()


async def test_an_acceptance_is_recognised_by_its_edit(bench: Make) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    [suggestion] = await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor)
    b.type(src, suggestion.text, suggestion.start)
    assert await b.next() == (2, [("F821", 1)])


async def test_a_completion_that_is_accepted_during_the_next_request_is_verified(bench: Make) -> None:
    b = bench("pi * r ** 2", "tau * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    uri = src.document.uri
    [first] = await b.harness.completions.complete(b.harness.snapshot(uri), src.cursor)
    offset = b.type(src, "2 * ", src.cursor)
    [second] = await b.harness.completions.complete(b.harness.snapshot(uri), offset)
    assert (first.text, second.text) == ("pi * r ** 2", "tau * r ** 2")
    # the editor put in what it showed, in place of what was typed
    b.harness.change(uri, Edit(src.cursor, offset, encode(first.text)), 3)
    b.harness.record(uri, first.id, "accepted")
    assert await b.next() == (3, [("F821", 1)])


async def test_a_finding_moves_with_the_text_until_it_is_fixed(bench: Make) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await b.next()
    b.type(src, "# more\n", 0)
    assert await b.next() == (3, [("F821", 2)])


async def test_earlier_findings_are_not_blamed_on_the_completion(bench: Make) -> None:
    b = bench("3 * r ** 2")
    src = b.open("import os\n\n\ndef area(r):\n    return <|>\n")
    await accept(b, src)
    await wait_until_verified()
    assert b.published == []


async def start_blocked_verification(bench: Make) -> tuple[Bench, markup.Source, BlockedRuff]:
    """Return a bench with an accepted completion whose verification waits for the test."""
    ruff = BlockedRuff()
    b = bench("pi * r ** 2", verifier=Verifier(CheckTools(ruff)))
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await ruff.asked.wait()
    return b, src, ruff


async def test_a_verification_that_is_overtaken_is_never_published(bench: Make) -> None:
    b, src, ruff = await start_blocked_verification(bench)
    for _ in range(7):
        b.type(src, "\n", 0)
    ruff.go.set()
    assert await b.next() == (9, [("F821", 8)])
    await wait_until_verified()
    assert b.published == [(9, [("F821", 8)])]


async def test_a_result_for_an_older_version_is_dropped(bench: Make) -> None:
    b, src, ruff = await start_blocked_verification(bench)
    # behind the watch's back, so that nothing cancels what is under way
    b.harness.documents.get(src.document.uri).edit(Edit(0, 0, b"\n"), 3)
    ruff.go.set()
    await wait_until_verified()
    assert b.published == []


class UncancellableCheck(Ruff):
    """A check that continues after its cancellation until the test releases it, like a tool that is starting."""

    def __init__(self) -> None:
        super().__init__()
        self.checks: list[asyncio.Event] = []
        self.asked = asyncio.Event()
        self.ended = asyncio.Event()

    async def check(
        self, document: Document, file: Path, root: Path | None, *, select: str = "", isolated: bool = False
    ) -> tuple[RuffReport, ...]:
        go = asyncio.Event()
        self.checks.append(go)
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            await go.wait()
            self.ended.set()
        return ()


async def test_the_end_waits_for_the_tools_of_overtaken_verifications_too(bench: Make) -> None:
    """A loop that is closed while a process starts would wait for the process for ever."""
    slow = UncancellableCheck()
    b = bench("pi * r ** 2", verifier=Verifier(CheckTools(slow)))
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await slow.asked.wait()
    slow.asked.clear()
    b.type(src, "\n", 0)
    await slow.asked.wait()

    closing = asyncio.ensure_future(b.harness.aclose())
    first, second = slow.checks
    second.set()
    await slow.ended.wait()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not closing.done()
    first.set()
    await closing


async def test_closing_a_document_clears_its_findings(bench: Make) -> None:
    b = bench("pi * r ** 2")
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await b.next()
    b.harness.close(src.document.uri)
    assert b.published[-1] == (2, [])
    assert b.harness.verification.findings(src.document) == PublishedFindings(src.document.version)


async def test_closing_a_document_during_its_verification_publishes_no_finding(bench: Make) -> None:
    b, src, ruff = await start_blocked_verification(bench)
    b.harness.close(src.document.uri)
    ruff.go.set()
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
    assert b.published == []


async def test_without_checks_no_finding_is_published(bench: Make) -> None:
    off = make_settings(QUICK, verification={"lint": False})
    b = bench("pi * r ** 2", config=off)
    src = b.open("def area(r):\n    return <|>\n")
    await accept(b, src)
    await wait_until_verified()
    assert b.published == []


async def test_an_unknown_suggestion_starts_no_verification(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n")
    b.harness.record(src.document.uri, "unknown", "accepted")
    b.harness.record("file:///nowhere.py", "unknown", "accepted")
    assert b.harness.verification.findings(b.harness.documents.get(src.document.uri).text) == PublishedFindings(1)
