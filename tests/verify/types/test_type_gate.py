"""The type gate with a fake type checker: which findings count, and what becomes of checkers that fail."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.types import checker_session
from lsp_harness.workspace.folder_stamps import ChangedFile
from tests.verify.types.conftest import Make
from tests.verify.types.desk import Desk, wait_for


@pytest.mark.parametrize(
    ("marked", "text", "status"),
    [
        ("x = <|>\n", "right", "passed"),
        ("x = <|>\n", "wrong", "failed"),
        ("é = <|>\n", "wrong", "failed"),
        ("x = <|>\ny = wrong\n", "1", "passed"),  # elsewhere
        ("x = wrong + <|>\n", "1", "passed"),  # an old one
        ("x = wrong + <|>\n", "wrong", "failed"),  # once more
        ("x = wro<|>\n", "ng", "failed"),  # completed by the candidate
        ("x = wrong<|>\n", "ly", "failed"),  # another name than before
        ("x = call(<|>\n", "a", "passed"),  # the user may type the other arguments
        ("x = call(<|>\n", ")", "failed"),
        ("x = call(<|>)\n", " ", "passed"),
        ("<|>\n", "import absent", "failed"),
        ("import absent\n<|>\n", "import absent_2", "passed"),  # the environment is not known
    ],
)
async def test_a_new_finding_of_a_counting_rule_in_the_suggestion_fails_it(
    desk: Desk, marked: str, text: str, status: str
):
    assert await desk.check(marked, text) == [status]


async def test_a_failed_text_says_why_in_one_line(desk: Desk):
    [outcome] = await desk.gate.check(desk.cursor("x = <|>\n"), ["wrong"])
    assert [finding.message for finding in outcome.findings] == ["Name `wrong` is not defined"]
    assert (outcome.findings[0].start, outcome.findings[0].end, outcome.findings[0].source) == (4, 9, "ty")


async def test_an_error_at_the_end_of_a_cut_text_does_not_count(desk: Desk):
    assert await desk.check("<|>\n", "x = wrong", "wrong = 1", is_cut=True) == ["passed", "failed"]


async def test_several_texts_are_checked_one_by_one(desk: Desk):
    assert await desk.check("<|>\n", "a", "wrong", "b") == ["passed", "failed", "passed"]


# -- when there is no answer
async def test_texts_are_skipped_until_the_checker_is_ready(make: Make):
    desk = make()
    [outcome] = await desk.gate.check(desk.cursor("<|>"), ["wrong"])
    assert (outcome.status, outcome.reason) == ("skipped", "ty is starting")
    await desk.wait_until("ready")
    assert await desk.check("<|>", "wrong") == ["failed"]


async def test_a_late_answer_is_skipped_and_kept_for_the_next_time(make: Make):
    desk = make(type_gate_ms=100)
    await desk.warm()
    cursor = desk.cursor("<|>\n")
    [outcome] = await desk.gate.check(cursor, ["slow = wrong"])
    assert (outcome.status, outcome.reason) == ("skipped", "ty did not answer in time")
    desk.release()
    await wait_for(lambda: not desk.session.is_busy)
    # both texts are known now, or answered at once
    desk.config = make().config
    changes = len(desk.rows("change"))
    assert await desk.check("<|>\n", "slow = wrong") == ["failed"]
    assert [row[3] for row in desk.rows("change")[changes:]] in ([], ["\n"])


async def test_texts_do_not_pile_up_at_a_slow_checker(make: Make):
    desk = make(type_gate_ms=1)
    await desk.warm()
    outcomes = [await desk.check("<|>\n", f"slow_{number}") for number in range(6)]
    assert outcomes == [["skipped"]] * 6
    assert len(desk.session._tasks) == checker_session.MAX_WAITING_TEXTS + 1


async def test_a_checker_that_is_missing_is_named(make: Make):
    desk = make()
    desk.checker.is_installed = False
    await desk.check("<|>", "wrong")
    await desk.wait_until("missing")
    [outcome] = await desk.gate.check(desk.cursor("<|>"), ["wrong"])
    assert (outcome.status, outcome.reason) == ("skipped", "ty is not installed (install fake)")
    # it is not searched at every key, but later
    desk.checker.is_installed = True
    assert await desk.check("<|>", "wrong") == ["skipped"]
    assert desk.pool.state()[0]["state"] == "missing"
    desk.session._next_start_s = 0.0
    await desk.check("<|>", "wrong")
    await desk.wait_until("ready")


async def test_no_checker_is_started_without_trust_or_against_the_settings(make: Make):
    untrusted, off, desk = make(is_trusted=False), make(type_gate=False), make()
    assert await untrusted.check("<|>", "wrong") == ["skipped"]
    assert await off.check("<|>", "wrong") == ["skipped"]
    outcomes = [
        *await desk.gate.check(desk.cursor("<|>", language="cobol"), ["wrong"]),
        *await desk.gate.check(desk.cursor("<|>", name="../b.py"), ["wrong"]),
        *await desk.gate.check(desk.cursor("#" * 600_000 + "<|>"), ["wrong"]),
    ]
    assert [outcome.reason for outcome in outcomes] == [
        "no type checker is known for cobol",
        "the file is in no workspace folder",
        "the text is too large",
    ]
    for one in (untrusted, off, desk):
        one.gate.prepare(one.cursor("", name="../b.py").document)
        assert one.pool.state() == []
    await asyncio.sleep(0.1)
    assert desk.rows() == []


# -- processes
async def test_a_checker_that_crashes_is_restarted_some_times(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checker_session, "RESTART_PAUSE_S", 0.0)
    desk = make()
    for _ in range(checker_session.MAX_RESTARTS + 1):
        await desk.warm()
        assert await desk.check("<|>", "crash") == ["skipped"]
    assert await desk.check("<|>", "right") == ["skipped"]
    [state] = desk.pool.state()
    assert state["state"] == "failed"
    assert "ty failed: it ended" in state["reason"]
    assert "it is not started again" in state["reason"]
    assert await desk.check("<|>", "right") == ["skipped"]
    assert len(desk.rows("start")) == checker_session.MAX_RESTARTS + 1


async def test_a_restart_waits(make: Make):
    desk = make()
    await desk.warm()
    await desk.check("<|>", "crash")
    assert await desk.check("<|>", "right") == ["skipped"]
    assert desk.pool.state()[0]["state"] == "off"
    await asyncio.sleep(0.05)
    assert len(desk.rows("start")) == 1


async def test_a_checker_that_does_not_start_says_why(make: Make):
    desk = make("broken")
    desk.gate.prepare(desk.cursor("").document)
    await desk.wait_until("off")
    assert "ty failed: it did not start" in desk.pool.state()[0]["reason"]


async def test_a_stuck_checker_is_ended(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checker_session, "ANSWER_LIMIT_S", 0.2)
    desk = make()
    await desk.warm()
    assert await desk.check("<|>", "stuck") == ["skipped"]
    await desk.wait_until("off")
    assert desk.pool.state()[0]["reason"] == "ty failed: it did not answer"


async def test_requests_of_the_checker_are_answered(desk: Desk):
    await wait_for(lambda: len(desk.rows("answer")) == 3)
    assert desk.rows("start", "answer") == [
        ["start", {"python": ""}],
        ["answer", "a", [{"python": ""}]],
        ["answer", 1, None],
        ["answer", 2, None],
    ]


async def test_no_process_is_left(make: Make, tmp_path: Path):
    desk = make()
    await desk.warm()
    children = list[psutil.Process]()
    for child in psutil.Process(os.getpid()).children():
        # a process of another test may have ended a moment ago
        with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
            if str(tmp_path) in " ".join(child.cmdline()):
                children.append(child)
    assert len(children) == 1
    await desk.pool.aclose()
    assert not children[0].is_running()


# -- documents
async def test_each_candidate_becomes_a_new_version_of_the_document(desk: Desk):
    await desk.check("a\n<|>", "b", "c")
    assert desk.rows("open", "change") == [
        ["open", "a.py", 1, ""],
        ["change", "a.py", 2, "a\nb"],
        ["change", "a.py", 3, "a\nc"],
    ]


async def test_the_same_text_is_not_checked_twice(desk: Desk):
    await desk.check("<|>", "a")
    await desk.check("<|>", "a")
    assert len(desk.rows("change")) == 1
    desk.pool.record_file_changes([ChangedFile(Path("/elsewhere/b.py"), "changed")])
    await desk.check("<|>", "b", "a")
    assert [row[1:] for row in desk.rows("change", "watched")] == [
        ["a.py", 2, "a"],
        [["b.py"]],
        ["a.py", 3, "b"],
        ["a.py", 4, "a"],
    ]


async def test_other_documents_are_sent_as_in_the_editor(desk: Desk):
    text = desk.cursor("1\n<|>").document
    desk.open_texts = [text, Document.from_text("file:///elsewhere/b.py", "2", language="python")]
    await desk.check("1\n<|>", "2")
    await desk.check("<|>", "3", name="c.py")
    # the candidate is not in the text any more
    assert desk.rows("open", "change")[1:] == [
        ["change", "a.py", 2, "1\n2"],
        ["change", "a.py", 3, "1\n"],
        ["open", "c.py", 1, "3"],
    ]
    desk.pool.forget_document(text.uri)
    desk.open_texts = []
    await desk.check("1\n<|>", "2")
    assert desk.rows("open", "change", "close")[-3:] == [
        ["close", "a.py"],
        # the text of an earlier candidate, in a document that is not open
        ["close", "c.py"],
        ["open", "a.py", 1, "1\n2"],
    ]


async def test_a_text_is_looked_at_while_the_model_writes(desk: Desk):
    desk.gate.prepare(desk.cursor("x = wrong + <|>").document)
    await wait_for(lambda: bool(desk.rows("change")) and not desk.session.is_busy)
    await desk.check("x = wrong + <|>", "1")
    assert [row[3] for row in desk.rows("change")] == ["x = wrong + ", "x = wrong + 1"]
