"""Tests of the candidates that a fix requests from the model: their kinds, number and prompts."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.errors import EngineRefused, NoAnswer
from lsp_harness.inference.request import Chunk, Infill, ModelRequest
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from tests.coding.conftest import AREA, BROKEN, FIXED, GOOD, STILL, make_edit_settings
from tests.files.test_secrets import TOKEN
from tests.harness.tools import (
    Script,
    find_proposed_candidate,
    list_entered_states,
    read_checked_log,
    select_event_data,
)
from tests.support import markup

pytestmark = pytest.mark.process


# -- what is asked
async def test_seeds_and_temperatures_differ_between_candidates(check) -> None:
    result = await check(AREA, *[STILL] * 4, config=make_edit_settings(4, generation={"temperature": 0.7}))
    sampled = [(request.sampling.temperature, request.sampling.seed) for request in result.engine.foreground_requests]
    assert len(set(sampled)) == 4
    assert [temperature for temperature, _ in sampled] == [0.0, 0.0, 0.7 + 0.1, 0.7 + 0.1]
    generated = select_event_data(result.events, "candidate.generated")
    assert [(data["temperature"], data["seed"]) for data in generated] == sampled


async def test_a_prompt_has_a_hole_for_the_statement_and_a_hint_with_the_old_code(check) -> None:
    result = await check(AREA, STILL, GOOD, config=make_edit_settings(2))
    assert result.engine.prompt(0).endswith("def area(r):\n    width = r\n    <FILL>\n")
    assert result.engine.prompt(1).endswith(
        "    # wrong: return width == None\n    # error: what is this\n    # right:\n    <FILL>\n"
    )


async def test_an_unknown_name_may_be_imported(check) -> None:
    source = '"""Areas."""\nimport os\n\n\ndef area(r):\n    return pi, os\n    #      ^^ F821 Undefined name `pi`\n'
    result = await check(source, "return pi + 1, os", "math import pi", config=make_edit_settings(2))
    assert result.text == '"""Areas."""\nimport os\nfrom math import pi\n\n\ndef area(r):\n    return pi, os\n'
    assert [data["kind"] for data in select_event_data(result.events, "candidate.generated")] == ["fill", "import"]
    assert find_proposed_candidate(result.events) == 2


# -- told what was wrong
async def test_a_rewrite_gets_the_messages_about_earlier_candidates(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return {}\n```"
    answers = (STILL, rewritten.format("nobody(width) is None"), rewritten.format("width is None"))
    result = await check(AREA, *answers, config=make_edit_settings(3, 2))
    assert find_proposed_candidate(result.events) == 3
    assert "Earlier attempts failed" not in result.engine.prompt(1), "the first rewrite is no second attempt"
    prompt = result.engine.prompt(2)
    assert "Problem at line 3, `None`: what is this\nEarlier attempts failed:\n" in prompt
    assert "STILL THERE: E711 Comparison to `None` should be `cond is None`\n" in prompt
    assert "LINT: F821 Undefined name `nobody`\n" in prompt
    assert result.text == "def area(r):\n    width = r\n    return width is None\n"
    assert list_entered_states(result.events) == ["UNDERSTAND", "LOCATE", *["GENERATE", "VERIFY"] * 3, "COMPLETE"]


async def test_text_that_changes_from_one_rewrite_to_the_next_comes_last(check) -> None:
    again = "```python\ndef area(r):\n    return tau\n```"
    result = await check(AREA, STILL, again, again, config=make_edit_settings(3, 2))
    first, second = (result.engine.prompt(number).partition("Problem at line 3") for number in (1, 2))
    assert first[0] == second[0]
    assert first[2] != second[2]
    # the engine has read the function by then
    assert first[0].endswith("```python\ndef area(r):\n    width = r\n    return width == None\n```\n\n")


async def test_the_prompt_has_a_syntax_error_with_its_line(check) -> None:
    broken = "```python\ndef area(r):\n    width = r\n   return 3\n```"
    result = await check(
        AREA,
        STILL,
        broken,
        "```\ndef area(r):\n    width = r\n    return width is None\n```",
        config=make_edit_settings(3, 2),
    )
    assert "SYNTAX ERROR at line 3: unindent does not match any outer indentation level\n" in result.engine.prompt(2)
    assert result.text == FIXED


async def test_after_three_failed_retries_the_error_names_the_closest_candidate(check) -> None:
    rewrites = [
        f"```python\ndef area(r):\n    width = r\n    return {'(' * n}width{')' * n} == None\n```" for n in (2, 3, 4)
    ]
    result = await check(AREA, STILL, *rewrites, config=make_edit_settings(4, 3))
    assert len(result.engine.foreground_requests) == 4
    assert str(result.error) == (
        "No candidate passed the checks; the closest is candidate 1 (`+ return (width) == None`): "
        "STILL THERE: E711 Comparison to `None` should be `cond is None`; nothing was changed"
    )
    assert list_entered_states(result.events)[-1] == "FAILED"
    assert result.events[-1].data["reason"].startswith("no candidate passed the checks; the closest is candidate 1 (`+")
    assert len({request.sampling.seed for request in result.engine.foreground_requests}) == 4


async def test_the_closest_is_shown_shortened_and_without_secrets(check) -> None:
    unknown, long = " + ".join("abcdefgh"), " + ".join(["width"] * 40)
    code = f'def area(r):\n    width = r\n    key = "{TOKEN}"\n    key = {long}\n    return width is None, {unknown}'
    result = await check(AREA, BROKEN, f"```python\n{code}\n```", config=make_edit_settings(2, 1))
    start, _, rest = str(result.error).partition(" (`")
    excerpt, _, failure = rest.partition("`): ")
    assert start == "No candidate passed the checks; the closest is candidate 2"
    assert (excerpt[:8], TOKEN in excerpt, len(excerpt), excerpt[-1]) == ("+ key = ", False, 160, "…")
    assert (failure.count("LINT: "), failure.endswith("; and 6 more; nothing was changed")) == (3, True)


async def test_a_rewrite_keeps_the_terminators_and_the_indentation_of_the_text(check) -> None:
    source = (
        "class A:\r\n    def f(self):\r\n        return self == None\r\n#                      ^^^^ E711 what\r\n"
        "\r\nx = 1\r\n"
    )
    for reply in (
        "```\ndef f(self):\n    return self is None\n```",
        "```\r\n    def f(self):\r\n        return self is None\r\n```",
    ):
        result = await check(source, "return (self) == None", reply, config=make_edit_settings(2, 1))
        assert result.text == "class A:\r\n    def f(self):\r\n        return self is None\r\n\r\nx = 1\r\n"


async def test_a_function_too_long_for_the_budget_is_not_rewritten(check) -> None:
    result = await check(AREA, STILL, config=make_edit_settings(2, 1, context={"code_budget": 5}))
    assert len(result.engine.foreground_requests) == 1
    assert [d["reason"] for d in select_event_data(result.events, "candidate.rejected")][
        1
    ] == "nothing usable was generated"


async def test_feedback_too_long_for_the_task_budget_is_left_out(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    result = await check(AREA, STILL, rewritten, config=make_edit_settings(2, 1, context={"task_budget": 8}))
    assert "Problem at line 3, `None`: what is this" in result.engine.prompt(1)
    assert "Earlier attempts failed" not in result.engine.prompt(1)


async def test_only_the_last_lines_of_long_feedback_are_left_out(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return {}\n```"
    answers = (STILL, rewritten.format("nobody(width) is None"), rewritten.format("width is None"))
    result = await check(AREA, *answers, config=make_edit_settings(3, 2, context={"task_budget": 26}))
    prompt = result.engine.prompt(2)
    assert "Earlier attempts failed:\nSTILL THERE: E711 Comparison to `None` should be `cond is None`" in prompt
    assert "LINT:" not in prompt


NO_HOLES = {"fim_tokens": {"pre": -1, "suf": -1, "mid": -1}}


async def test_a_model_without_fill_in_the_middle_rewrites_the_function(check) -> None:
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    for retries in (0, 2):
        result = await check(AREA, rewritten, config=make_edit_settings(3, retries), facts=NO_HOLES)
        assert result.text == "def area(r):\n    width = r\n    return width is None\n"
        assert [data["kind"] for data in select_event_data(result.events, "candidate.generated")] == ["rewrite"]


async def test_without_fill_in_the_middle_the_settings_limit_the_rewrites(check) -> None:
    failing = "```python\ndef area(r):\n    return pi - 1\n```"
    for candidates, retries, asked in ((1, 3, 1), (3, 2, 2), (0, 3, 3), (-1, 2, 1)):
        result = await check(AREA, *[failing] * asked, config=make_edit_settings(candidates, retries), facts=NO_HOLES)
        assert len(result.engine.foreground_requests) == asked
        assert result.error


async def test_the_outermost_statement_is_rewritten_outside_of_functions(check) -> None:
    source = "cases = [1]\nif cases == None:\n#           ^^^^ E711 what is this\n    cases = []\n"
    rewritten = "```python\nif cases is None:\n    cases = []\n```"
    result = await check(source, rewritten, config=make_edit_settings(3, 2), facts=NO_HOLES)
    assert "```python\nif cases == None:\n    cases = []\n```" in result.engine.prompt(0)
    assert result.text == "cases = [1]\nif cases is None:\n    cases = []\n"


async def test_a_long_statement_is_not_repaired_without_fill_in_the_middle(check) -> None:
    rows = "".join(f"    {number},\n" for number in range(80))
    source = f"cases = [\n{rows}    int == None,\n    #      ^^^^ E711 what is this\n]\n"
    result = await check(source, config=make_edit_settings(3, 2), facts=NO_HOLES)
    assert "cannot fill in single statements, and no code here is short enough" in str(result.error)
    assert list_entered_states(result.events)[-1] == "FAILED"


async def test_a_model_without_a_template_for_instructions_is_asked_for_fills_only(check, monkeypatch) -> None:
    async def refuse(*_: Any) -> str:
        raise EngineRefused("llama.cpp does not know this model's chat template")

    monkeypatch.setattr(Script, "chat_prompt", refuse)
    result = await check(AREA, STILL, config=make_edit_settings(2, 1))
    assert "No candidate passed the checks; the closest is candidate 1" in str(result.error)
    result = await check(AREA, config=make_edit_settings(3, 2), facts=NO_HOLES)
    assert "No candidate passed the checks; llama.cpp does not know this model's chat template" in str(result.error)
    assert [data["reason"] for data in select_event_data(result.events, "candidate.rejected")][
        -1
    ] == "nothing usable was generated"


async def test_after_a_refused_infill_the_function_is_rewritten(check, monkeypatch) -> None:
    answer = Script.stream

    async def stream(self: Script, request: ModelRequest):
        if isinstance(request, Infill):
            raise EngineRefused("Infill is not supported by this model")
        async for chunk in answer(self, request):
            yield chunk

    monkeypatch.setattr(Script, "stream", stream)
    rewritten = "```python\ndef area(r):\n    width = r\n    return width is None\n```"
    result = await check(AREA, rewritten, config=make_edit_settings(3, 1))
    assert result.text == "def area(r):\n    width = r\n    return width is None\n"
    kinds = [data["kind"] for data in select_event_data(result.events, "candidate.generated")]
    assert (len(kinds), kinds[-1]) == (3, "rewrite")
    result = await check(AREA, config=make_edit_settings(2))
    assert "No candidate passed the checks; Infill is not supported by this model" in str(result.error)


# -- numbers
@pytest.mark.parametrize(("candidates", "retries", "asked"), [(-1, 0, 1), (1, 0, 1), (-1, 3, 1), (1, 1, 1), (2, 1, 2)])
async def test_the_settings_limit_the_number_of_candidates_and_retries(
    check, candidates: int, retries: int, asked: int
) -> None:
    rewritten = "```python\ndef area(r):\n    return pi - 1\n```"
    result = await check(AREA, STILL, rewritten, config=make_edit_settings(candidates, retries))
    assert len(result.engine.foreground_requests) == asked
    assert result.error


# -- several at once
async def test_fills_of_one_prompt_are_requested_together(check) -> None:
    texts = [f"return pi + {n}" for n in range(8)]
    result = await check(AREA, *texts, config=make_edit_settings(8))
    asked = [(request.sampling.n, request.sampling.temperature) for request in result.engine.foreground_requests]
    assert asked == [(1, 0.0), (1, 0.0), (3, 0.7), (3, 0.7)]
    generated = select_event_data(result.events, "candidate.generated")
    assert [data["candidate"] for data in generated] == list(range(1, 9))
    assert len({data["seed"] for data in generated}) == 8
    assert [data["text"] for data in generated] == texts
    kinds = [data["kind"] for data in generated]
    assert kinds == ["fill", "hinted fill"] + ["fill"] * 3 + ["hinted fill"] * 3
    assert [p.message for p in result.progress][2] == "candidates 3–5 of at most 8: fill"
    await result.engine.aclose()


async def test_the_speed_of_the_machine_decides_the_number_of_candidates(tmp_path: Path, ruff: Ruff) -> None:
    for facts, fills in (({}, 5), ({"curve": {"candidates": 7}}, 7)):
        src = markup.parse(AREA, tmp_path / "a.py")
        engine, log = Script(*[f"return pi + {n}" for n in range(9)]), SessionLog(tmp_path / "sessions")
        engine.extra_props = facts
        where = (src.document, tmp_path / "a.py", tmp_path, "a.py")
        context = TurnContext(
            engine, make_edit_settings(0, 2), CheckTools(ruff), log.turn(), *where, lambda progress: None
        )
        with pytest.raises(NoAnswer):
            await run_edit_task(Fix(context, src.finding))
        asked = [request.sampling.n for request in engine.foreground_requests if isinstance(request, Infill)]
        # rewrites are made one by one, and so come on top
        assert (sum(asked), len(engine.foreground_requests) - len(asked)) == (fills, 2)
        log.close()


class OneSlotServer(Script):
    """A server with room for one answer at a time."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        return super().stream(replace(request, sampling=replace(request.sampling, n=1)))


