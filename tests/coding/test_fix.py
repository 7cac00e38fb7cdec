"""A diagnostic to a verified edit: who wins, what is told, and what the log says about it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn_context import TurnContext
from lsp_harness.coding.turn_states import NEXT_STATES
from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineError, EngineRefused, NoAnswer
from lsp_harness.inference.request import Chunk, Infill, ModelRequest
from lsp_harness.session.log import SessionLog
from lsp_harness.session.results import Progress, Proposal
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import decode
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.wire.event import Event
from tests.files.test_secrets import TOKEN
from tests.harness import tools
from tests.harness.tools import Script, checked, of_type, states, winner
from tests.support import markup

AREA = """
    def area(r):
        width = r
        return width == None
        #               ^^^^ E711 what is this
    """
FIXED = "def area(r):\n    width = r\n    return width is None\n"
STILL = "return (width) == None"  # the diagnostic is not gone
NEW = "return width is nobody"  # another one is new
BROKEN = "return (width is None"  # does not parse
GOOD = "return width is None"


def edits(candidates: int, retries: int = 0, **more: Any) -> Config:
    """Settings for a number of candidates, with every check."""
    verification = {"kept": True, **more.pop("verification", {})}
    return tools.edits(candidates, retries, verification=verification, **more)


@dataclass
class Result:
    """The outcome of a fix: events, proposal, new text or error."""

    events: list[Event]
    engine: Script
    proposal: Proposal | None = None
    text: str = ""
    error: Exception | None = None
    progress: list[Progress] = field(default_factory=list)


@pytest.fixture(scope="session")
def ruff() -> Ruff:
    return Ruff()


@pytest.fixture
def check(tmp_path: Path, ruff: Ruff):
    """Run a fix of the source's one diagnostic and look at the log, whatever comes of it."""
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')

    async def check(
        source: str,
        *replies: Any,
        config: Config,
        name: str = "a.py",
        given: tuple[Edit, ...] = (),
        facts: dict[str, Any] | None = None,
    ) -> Result:
        src = markup.parse(source, tmp_path / name)
        engine, log = Script(*replies), SessionLog(tmp_path / "sessions")
        engine.extra_props |= facts or {}
        result = Result([], engine)
        job = TurnContext(
            engine=engine,
            config=config,
            ruff=ruff,
            turn=log.turn(),
            document=src.document,
            file=tmp_path / name,
            root=tmp_path,
            path=name,
            report=result.progress.append,
        )
        try:
            result.proposal = await Fix(job, src.finding, linter_edits=given).run()
            result.text = decode(apply(src.document.data, result.proposal.edits))
        except (NoAnswer, EngineError) as error:
            result.error = error
        log.close()
        result.events = checked(log.path)
        assert (result.proposal is None) is (of_type(result.events, "edit.proposed") == [])
        return result

    return check


# -- who wins
async def test_the_only_candidate_that_passes_wins_and_the_log_says_which(check) -> None:
    result = await check(AREA, STILL, NEW, GOOD, config=edits(3))
    assert result.text == FIXED
    assert winner(result.events) == 3
    assert result.proposal.summary == "candidate 3 of 3 passes (syntax ✓, kept ✓, lint ✓, gone ✓)"
    assert states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE"]
    await result.engine.aclose()


async def test_of_two_that_pass_the_shorter_diff_wins(check) -> None:
    result = await check(AREA, "return bool(width is None)", GOOD, config=edits(2))
    assert (winner(result.events), result.text) == (2, FIXED)


async def test_fewer_changed_tokens_win_over_a_shorter_diff(check) -> None:
    # of three tokens and the shorter line, against two tokens
    result = await check(AREA, "return not width", GOOD, config=edits(2, verification={"kept": False}))
    passed = {data["candidate"] for data in of_type(result.events, "verify.completed") if data["passed"]}
    assert passed == {1, 2}
    assert (winner(result.events), result.text) == (2, FIXED)


async def test_of_two_as_long_the_first_wins(check) -> None:
    result = await check(AREA, GOOD, "return width in None", config=edits(2))
    assert (winner(result.events), result.text) == (1, FIXED)


