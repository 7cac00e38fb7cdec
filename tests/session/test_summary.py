"""What a session has come to."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.session.log import SessionLog, Turn
from lsp_harness.session.summary import KEPT, Summary, summary
from lsp_harness.text.edit import diff
from tests.context.counting import words as count

BEFORE = b"import math\n\n\ndef area(r):\n    return 3 * r\n"
AFTER = b"import math\n\n\ndef area(r):\n    return math.pi * r\n"


@pytest.fixture
def log(tmp_path: Path):
    log = SessionLog(tmp_path)
    yield log
    log.close()


def of(log: SessionLog) -> Summary:
    return summary(event for events in log.turns.values() for event in events)


def asked(log: SessionLog, text: str, path: str = "a.py", kind: str = "edit") -> Turn:
    turn = log.turn()
    turn.tell("invocation.received", kind=kind, text=text, path=path)
    return turn


def proposed(turn: Turn) -> Turn:
    turn.tell("edit.proposed", hash="x", diff=diff(BEFORE, AFTER, "a.py"), summary="candidate 1 passes")
    return turn


def found(turn: Turn, *said: str, **more: Any) -> None:
    outcomes = [{"check": "lint", "status": "failed" if said else "passed", "said": list(said)}]
    turn.tell("verify.completed", **more, hash="x", passed=not said, outcomes=outcomes)


def test_a_session_in_which_nothing_happened():
    assert summary([]) == Summary()
    assert summary([]).lines == []


def test_the_goal_the_files_and_what_became_of_each_proposal(log: SessionLog):
    proposed(asked(log, "use math.pi")).tell("edit.applied", proposal="1")
    proposed(asked(log, "add types", "b.py")).tell("edit.stale", hash="x")
    proposed(asked(log, "say what is wrong", kind="fix"))
    asked(log, "return early")
    assert of(log).lines == [
        "Goal: return early",
        "Decision, failed: return early (a.py)",
        "Decision, proposed: say what is wrong (a.py, +1 -1 in def area(r):)",
        "Decision, stale: add types (b.py, +1 -1 in def area(r):)",
        "Decision, applied: use math.pi (a.py, +1 -1 in def area(r):)",
        "Files: a.py, b.py",
    ]
    assert of(log).turns == 4


def test_what_is_wrong_is_open_until_it_is_mended(log: SessionLog):
    found(asked(log, "what was taken into this text", kind="check"), "LINT: F821 Undefined name `pi`")
    assert of(log).open == (("a.py", "LINT: F821 Undefined name `pi`"),)
    assert of(log).goal == ""
    assert of(log).decisions == ()
    found(asked(log, "what was taken into this text", "b.py", kind="check"), "SYNTAX ERROR at line 1: missing )")
    assert [path for path, _ in of(log).open] == ["b.py", "a.py"]
    found(asked(log, "what was taken into this text", kind="check"))
    assert [path for path, _ in of(log).open] == ["b.py"]
    proposed(asked(log, "mend it", "b.py", kind="fix")).tell("edit.applied", proposal="1")
    assert of(log).open == ()


def test_what_a_candidate_failed_by_is_nobodys_failure(log: SessionLog):
    found(asked(log, "use pi"), "LINT: F821 Undefined name `pi`", candidate=1)
    assert of(log).open == ()


async def test_thirty_turns_are_two_hundred_tokens(log: SessionLog):
    for n in range(30):
        turn = proposed(asked(log, f"change number {n}: " + "very " * 20 + "much", f"module_{n % 7}.py"))
        if n % 3:
            turn.tell("edit.applied", proposal="1")
        else:
            found(asked(log, "a check", f"module_{n % 7}.py", kind="check"), f"LINT: F{n} wrong")
    whole = of(log)
    assert whole.turns == 40
    text = await whole.text(200, count)
    [cost] = await count([text])
    assert 50 < cost <= 200
    assert text.startswith("Goal: change number 29: very")
    assert text.count("Decision") <= KEPT


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["invocation.received", "edit.proposed", "edit.applied", "verify.completed", "other"]),
            st.integers(0, 4),
            st.dictionaries(
                st.sampled_from(["text", "path", "kind", "diff", "outcomes"]), st.none() | st.text(max_size=30)
            ),
        ),
        max_size=30,
    ),
    st.integers(0, 60),
)
async def test_whatever_was_logged_is_no_more_than_its_budget(rows: list[Any], budget: int):
    log = SessionLog(keep=False)
    turns = [log.turn() for _ in range(5)]
    for kind, turn, data in rows:
        turns[turn].tell(kind, **{key: value for key, value in data.items() if key != "outcomes" or not value})
    text = await of(log).text(budget, count)
    assert (await count([text]))[0] <= budget
