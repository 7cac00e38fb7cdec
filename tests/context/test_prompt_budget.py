"""The tokens that the sections of an instruction prompt may have."""

from collections.abc import Sequence
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.config.schema import Context
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs, WorkspaceScope
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.instruction_prompt import InstructionPrompt, build_instruction_prompt, fit_task
from lsp_harness.context.prompt_budget import FRAME_TOKENS, Allocation, PromptBudget
from lsp_harness.errors import NoAnswer
from lsp_harness.text.position import Span
from tests.context.counting import count_words as count
from tests.context.known import NO_INDEX
from tests.syntax.markup import parse_marked

TEXT = "import math\n\n\ndef square(r):\n    return r * r\n\n\n<|>def area(r):\n    return math.pi * square(r)\n<|>"
SYSTEM = "You edit code."
TASK = Fragment("Instruction: use hypot", 3, "", "the task")


async def build_prompt(shares: Context, room: int | None = None) -> InstructionPrompt:
    source = parse_marked("a.py", TEXT)
    code = CodeSelection(source.tree.document, source.tree, Span(source.start, source.end), "a.py")
    inputs = InstructionInputs(code, PromptBudget(shares, room), count, WorkspaceScope(NO_INDEX))
    return await build_instruction_prompt(inputs, system=SYSTEM, task=TASK)


def sum_tokens(fragments: Sequence[Fragment]) -> int:
    return sum(fragment.tokens for fragment in fragments)


@given(code=st.integers(0, 60), related=st.integers(0, 60), room=st.none() | st.integers(0, 200))
async def test_only_the_text_around_the_code_is_left_out(code: int, related: int, room: int | None):
    full = await build_prompt(Context())
    assert sum_tokens(full.find("related")) == 7
    prompt = await build_prompt(Context(code_budget=code, related_budget=related), room)
    never_cut = ("system", "code", "task")
    assert [prompt.find(name) for name in never_cut] == [full.find(name) for name in never_cut]
    assert sum_tokens(prompt.find("related")) <= max(0, min(related, code - sum_tokens(prompt.find("code"))))
    if room is not None:
        fixed = sum(sum_tokens(prompt.find(name)) for name in never_cut)
        assert sum_tokens(prompt.find("related")) <= max(0, room - FRAME_TOKENS - fixed)
    lines = {line for fragment in full.find("related") for line in fragment.text.splitlines()}
    assert {line for fragment in prompt.find("related") for line in fragment.text.splitlines()} <= lines


async def test_an_error_about_a_long_system_prompt_names_the_setting():
    assert (await build_prompt(Context(system_budget=3))).texts["system"] == SYSTEM
    with pytest.raises(NoAnswer, match=r"has 3 tokens, and context\.system_budget allows 2; raise that"):
        await build_prompt(Context(system_budget=2))


async def test_the_sections_are_the_fragments_by_their_shares():
    prompt = await build_prompt(Context())
    assert list(prompt.texts) == ["system", "related", "code", "task"]
    assert prompt.texts["code"].startswith("def area(r):")
    assert sum(len(text) for text in prompt.texts.values()) == sum(len(fragment.text) for fragment in prompt.fragments)


def test_a_prompt_that_exceeds_the_context_is_reported_in_numbers():
    sections = {"system": 20, "code": 900, "task": 30}
    assert Allocation(sections, 1000, 500, 2048).excess_tokens == 0
    assert Allocation(sections, 1000, 500, 0).excess_tokens == 0
    too_much = Allocation(sections, 1000, 500, 1024)
    assert too_much.excess_tokens == 476
    assert (
        "1000 tokens and 500 are reserved for the answer, but the model's context has only 1024"
        in too_much.excess_message
    )
    assert asdict(too_much)["sections"] == sections


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (100, "do it\nalso one\nalso two\nEarlier attempts failed:\nLINT: wrong\nLINT: worse"),
        (12, "do it\nalso one\nEarlier attempts failed:\nLINT: wrong\nLINT: worse"),
        (10, "do it\nEarlier attempts failed:\nLINT: wrong\nLINT: worse"),
        (8, "do it\nEarlier attempts failed:\nLINT: wrong"),
        (6, "do it"),
        (2, "do it"),
    ],
)
async def test_a_short_budget_cuts_the_other_code_first_and_the_feedback_last(budget: int, expected: str):
    task = await fit_task("do it", ["LINT: wrong", "LINT: worse"], budget, count, ["also one", "also two"])
    assert (task.text, task.tokens) == (expected, len(expected.split()))


async def test_a_task_of_many_lines_is_cut_after_a_line_and_one_that_has_no_room_is_an_error():
    message = "Problem at line 1: no such type\n  because of this\n  and of that"
    assert (await fit_task(message, ["LINT: wrong"], 10, count)).text == "\n".join(message.split("\n")[:2])
    with pytest.raises(NoAnswer, match=r"the task has 7 tokens, and context\.task_budget allows 6; raise that"):
        await fit_task(message, [], 6, count)
