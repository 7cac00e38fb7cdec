"""Tests of a fix, from a diagnostic to a verified edit: the winning candidate, the progress and the log."""

import asyncio
from pathlib import Path

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import NEXT_STATES
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.errors import EngineError, NoAnswer
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.text.edit import Edit
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from tests.coding.conftest import AREA, BROKEN, FIXED, GOOD, NEW, STILL, make_edit_settings
from tests.harness.tools import (
    Script,
    find_proposed_candidate,
    list_entered_states,
    read_checked_log,
    select_event_data,
)
from tests.support import markup

pytestmark = pytest.mark.process


# -- who wins
async def test_the_only_candidate_that_passes_wins_and_the_log_says_which(check) -> None:
    result = await check(AREA, STILL, NEW, GOOD, config=make_edit_settings(3))
    assert result.text == FIXED
    assert find_proposed_candidate(result.events) == 3
    assert result.proposal.summary == "candidate 3 of 3 passes (parse ✓, kept ✓, lint ✓, gone ✓)"
    assert list_entered_states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE"]
    await result.engine.aclose()


async def test_the_passing_candidate_with_the_shorter_diff_wins(check) -> None:
    result = await check(AREA, "return bool(width is None)", GOOD, config=make_edit_settings(2))
    assert (find_proposed_candidate(result.events), result.text) == (2, FIXED)


async def test_fewer_changed_tokens_win_over_a_shorter_diff(check) -> None:
    # of three tokens and the shorter line, against two tokens
    result = await check(AREA, "return not width", GOOD, config=make_edit_settings(2, verification={"kept": False}))
    passed = {data["candidate"] for data in select_event_data(result.events, "verify.completed") if data["passed"]}
    assert passed == {1, 2}
    assert (find_proposed_candidate(result.events), result.text) == (2, FIXED)


async def test_the_first_of_two_equally_long_candidates_wins(check) -> None:
    result = await check(AREA, GOOD, "return width in None", config=make_edit_settings(2))
    assert (find_proposed_candidate(result.events), result.text) == (1, FIXED)


async def test_the_proposal_is_the_verified_bytes(check) -> None:
    result = await check(AREA, GOOD, config=make_edit_settings(1))
    proposal = result.proposal
    [event] = [event for event in result.events if event.type == "edit.proposed"]
    assert (proposal.id, proposal.verdict.hash, proposal.diff) == (event.id, event.data["hash"], event.data["diff"])
    assert proposal.verdict.passed
    assert "-    return width == None\n+    return width is None\n" in proposal.diff


async def test_the_same_text_twice_is_judged_once(check) -> None:
    result = await check(AREA, STILL, STILL, STILL, config=make_edit_settings(3))
    assert [data["candidate"] for data in select_event_data(result.events, "verify.completed")] == [1]
    reasons = [(data["candidate"], data["reason"]) for data in select_event_data(result.events, "candidate.rejected")]
    assert reasons == [
        (1, "STILL THERE: E711 Comparison to `None` should be `cond is None`"),
        (2, "the same as candidate 1"),
        (3, "the same as candidate 1"),
    ]


async def test_an_empty_or_unchanged_answer_is_rejected_unjudged(check) -> None:
    result = await check(AREA, "return width == None", "", "# gone", config=make_edit_settings(3))
    assert select_event_data(result.events, "verify.completed") == []
    assert [data["reason"] for data in select_event_data(result.events, "candidate.rejected")] == [
        "it changes nothing",
        "nothing usable was generated",
        "nothing usable was generated",
    ]


# -- progress
async def test_progress_goes_up_and_ends_at_a_hundred(check) -> None:
    result = await check(AREA, STILL, NEW, GOOD, config=make_edit_settings(3))
    percentages = [progress.percentage for progress in result.progress]
    assert percentages == sorted(percentages)
    assert percentages[-1] == 100
    assert result.progress[0].message == "candidate 1 of at most 3: fill"


# -- gates by settings
async def test_a_check_that_is_switched_off_is_not_run(check) -> None:
    for verification, names in (
        ({"lint": False}, ["syntax", "kept"]),
        ({"parse_check": False}, ["kept", "lint", "gone"]),
        ({"kept": False}, ["syntax", "lint", "gone"]),
        ({}, ["syntax", "kept", "lint", "gone"]),
    ):
        result = await check(AREA, GOOD, config=make_edit_settings(1, verification=verification))
        [verified] = select_event_data(result.events, "verify.completed")
        assert [outcome["check"] for outcome in verified["outcomes"]] == names


async def test_without_any_check_no_fix_is_proposed(check) -> None:
    result = await check(
        AREA, GOOD, config=make_edit_settings(1, verification={"lint": False, "parse_check": False, "kept": False})
    )
    assert isinstance(result.error, NoAnswer)
    assert [data["reason"] for data in select_event_data(result.events, "candidate.rejected")] == ["no check could run"]


async def test_skipped_checks_are_in_the_log_with_their_reason(check) -> None:
    source = "function f() {\n  return widht;\n  //     ^^^^^ undefined\n}\n"
    result = await check(source, "return width;", config=make_edit_settings(1), name="a.js")
    [verified] = select_event_data(result.events, "verify.completed")
    assert [(o["check"], o["status"], o["reason"]) for o in verified["outcomes"]] == [
        ("syntax", "passed", ""),
        ("kept", "passed", ""),
        ("lint", "skipped", "no linter is known for .js"),
        ("gone", "skipped", "only the tool that reported it can say whether it is gone"),
    ]
    # nothing says that the fault is gone, so nobody says that the fix passes
    assert result.proposal.summary == (
        "candidate 1 of 1: form ✓, behaviour not checked (parse ✓, kept ✓, lint – (no linter is known for .js), "
        "gone – (only the tool that reported it can say whether it is gone))"
    )