async def test_the_proposal_is_the_verified_bytes(check) -> None:
    result = await check(AREA, GOOD, config=edits(1))
    proposal = result.proposal
    [event] = [event for event in result.events if event.type == "edit.proposed"]
    assert (proposal.id, proposal.verdict.hash, proposal.diff) == (event.id, event.data["hash"], event.data["diff"])
    assert proposal.verdict.passed
    assert "-    return width == None\n+    return width is None\n" in proposal.diff


async def test_the_same_text_twice_is_judged_once(check) -> None:
    result = await check(AREA, STILL, STILL, STILL, config=edits(3))
    assert [data["candidate"] for data in of_type(result.events, "verify.completed")] == [1]
    reasons = [(data["candidate"], data["reason"]) for data in of_type(result.events, "candidate.rejected")]
    assert reasons == [
        (1, "STILL THERE: E711 Comparison to `None` should be `cond is None`"),
        (2, "the same as candidate 1"),
        (3, "the same as candidate 1"),
    ]


async def test_what_changes_nothing_or_is_nothing_is_rejected_unjudged(check) -> None:
    result = await check(AREA, "return width == None", "", "# gone", config=edits(3))
    assert of_type(result.events, "verify.completed") == []
    assert [data["reason"] for data in of_type(result.events, "candidate.rejected")] == [
        "it changes nothing",
        "nothing usable was generated",
        "nothing usable was generated",
    ]


# -- what is asked
async def test_seeds_and_temperatures_differ_between_candidates(check) -> None:
    result = await check(AREA, *[STILL] * 4, config=edits(4, generation={"temperature": 0.7}))
    sampled = [(request.sampling.temperature, request.sampling.seed) for request in result.engine.foreground_requests]
    assert len(set(sampled)) == 4
    assert [temperature for temperature, _ in sampled] == [0.0, 0.0, 0.7 + 0.1, 0.7 + 0.1]
    generated = of_type(result.events, "candidate.generated")
    assert [(data["temperature"], data["seed"]) for data in generated] == sampled


async def test_a_hole_is_the_statement_and_a_hint_says_what_was_there(check) -> None:
    result = await check(AREA, STILL, GOOD, config=edits(2))
    assert result.engine.prompt(0).endswith("def area(r):\n    width = r\n    <FILL>\n")
    assert result.engine.prompt(1).endswith(
        "    # wrong: return width == None\n    # error: what is this\n    # right:\n    <FILL>\n"
    )


async def test_a_name_nobody_knows_may_be_imported(check) -> None:
    source = '"""Areas."""\nimport os\n\n\ndef area(r):\n    return pi, os\n    #      ^^ F821 Undefined name `pi`\n'
    result = await check(source, "return pi + 1, os", "math import pi", config=edits(2))
    assert result.text == '"""Areas."""\nimport os\nfrom math import pi\n\n\ndef area(r):\n    return pi, os\n'
    assert [data["kind"] for data in of_type(result.events, "candidate.generated")] == ["fill", "import"]
    assert winner(result.events) == 2


# -- told what was wrong
async def test_a_rewrite_is_told_what_the_gates_said_of_those_before(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    result = await check(AREA, STILL, NEW, rewritten, config=edits(3, 1))
    assert winner(result.events) == 3
    prompt = result.engine.prompt(2)
    assert "Problem at line 3: what is this\nEarlier attempts failed:\n" in prompt
    assert "STILL THERE: E711 Comparison to `None` should be `cond is None`\n" in prompt
    assert "LINT: F821 Undefined name `nobody`\n" in prompt
    assert result.text == "def area(r):\n    width = r\n    return width is None\n"
    assert states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "GENERATE", "VERIFY", "COMPLETE"]


async def test_what_changes_from_one_rewrite_to_the_next_comes_last(check) -> None:
    again = "```python\ndef area(r):\n    return tau\n```"
    result = await check(AREA, STILL, again, again, config=edits(3, 2))
    first, second = (result.engine.prompt(number).partition("Problem at line 3") for number in (1, 2))
    assert first[0] == second[0]
    assert first[2] != second[2]
    # the engine has read the function by then
    assert first[0].endswith("```python\ndef area(r):\n    width = r\n    return width == None\n```\n\n")


