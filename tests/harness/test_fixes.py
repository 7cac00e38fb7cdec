"""Tests of the fix of a diagnostic in an open document."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.errors import BinaryDocument, NoAnswer, StaleDocument
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.kernel.results import FixOffer, Progress
from lsp_harness.text.edit import Edit, apply
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.bench import AREA, GOOD, Bench, Make, propose_fix
from tests.harness.tools import make_edit_settings, make_settings, read_checked_log, select_event_data
from tests.index.place import IndexedFolder
from tests.support.verification import wait_until_verified

pytestmark = pytest.mark.process


def log_of(b: Bench) -> Path:
    return b.harness.services.session.log.path


async def test_an_applied_proposal_is_logged_and_its_text_has_no_finding(bench: Make) -> None:
    b = bench(GOOD, config=make_edit_settings(1))
    src = b.open(AREA)
    proposal = await propose_fix(b, src)
    [edit] = proposal.edits
    b.harness.change(src.document.uri, edit, 2)
    b.harness.record(src.document.uri, proposal.id, "applied")
    await wait_until_verified()
    events = read_checked_log(log_of(b))
    assert events[-1].type == "edit.applied"
    assert events[-1].data == {"proposal": proposal.id}
    assert b.published == []
    b.harness.record(src.document.uri, proposal.id, "applied")
    b.harness.record(src.document.uri, "unknown", "applied")
    assert len(select_event_data(read_checked_log(log_of(b)), "edit.applied")) == 1


async def test_the_title_of_an_offer_is_one_line(bench: Make) -> None:
    b = bench(config=make_edit_settings(1))
    src = b.open(AREA)
    finding = Finding(0, 8, "Too complex\n\nhelp: split `area`", "linter", "X1")
    [offer] = await b.harness.fixes.offer(b.harness.snapshot(src.document.uri), [finding])
    assert offer.title == "Fix with lsp-harness: Too complex"


async def test_an_applied_fix_is_recognised_without_a_report_of_the_client(bench: Make) -> None:
    b = bench(GOOD, config=make_edit_settings(1))
    src = b.open(AREA)
    proposal = await propose_fix(b, src)
    cursor = b.type(src, "x", 0)
    b.harness.change(src.document.uri, Edit(0, cursor, b""), 3)
    assert select_event_data(read_checked_log(log_of(b)), "edit.applied") == []
    b.harness.change(src.document.uri, proposal.edits[0], 4)
    assert select_event_data(read_checked_log(log_of(b)), "edit.applied") == [{"proposal": proposal.id}]


async def test_a_later_change_of_a_fix_is_verified_again(bench: Make) -> None:
    b = bench(GOOD, config=make_edit_settings(1, verification={"debounce_ms": 0}))
    src = b.open(AREA)
    proposal = await propose_fix(b, src)
    b.harness.change(src.document.uri, proposal.edits[0], 2)
    end = b.harness.documents.get(src.document.uri).text.data.index(b" ** 2")
    b.type(src, " * tau", end)
    b.harness.record(src.document.uri, proposal.id, "applied")
    assert await b.next() == (3, [("F821", 2)])


async def test_a_document_that_changed_meanwhile_makes_the_fix_stale(bench: Make) -> None:
    b = bench(GOOD, config=make_edit_settings(1))
    src = b.open(AREA)

    def typing(progress: Progress) -> None:
        if progress.percentage == 0:
            b.type(src, "# typed\n", 0)

    snapshot = b.harness.snapshot(src.document.uri)
    with pytest.raises(StaleDocument, match="the document changed while the edit was computed; request it again"):
        await b.harness.fixes.fix(snapshot, FixOffer("", "model", src.finding), typing)
    events = read_checked_log(log_of(b))
    assert events[-1].type == "edit.stale"
    assert select_event_data(events, "edit.applied") == []


async def test_if_every_candidate_fails_the_text_stays(bench: Make) -> None:
    b = bench("return widht + 1", config=make_edit_settings(1))
    src = b.open(AREA)
    with pytest.raises(NoAnswer):
        await propose_fix(b, src)
    assert b.harness.documents.get(src.document.uri).text == src.document
    read_checked_log(log_of(b))


async def test_the_fix_of_the_linter_is_offered_first_and_needs_no_engine(bench: Make) -> None:
    b = bench()
    src = b.open("import os\n#      ^^ F401 `os` imported but unused\nx = 1\n")
    offers = await b.harness.fixes.offer(b.harness.snapshot(src.document.uri), src.findings)
    assert offers == [
        FixOffer("Fix with ruff (safe fix): Remove unused import: `os`", "linter", src.finding),
        FixOffer("Fix with lsp-harness: `os` imported but unused", "model", src.finding),
    ]
    proposal = await propose_fix(b, src, offers[0])
    assert apply(src.document.data, proposal.edits) == b"x = 1\n"
    assert proposal.verdict.passed
    assert b.engine.foreground_requests == []
    read_checked_log(log_of(b))


async def test_a_fix_that_the_linter_no_longer_offers_is_stale(bench: Make) -> None:
    b = bench()
    src = b.open("x = 1\n#^ F401 was never there\n")
    with pytest.raises(StaleDocument, match="no longer offers this fix"):
        await propose_fix(b, src, FixOffer("", "linter", src.finding))


async def test_a_failing_linter_offers_no_fix(bench: Make) -> None:
    b = bench(verifier=Verifier(CheckTools(Ruff())))
    (b.folder / "ruff.toml").write_text("nonsense = 1\n")
    src = b.open("import os\n#      ^^ F401 unused\n")
    offers = await b.harness.fixes.offer(b.harness.snapshot(src.document.uri), src.findings)
    assert [offer.source for offer in offers] == ["model"]


async def test_each_fix_is_one_turn_of_the_same_session(bench: Make) -> None:
    b = bench(GOOD, GOOD, config=make_edit_settings(1))
    src = b.open(AREA)
    await propose_fix(b, src)
    await propose_fix(b, src)
    events = read_checked_log(log_of(b))
    assert {event.turn for event in events} == {0, 1}
    assert {event.session_id for event in events} == {b.harness.services.session.log.id}


async def test_a_binary_is_not_fixed_and_not_diagnosed(bench: Make) -> None:
    b = bench()
    src = b.open("x\0\n")
    snapshot = b.harness.snapshot(src.document.uri)
    with pytest.raises(BinaryDocument):
        await b.harness.fixes.fix(snapshot, FixOffer("", "model", Finding(0, 1, "x")), lambda progress: None)
    with pytest.raises(BinaryDocument):
        await b.harness.fixes.diagnose(snapshot)


async def test_own_diagnostics_are_syntax_errors_or_findings_of_the_linter(bench: Make) -> None:
    b = bench()
    for name, text, expected in (
        ("a.py", "import os\n", ["F401"]),
        ("b.py", "import os\nx = = 1\n", ["syntax"]),
        ("c.js", "foo(1;\n", ["syntax"]),
        ("d.js", "foo(1);\n", []),
        ("e.txt", "foo(1;\n", []),
    ):
        src = b.open(text, name)
        snapshot = b.harness.snapshot(src.document.uri)
        report = await b.harness.fixes.diagnose(snapshot)
        assert [f.code for f in report.findings] == expected


async def test_a_name_that_other_files_import_is_imported_without_a_word_of_the_model(
    bench: Make, tmp_path: Path
) -> None:
    with closing(IndexedFolder(tmp_path, {"b.py": "from math import pi\n"})) as indexed:
        b = bench(config=make_settings(generation={"repairs": True}), index=ReadyIndex(indexed.query))
        src = b.open("def area(r):\n    return pi * r ** 2\n    #      ^^ F821 Undefined name `pi`\n")
        proposal = await propose_fix(b, src)
    assert apply(src.document.data, proposal.edits).startswith(b"from math import pi\n\n\ndef area(r):")
    assert proposal.verdict.passed
    assert b.engine.foreground_requests == []
    [made] = select_event_data(read_checked_log(log_of(b)), "candidate.generated")
    assert (made["kind"], made["text"]) == ("import", "from math import pi\n\n\n")