# -- the linter's own fix
async def test_the_fix_of_the_linter_is_verified(check) -> None:
    source = "import os\n#      ^^ F401 `os` imported but unused\nx = 1\n"
    result = await check(source, config=make_edit_settings(1), given=(Edit(0, 10, b""),))
    assert result.text == "x = 1\n"
    assert list_entered_states(result.events) == ["UNDERSTAND", "VERIFY", "COMPLETE"]
    assert find_proposed_candidate(result.events) == 0
    assert result.engine.foreground_requests == []


async def test_a_harmful_fix_of_the_linter_is_not_proposed(check) -> None:
    source = "import os\n#      ^^ F401 `os` imported but unused\nx = os\n"
    result = await check(source, config=make_edit_settings(1), given=(Edit(0, 10, b""),))
    assert str(result.error) == "The linter's own fix does not pass the checks here; nothing was changed"
    assert list_entered_states(result.events) == ["UNDERSTAND", "VERIFY", "FAILED"]


# -- ends
async def test_a_diagnostic_without_code_or_grammar_gets_no_fix(check) -> None:
    for source, name, said in (
        ("x = 1\n\n#^ nothing here\n", "a.py", "There is no code at this diagnostic, only blank space"),
        ("words\n# ^^ spelling\n", "a.txt", "There is no grammar for a.txt"),
    ):
        result = await check(source, config=make_edit_settings(1), name=name)
        assert str(result.error).startswith(said)
        assert list_entered_states(result.events) == ["UNDERSTAND", "LOCATE", "FAILED"]


async def test_an_engine_that_fails_ends_the_turn_as_failed(check) -> None:
    result = await check(AREA, {"error": "out of memory"}, config=make_edit_settings(1))
    assert isinstance(result.error, EngineError)
    assert list_entered_states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "FAILED"]
    assert result.events[-1].data == {"state": "FAILED", "reason": "out of memory"}


async def test_a_cancelled_fix_closes_the_stream_and_is_logged(tmp_path: Path, ruff: Ruff) -> None:
    src = markup.parse(AREA, tmp_path / "a.py")
    engine, log = Script({"hang": True}), SessionLog(tmp_path / "sessions")
    job = TurnContext(
        engine,
        make_edit_settings(2),
        CheckTools(ruff),
        log.turn(),
        src.document,
        tmp_path / "a.py",
        tmp_path,
        "a.py",
        lambda progress: None,
    )
    task = asyncio.ensure_future(run_edit_task(Fix(job, src.finding)))
    await engine.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.closed == 1
    assert list_entered_states(read_checked_log(log.path)) == ["UNDERSTAND", "LOCATE", "GENERATE", "CANCELLED"]
    log.close()


def test_a_turn_can_fail_and_be_cancelled_in_every_state() -> None:
    ends = {"COMPLETE", "FAILED", "CANCELLED"}
    assert {state for state, following in NEXT_STATES.items() if not following} == ends
    assert all(following >= {"FAILED", "CANCELLED"} for state, following in NEXT_STATES.items() if state not in ends)
    assert {state for following in NEXT_STATES.values() for state in following} | {"UNDERSTAND"} == set(NEXT_STATES)


# -- several at once
async def test_the_first_that_passes_ends_those_still_being_written(check) -> None:
    result = await check(AREA, STILL, NEW, GOOD, {"hang": True}, {"hang": True}, config=make_edit_settings(6))
    assert (find_proposed_candidate(result.events), result.text) == (3, FIXED)
    assert result.engine.closed == len(result.engine.foreground_requests) == 4
    assert list_entered_states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE"]
    assert result.proposal.summary.startswith("candidate 3 of 3 passes")


async def test_a_passing_candidate_does_not_end_others_that_may_change_less(check) -> None:
    wider = "return bool(width is None)"
    result = await check(AREA, wider, STILL, NEW, STILL, GOOD, {"hang": True}, config=make_edit_settings(6))
    assert (find_proposed_candidate(result.events), result.text) == (5, FIXED)
    # the two of the last prompt are not waited for: nothing changes less than candidate 5
    assert [data["candidate"] for data in select_event_data(result.events, "candidate.generated")][:5] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert select_event_data(result.events, "verify.completed")[0]["passed"]


async def test_the_first_passing_candidate_wins_at_the_end_of_the_round_if_none_changes_less(check) -> None:
    wider = "return bool(width is None)"
    result = await check(AREA, wider, STILL, NEW, BROKEN, config=make_edit_settings(6, 2))
    assert find_proposed_candidate(result.events) == 1
    # no further round is made
    assert len(select_event_data(result.events, "candidate.generated")) == 4
    assert list_entered_states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE"]


async def test_candidates_from_before_a_failure_of_the_engine_still_count(check) -> None:
    result = await check(AREA, GOOD, {"error": "out of memory"}, config=make_edit_settings(2))
    assert result.text == FIXED
    # also where it was not taken at once, because another might have changed less
    result = await check(AREA, "return bool(width is None)", {"error": "out of memory"}, config=make_edit_settings(2))
    assert find_proposed_candidate(result.events) == 1