async def test_a_syntax_error_is_told_with_its_line(check) -> None:
    broken = "```python\ndef area(r):\n    width = r\n   return 3\n```"
    result = await check(
        AREA, STILL, broken, "```\ndef area(r):\n    width = r\n    return width is None\n```", config=edits(3, 2)
    )
    assert "SYNTAX ERROR at line 3: unindent does not match any outer indentation level\n" in result.engine.prompt(2)
    assert result.text == FIXED


async def test_after_three_retries_nothing_was_changed_and_the_closest_is_named(check) -> None:
    rewrites = [
        f"```python\ndef area(r):\n    width = r\n    return {'(' * n}width{')' * n} == None\n```" for n in (2, 3, 4)
    ]
    result = await check(AREA, STILL, *rewrites, config=edits(4, 3))
    assert len(result.engine.foreground_requests) == 4
    assert str(result.error) == (
        "No candidate passed the checks; the closest: STILL THERE: E711 Comparison to `None` should be `cond "
        "is None`; nothing was changed"
    )
    assert states(result.events)[-1] == "FAILED"
    assert result.events[-1].data["reason"].startswith("no candidate passed the checks; the closest: STILL THERE")
    assert len({request.sampling.seed for request in result.engine.foreground_requests}) == 4


async def test_a_rewrite_keeps_the_terminators_and_the_indentation_of_the_text(check) -> None:
    source = (
        "class A:\r\n    def f(self):\r\n        return self == None\r\n#                      ^^^^ E711 what\r\n"
        "\r\nx = 1\r\n"
    )
    for reply in (
        "```\ndef f(self):\n    return self is None\n```",
        "```\r\n    def f(self):\r\n        return self is None\r\n```",
    ):
        result = await check(source, "return (self) == None", reply, config=edits(2, 1))
        assert result.text == "class A:\r\n    def f(self):\r\n        return self is None\r\n\r\nx = 1\r\n"


async def test_a_function_too_long_for_the_budget_is_not_rewritten(check) -> None:
    result = await check(AREA, STILL, config=edits(2, 1, context={"code_budget": 5}))
    assert len(result.engine.foreground_requests) == 1
    assert [d["reason"] for d in of_type(result.events, "candidate.rejected")][1] == "nothing usable was generated"