async def test_candidates_a_server_has_no_room_for_are_accounted_for(tmp_path: Path, ruff: Ruff) -> None:
    src = markup.parse(AREA, tmp_path / "a.py")
    engine, log = OneSlotServer(*[f"return pi + {n}" for n in range(9)]), SessionLog(tmp_path / "sessions")
    where = (src.document, tmp_path / "a.py", tmp_path, "a.py")
    context = TurnContext(engine, make_edit_settings(6), CheckTools(ruff), log.turn(), *where, lambda progress: None)
    with pytest.raises(NoAnswer):
        await run_edit_task(Fix(context, src.finding))
    log.close()
    events = read_checked_log(log.path)
    assert [data["candidate"] for data in select_event_data(events, "candidate.generated")] == [1, 2, 3, 4, 5, 6]
    empty = [data["candidate"] for data in select_event_data(events, "candidate.generated") if not data["text"]]
    rejected = {data["candidate"]: data["reason"] for data in select_event_data(events, "candidate.rejected")}
    assert empty == [4, 6]
    assert {rejected[number] for number in empty} == {"nothing usable was generated"}


# -- secrets
async def test_code_with_a_secret_in_it_is_neither_filled_nor_rewritten(check) -> None:
    result = await check(f"x = pi, '{TOKEN}'\n#   ^^ F821 what\n", config=make_edit_settings(1))
    assert "contains what looks like a secret" in str(result.error)
    source = f"def f():\n    key = '{TOKEN}'\n    return pi\n    #      ^^ F821 what\n"
    result = await check(source, "return pi + 1", config=make_edit_settings(2, 1))
    assert len(result.engine.foreground_requests) == 1
    assert TOKEN not in result.engine.prompt(0)
    # nor was it counted: the tokenizer may be on another machine
    assert not any(TOKEN in text for text in result.engine.counted)
    assert select_event_data(result.events, "candidate.rejected")[1]["reason"] == "nothing usable was generated"
