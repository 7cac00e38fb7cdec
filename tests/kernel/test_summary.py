"""Tests of the summary of a session."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.events.code_events import (
    CheckReport,
    ChecksCompleted,
    EditApplied,
    EditProposed,
    EditStale,
    OutputRead,
)
from lsp_harness.events.event_type import UnknownEvent
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.summary import MAX_ITEMS, MAX_LINES, Summary, summarize
from lsp_harness.text.edit import diff
from tests.context.counting import count_words as count

BEFORE = b"import math\n\n\ndef area(r):\n    return 3 * r\n"
AFTER = b"import math\n\n\ndef area(r):\n    return math.pi * r\n"


@pytest.fixture
def log(tmp_path: Path):
    log = SessionLog(tmp_path)
    yield log
    log.close()


def summarize_log(log: SessionLog) -> Summary:
    return summarize(event for events in log.turns.values() for event in events)


def begin_turn(log: SessionLog, text: str, path: str = "a.py", kind: str = "edit") -> Turn:
    turn = log.turn()
    turn.append(InvocationReceived(kind, text, path))
    return turn


def propose(turn: Turn) -> Turn:
    turn.append(EditProposed("x", diff(BEFORE, AFTER, "a.py"), "candidate 1 passes"))
    return turn


def complete_checks(turn: Turn, *lines: str, candidate: int | None = None) -> None:
    report = CheckReport("lint", "failed" if lines else "passed", lines=lines)
    turn.append(ChecksCompleted("x", not lines, (report,), candidate))


def test_the_summary_of_an_empty_session_is_empty():
    assert summarize([]) == Summary()
    assert summarize([]).lines == []


def test_a_summary_has_the_goal_the_files_and_the_outcome_of_each_proposal(log: SessionLog):
    propose(begin_turn(log, "use math.pi")).append(EditApplied("1"))
    propose(begin_turn(log, "add types", "b.py")).append(EditStale("x"))
    propose(begin_turn(log, "say what is wrong", kind="fix"))
    begin_turn(log, "return early", "c.py")
    assert summarize_log(log).lines == [
        "Goal: return early",
        "Decision, failed: return early (c.py)",
        "Decision, proposed: say what is wrong (a.py, +1 -1 in def area(r):)",
        "Decision, stale: add types (b.py, +1 -1 in def area(r):)",
        "Decision, applied: use math.pi (a.py, +1 -1 in def area(r):)",
        "Touched: area",
        "Files: c.py, a.py, b.py",
    ]
    assert summarize_log(log).turns == 4


def test_a_second_request_for_a_file_means_that_its_proposal_was_rejected(log: SessionLog):
    first, other = propose(begin_turn(log, "use math.pi")), propose(begin_turn(log, "add types", "b.py"))
    assert [decision.outcome for decision in summarize_log(log).decisions] == ["proposed", "proposed"]
    complete_checks(begin_turn(log, "a suggestion that was accepted here", kind="check"), "LINT: F401 unused")
    assert [decision.outcome for decision in summarize_log(log).decisions] == ["proposed", "proposed"]
    propose(begin_turn(log, "use tau"))
    assert [(decision.outcome, decision.path) for decision in summarize_log(log).decisions] == [
        ("proposed", "a.py"),
        ("proposed", "b.py"),
        ("rejected", "a.py"),
    ]
    assert summarize_log(log).symbols == ()
    # an editor may have both on the screen, and take the first after all
    first.append(EditApplied("1"))
    other.append(EditStale("x"))
    assert [decision.outcome for decision in summarize_log(log).decisions] == ["proposed", "stale", "applied"]
    assert summarize_log(log).symbols == ("area",)


def test_the_summary_has_one_line_for_a_command_and_its_result(log: SessionLog):
    begin_turn(log, "mend it", kind="fix").append(OutputRead("pytest", "pytest: 1 failed, 3 passed"))
    complete_checks(begin_turn(log, "a suggestion that was accepted here", kind="check"), "LINT: F401 unused")
    complete_checks(begin_turn(log, "a suggestion that was accepted here", kind="check"))
    complete_checks(begin_turn(log, "use pi"), "LINT: F821 Undefined name `pi`", candidate=1)
    assert summarize_log(log).commands == ("lint passed (a.py)", "lint failed (a.py)", "pytest: 1 failed, 3 passed")
    assert "Ran lint passed (a.py); lint failed (a.py); pytest: 1 failed, 3 passed" in summarize_log(log).lines
    complete_checks(begin_turn(log, "a suggestion that was accepted here", kind="check"), "LINT: F401 unused")
    assert summarize_log(log).commands[:2] == ("lint failed (a.py)", "lint passed (a.py)")


def test_skipped_checks_are_not_listed_as_commands(log: SessionLog):
    report = CheckReport("lint", "skipped")
    begin_turn(log, "look", kind="check").append(ChecksCompleted("x", False, (report,)))
    assert summarize_log(log).commands == ()


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("def area(r):", "area"),
        ("class Box(Base):", "Box"),
        ("func (b *Box) Size() int {", "Size"),
        ("export async function load(url) {", "load"),
        ("pub fn size(&self) -> usize {", "size"),
        ("x = 1", ""),
    ],
)
def test_the_code_of_an_edit_has_a_name(log: SessionLog, head: str, name: str):
    turn = begin_turn(log, "change it")
    before, after = f"{head}\n    old\n".encode(), f"{head}\n    new\n".encode()
    turn.append(EditProposed("x", diff(before, after, "a.py"), ""))
    turn.append(EditApplied("1"))
    assert summarize_log(log).symbols == ((name,) if name else ())


def test_a_finding_is_open_until_it_is_fixed(log: SessionLog):
    complete_checks(
        begin_turn(log, "a suggestion that was accepted here", kind="check"), "LINT: F821 Undefined name `pi`"
    )
    assert summarize_log(log).open == (("a.py", "LINT: F821 Undefined name `pi`"),)
    assert summarize_log(log).goal == ""
    assert summarize_log(log).decisions == ()
    complete_checks(
        begin_turn(log, "a suggestion that was accepted here", "b.py", kind="check"),
        "SYNTAX ERROR at line 1: missing )",
    )
    assert [path for path, _ in summarize_log(log).open] == ["b.py", "a.py"]
    complete_checks(begin_turn(log, "a suggestion that was accepted here", kind="check"))
    assert [path for path, _ in summarize_log(log).open] == ["b.py"]
    propose(begin_turn(log, "mend it", "b.py", kind="fix")).append(EditApplied("1"))
    assert summarize_log(log).open == ()


def test_a_failed_check_of_a_candidate_is_nobodys_failure(log: SessionLog):
    complete_checks(begin_turn(log, "use pi"), "LINT: F821 Undefined name `pi`", candidate=1)
    assert summarize_log(log).open == ()


def write_thirty_turns(log: SessionLog) -> None:
    """Write thirty turns, each with a check behind it."""
    for n in range(30):
        turn = propose(begin_turn(log, f"change number {n}: " + "very " * 20 + "much", f"module_{n % 7}.py"))
        if n % 3:
            turn.append(EditApplied("1"))
        else:
            complete_checks(begin_turn(log, "a check", f"module_{n % 7}.py", kind="check"), f"LINT: F{n} wrong")
        if n % 10 == 9:
            turn.append(OutputRead("pytest", f"pytest: {n} failed, 3 passed"))


async def test_thirty_turns_are_two_hundred_tokens(log: SessionLog):
    write_thirty_turns(log)
    whole = summarize_log(log)
    assert whole.turns == 40
    text = await whole.text(200, count)
    [cost] = await count([text])
    assert 50 < cost <= 200
    assert text.startswith("Goal: change number 29: very")
    assert text.count("Decision") <= MAX_LINES


def test_the_summary_of_a_long_session_is_bounded(log: SessionLog):
    for n in range(200):
        complete_checks(
            begin_turn(log, "a suggestion that was accepted here", f"c{n}.py", kind="check"),
            f"LINT: F{n} wrong",
            "LINT: F2",
        )
        propose(begin_turn(log, f"change number {n}", f"m{n}.py"))
    whole = log.summary
    assert whole.turns == 400
    kinds = (whole.files, whole.decisions, whole.open, whole.commands, whole.places)
    assert [len(kind) for kind in kinds] == [MAX_ITEMS] * 5
    assert (whole.decisions[0].text, whole.files[:2]) == ("change number 199", ("m199.py", "c199.py"))
    assert whole.open[:2] == (("c199.py", "LINT: F199 wrong"), ("c199.py", "LINT: F2"))


def test_a_proposal_that_is_accepted_after_many_checks_closes_its_findings(log: SessionLog):
    turn = propose(begin_turn(log, "mend it", kind="fix"))
    for n in range(MAX_ITEMS + 1):
        complete_checks(
            begin_turn(log, "a suggestion that was accepted here", "b.py" if n else "a.py", kind="check"),
            "LINT: F821 wrong",
        )
    assert {path for path, _ in log.summary.open} == {"a.py", "b.py"}
    turn.append(EditApplied("1"))
    assert [path for path, _ in log.summary.open] == ["b.py"]


def test_the_log_keeps_a_summary_without_private_turns(log: SessionLog):
    write_thirty_turns(log)
    assert log.summary == summarize(read_log(log.path))
    goal = log.summary.goal
    log.turn(is_saved=False).append(InvocationReceived("fix", "of a secret file", ".env"))
    assert (log.summary.goal, log.summary.turns) == (goal, 40)


def test_the_next_edit_of_a_file_gets_the_earlier_decisions(log: SessionLog):
    propose(begin_turn(log, "use math.pi")).append(EditApplied("1"))
    begin_turn(log, "add types " + "very " * 40, "b.py")
    complete_checks(begin_turn(log, "a suggestion that was accepted here", "b.py", kind="check"), "LINT: F401 unused")
    complete_checks(
        begin_turn(log, "a suggestion that was accepted here", kind="check"), "LINT: F821 Undefined name `pi`"
    )
    complete_checks(begin_turn(log, "a suggestion that was accepted here", "b.py", kind="check"), "LINT: F401 unused")
    assert log.summary.lines_for("a.py") == [
        "Open in a.py: LINT: F821 Undefined name `pi`",
        "Open in b.py: LINT: F401 unused",
        "Decision, applied: use math.pi (a.py, +1 -1 in def area(r):)",
    ]
    assert log.summary.lines_for("c.py") == [
        "Open in b.py: LINT: F401 unused",
        "Open in a.py: LINT: F821 Undefined name `pi`",
    ]
    assert [len(line) for line in log.summary.lines_for("b.py")] == [31, 44, 120]


@pytest.mark.model
async def test_thirty_turns_are_summarized_in_200_tokens_without_a_request_to_the_model(log: SessionLog):
    from lsp_harness.config.schema import Config
    from lsp_harness.engine.decode.llama import Llama
    from lsp_harness.inference.models.model_files import resolve_model

    path = resolve_model(Config().model.path)
    llama = Llama(path, n_ctx=64, n_seq=1, n_batch=64, threads=1, n_gpu_layers=0)

    async def tokens(texts: Sequence[str]) -> list[int]:
        return [len(llama.vocabulary.tokenize(text)) for text in texts]

    write_thirty_turns(log)
    written = log.path.read_bytes()
    text = await summarize_log(log).text(200, tokens)
    [cost] = await tokens([text])
    llama.close()
    assert 100 < cost <= 200
    assert text.startswith("Goal: change number 29: very")
    assert "Ran pytest: 29 failed, 3 passed" in text
    # it is read off the log, and nothing is added to that
    assert log.path.read_bytes() == written


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["invocation.received", "edit.proposed", "edit.applied", "verify.completed", "output.read", "other"]
            ),
            st.integers(0, 4),
            st.dictionaries(
                st.sampled_from(["text", "path", "kind", "diff", "outcomes", "summary"]),
                st.none() | st.text(max_size=30),
            ),
        ),
        max_size=30,
    ),
    st.integers(0, 60),
)
async def test_a_summary_stays_within_its_budget(rows: list[Any], budget: int):
    log = SessionLog(is_saved=False)
    turns = [log.turn() for _ in range(5)]
    for kind, turn, data in rows:
        turns[turn].append(UnknownEvent(kind, data))
    text = await summarize_log(log).text(budget, count)
    assert (await count([text]))[0] <= budget