async def test_feedback_too_long_for_the_task_budget_is_left_out(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    result = await check(AREA, STILL, rewritten, config=edits(2, 1, context={"task_budget": 8}))
    assert "Problem at line 3: what is this" in result.engine.prompt(1)
    assert "Earlier attempts failed" not in result.engine.prompt(1)


NO_HOLES = {"fim_tokens": {"pre": -1, "suf": -1, "mid": -1}}


async def test_a_model_that_fills_no_holes_rewrites_the_function(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    for retries in (0, 2):
        result = await check(AREA, rewritten, config=edits(3, retries), facts=NO_HOLES)
        assert result.text == "def area(r):\n    width = r\n    return width is None\n"
        assert [data["kind"] for data in of_type(result.events, "candidate.generated")] == ["rewrite"]


async def test_without_holes_the_settings_say_how_many_rewrites_there_are(check) -> None:
    failing = "```python\ndef area(r):\n    return pi - 1\n```"
    for candidates, retries, asked in ((1, 3, 1), (3, 2, 2), (0, 3, 3), (-1, 2, 1)):
        result = await check(AREA, *[failing] * asked, config=edits(candidates, retries), facts=NO_HOLES)
        assert len(result.engine.foreground_requests) == asked
        assert result.error


async def test_a_model_that_fills_no_holes_has_nothing_to_do_outside_of_functions(check) -> None:
    result = await check("x = int == None\n#          ^^^^ E711 what is this\n", config=edits(3, 2), facts=NO_HOLES)
    assert "cannot fill in single statements, and there is no function here" in str(result.error)
    assert states(result.events)[-1] == "FAILED"


async def test_a_model_without_a_template_for_instructions_is_asked_for_fills_only(check, monkeypatch) -> None:
    async def refuse(*_: Any) -> str:
        raise EngineRefused("llama.cpp does not know this model's chat template")

    monkeypatch.setattr(Script, "chat_prompt", refuse)
    result = await check(AREA, STILL, config=edits(2, 1))
    assert "No candidate passed the checks; the closest: STILL THERE" in str(result.error)
    result = await check(AREA, config=edits(3, 2), facts=NO_HOLES)
    assert "No candidate passed the checks; llama.cpp does not know this model's chat template" in str(result.error)
    assert [data["reason"] for data in of_type(result.events, "candidate.rejected")][
        -1
    ] == "nothing usable was generated"


async def test_a_server_that_refuses_holes_when_it_is_asked_rewrites_the_function(check, monkeypatch) -> None:
    answer = Script.stream

    async def stream(self: Script, request: ModelRequest):
        if isinstance(request, Infill):
            raise EngineRefused("Infill is not supported by this model")
        async for chunk in answer(self, request):
            yield chunk

    monkeypatch.setattr(Script, "stream", stream)
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    result = await check(AREA, rewritten, config=edits(3, 1))
    assert result.text == "def area(r):\n    width = r\n    return width is None\n"
    kinds = [data["kind"] for data in of_type(result.events, "candidate.generated")]
    assert (len(kinds), kinds[-1]) == (3, "rewrite")
    result = await check(AREA, config=edits(2))
    assert "No candidate passed the checks; Infill is not supported by this model" in str(result.error)


# -- numbers
@pytest.mark.parametrize(("candidates", "retries", "asked"), [(-1, 0, 1), (1, 0, 1), (-1, 3, 1), (1, 1, 1), (2, 1, 2)])
async def test_the_smallest_numbers_of_candidates_and_retries(check, candidates: int, retries: int, asked: int) -> None:
    rewritten = "```python\ndef area(r):\n    return pi - 1\n```"
    result = await check(AREA, STILL, rewritten, config=edits(candidates, retries))
    assert len(result.engine.foreground_requests) == asked
    assert result.error


async def test_progress_goes_up_and_ends_at_a_hundred(check) -> None:
    result = await check(AREA, STILL, NEW, GOOD, config=edits(3))
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
        result = await check(AREA, GOOD, config=edits(1, verification=verification))
        [verified] = of_type(result.events, "verify.completed")
        assert [outcome["check"] for outcome in verified["outcomes"]] == names


async def test_with_all_checks_off_nothing_is_ever_proposed(check) -> None:
    result = await check(AREA, GOOD, config=edits(1, verification={"lint": False, "parse_check": False, "kept": False}))
    assert isinstance(result.error, NoAnswer)
    assert [data["reason"] for data in of_type(result.events, "candidate.rejected")] == ["no check could run"]


async def test_skipped_checks_are_in_the_log_with_their_reason(check) -> None:
    source = "function f() {\n  return widht;\n  //     ^^^^^ undefined\n}\n"
    result = await check(source, "return width;", config=edits(1), name="a.js")
    [verified] = of_type(result.events, "verify.completed")
    assert [(o["check"], o["status"], o["reason"]) for o in verified["outcomes"]] == [
        ("syntax", "passed", ""),
        ("kept", "passed", ""),
        ("lint", "skipped", "no linter is known for .js"),
        ("gone", "skipped", "only the tool that reported it can say whether it is gone"),
    ]
    assert result.proposal.summary == "candidate 1 of 1 passes (syntax ✓, kept ✓, lint –, gone –)"


# -- the linter's own fix
async def test_the_linter_s_own_fix_is_verified_too(check) -> None:
    source = "import os\n#      ^^ F401 `os` imported but unused\nx = 1\n"
    result = await check(source, config=edits(1), given=(Edit(0, 10, b""),))
    assert result.text == "x = 1\n"
    assert states(result.events) == ["UNDERSTAND", "VERIFY", "COMPLETE"]
    assert winner(result.events) == 0
    assert result.engine.foreground_requests == []


async def test_a_fix_of_the_linter_that_breaks_something_is_not_proposed(check) -> None:
    source = "import os\n#      ^^ F401 `os` imported but unused\nx = os\n"
    result = await check(source, config=edits(1), given=(Edit(0, 10, b""),))
    assert str(result.error) == "The linter's own fix does not pass the checks here; nothing was changed"
    assert states(result.events) == ["UNDERSTAND", "VERIFY", "FAILED"]


# -- ends
async def test_where_there_is_no_code_there_is_no_fix(check) -> None:
    for source, name, said in (
        ("x = 1\n\n#^ nothing here\n", "a.py", "There is no code at this diagnostic, only blank space"),
        ("words\n# ^^ spelling\n", "a.txt", "There is no grammar for a.txt"),
    ):
        result = await check(source, config=edits(1), name=name)
        assert str(result.error).startswith(said)
        assert states(result.events) == ["UNDERSTAND", "LOCATE", "FAILED"]


async def test_an_engine_that_fails_ends_the_turn_as_failed(check) -> None:
    result = await check(AREA, {"error": "out of memory"}, config=edits(1))
    assert isinstance(result.error, EngineError)
    assert states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "FAILED"]
    assert result.events[-1].data == {"state": "FAILED", "reason": "out of memory"}


async def test_a_cancelled_fix_closes_the_stream_and_the_log_says_so(tmp_path: Path, ruff: Ruff) -> None:
    src = markup.parse(AREA, tmp_path / "a.py")
    engine, log = Script({"hang": True}), SessionLog(tmp_path / "sessions")
    job = TurnContext(
        engine,
        edits(2),
        ruff,
        log.turn(),
        src.document,
        tmp_path / "a.py",
        tmp_path,
        "a.py",
        lambda progress: None,
    )
    task = asyncio.ensure_future(Fix(job, src.finding).run())
    await engine.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.closed == 1
    assert states(checked(log.path)) == ["UNDERSTAND", "LOCATE", "GENERATE", "CANCELLED"]
    log.close()


def test_from_every_state_that_is_no_end_the_turn_can_fail_and_be_cancelled() -> None:
    ends = {"COMPLETE", "FAILED", "CANCELLED"}
    assert {state for state, following in NEXT_STATES.items() if not following} == ends
    assert all(following >= {"FAILED", "CANCELLED"} for state, following in NEXT_STATES.items() if state not in ends)
    assert {state for following in NEXT_STATES.values() for state in following} | {"UNDERSTAND"} == set(NEXT_STATES)


# -- several at once
async def test_fills_of_one_prompt_are_asked_for_at_once(check) -> None:
    texts = [f"return pi + {n}" for n in range(8)]
    result = await check(AREA, *texts, config=edits(8))
    asked = [(request.sampling.n, request.sampling.temperature) for request in result.engine.foreground_requests]
    assert asked == [(1, 0.0), (1, 0.0), (3, 0.7), (3, 0.7)]
    generated = of_type(result.events, "candidate.generated")
    assert [data["candidate"] for data in generated] == list(range(1, 9))
    assert len({data["seed"] for data in generated}) == 8
    assert [data["text"] for data in generated] == texts
    kinds = [data["kind"] for data in generated]
    assert kinds == ["fill", "hinted fill"] + ["fill"] * 3 + ["hinted fill"] * 3
    assert [p.message for p in result.progress][2] == "candidates 3–5 of at most 8: fill"
    await result.engine.aclose()


async def test_the_first_that_passes_ends_those_still_being_written(check) -> None:
    result = await check(AREA, STILL, NEW, GOOD, {"hang": True}, {"hang": True}, config=edits(6))
    assert (winner(result.events), result.text) == (3, FIXED)
    assert result.engine.closed == len(result.engine.foreground_requests) == 4
    assert states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE"]
    assert result.proposal.summary.startswith("candidate 3 of 3 passes")


async def test_one_that_passes_does_not_end_others_that_may_change_less(check) -> None:
    wider = "return bool(width is None)"
    result = await check(AREA, wider, STILL, NEW, STILL, GOOD, {"hang": True}, config=edits(6))
    assert (winner(result.events), result.text) == (5, FIXED)
    # the two of the last prompt are not waited for: nothing changes less than candidate 5
    assert [data["candidate"] for data in of_type(result.events, "candidate.generated")][:5] == [1, 2, 3, 4, 5]
    assert of_type(result.events, "verify.completed")[0]["passed"]


async def test_where_none_changes_less_the_first_that_passed_is_taken_at_the_end_of_the_round(check) -> None:
    wider = "return bool(width is None)"
    result = await check(AREA, wider, STILL, NEW, BROKEN, config=edits(6, 2))
    assert winner(result.events) == 1
    # no further round is made
    assert len(of_type(result.events, "candidate.generated")) == 4
    assert states(result.events) == ["UNDERSTAND", "LOCATE", "GENERATE", "VERIFY", "COMPLETE"]


async def test_what_was_finished_before_a_failure_of_the_engine_still_counts(check) -> None:
    result = await check(AREA, GOOD, {"error": "out of memory"}, config=edits(2))
    assert result.text == FIXED
    # also where it was not taken at once, because another might have changed less
    result = await check(AREA, "return bool(width is None)", {"error": "out of memory"}, config=edits(2))
    assert winner(result.events) == 1


async def test_the_machine_may_say_how_many_candidates_there_are(tmp_path: Path, ruff: Ruff) -> None:
    for facts, fills in (({}, 5), ({"curve": {"candidates": 7}}, 7)):
        src = markup.parse(AREA, tmp_path / "a.py")
        engine, log = Script(*[f"return pi + {n}" for n in range(9)]), SessionLog(tmp_path / "sessions")
        engine.extra_props = facts
        where = (src.document, tmp_path / "a.py", tmp_path, "a.py")
        with pytest.raises(NoAnswer):
            await Fix(
                TurnContext(engine, edits(0, 2), ruff, log.turn(), *where, lambda progress: None), src.finding
            ).run()
        asked = [request.sampling.n for request in engine.foreground_requests if isinstance(request, Infill)]
        # rewrites are made one by one, and so come on top
        assert (sum(asked), len(engine.foreground_requests) - len(asked)) == (fills, 2)
        log.close()


class Slots(Script):
    """A server with room for one answer at a time."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        return super().stream(replace(request, sampling=replace(request.sampling, n=1)))


async def test_candidates_a_server_has_no_room_for_are_accounted_for(tmp_path: Path, ruff: Ruff) -> None:
    src = markup.parse(AREA, tmp_path / "a.py")
    engine, log = Slots(*[f"return pi + {n}" for n in range(9)]), SessionLog(tmp_path / "sessions")
    where = (src.document, tmp_path / "a.py", tmp_path, "a.py")
    with pytest.raises(NoAnswer):
        await Fix(TurnContext(engine, edits(6), ruff, log.turn(), *where, lambda progress: None), src.finding).run()
    log.close()
    events = checked(log.path)
    assert [data["candidate"] for data in of_type(events, "candidate.generated")] == [1, 2, 3, 4, 5, 6]
    empty = [data["candidate"] for data in of_type(events, "candidate.generated") if not data["text"]]
    rejected = {data["candidate"]: data["reason"] for data in of_type(events, "candidate.rejected")}
    assert empty == [4, 6]
    assert {rejected[number] for number in empty} == {"nothing usable was generated"}


async def test_of_feedback_that_is_too_long_the_last_lines_are_left_out(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    result = await check(AREA, STILL, NEW, rewritten, config=edits(3, 1, context={"task_budget": 25}))
    prompt = result.engine.prompt(2)
    assert "Earlier attempts failed:\nSTILL THERE: E711 Comparison to `None` should be `cond is None`" in prompt
    assert "LINT:" not in prompt


# -- secrets
async def test_code_with_a_secret_in_it_is_neither_filled_nor_rewritten(check) -> None:
    result = await check(f"x = pi, '{TOKEN}'\n#   ^^ F821 what\n", config=edits(1))
    assert "contains what looks like a secret" in str(result.error)
    source = f"def f():\n    key = '{TOKEN}'\n    return pi\n    #      ^^ F821 what\n"
    result = await check(source, "return pi + 1", config=edits(2, 1))
    assert len(result.engine.foreground_requests) == 1
    assert TOKEN not in result.engine.prompt(0)
    # nor was it counted: the tokenizer may be on another machine
    assert not any(TOKEN in text for text in result.engine.counted)
    assert of_type(result.events, "candidate.rejected")[1]["reason"] == "nothing usable was generated"
