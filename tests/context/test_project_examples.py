"""Tests of examples from the project in the prompt of an instruction."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.config.schema import Context
from lsp_harness.context.context_inputs import CodeSelection, WorkspaceScope
from lsp_harness.context.fragment import Fragment, sum_tokens
from lsp_harness.context.instruction_prompt import InstructionPrompt, build_instruction_prompt
from lsp_harness.context.sources.index_sources import ProjectExampleSource
from lsp_harness.text.position import Span
from tests.context.counting import count_words as count
from tests.context.source_call import make_inputs, read_fragments
from tests.index.place import IndexedFolder
from tests.index.test_code_patterns import FILES
from tests.syntax.markup import Source, parse_marked

HANDLER = """\
from db import connect


# what people order
@app.get("/orders/{id}")
async def <|>read_order(id: int, db: Session = Depends(get_db)):
    order = db.order(id)
    return connect(order)
"""
TEXT = HANDLER.replace("<|>", "")


@pytest.fixture
def indexed_folder(tmp_path: Path):
    files = FILES | {"api/orders.py": TEXT, "db.py": "def connect(it): ...\n"}
    with closing(IndexedFolder(tmp_path, files)) as index:
        yield index


async def find_examples(
    indexed: IndexedFolder, source: Source, budget: int = 1000, most: int = 1
) -> tuple[Fragment, ...]:
    return await find_example_fragments(indexed, source, Span(source.start, source.end), "api/orders.py", budget, most)


async def find_example_fragments(
    indexed: IndexedFolder, source: Source, span: Span, path: str, budget: int, most: int
) -> tuple[Fragment, ...]:
    code = CodeSelection(source.tree.document, source.tree, span, path)
    scope = WorkspaceScope(indexed.query)
    return await read_fragments(ProjectExampleSource, make_inputs(code, scope, Context(few_shot_examples=most)), budget)


async def build_prompt(indexed: IndexedFolder, budget: Context) -> InstructionPrompt:
    source, task = parse_marked("api/orders.py", HANDLER), Fragment("Instruction: x", 2, "", "the task")
    span = Span(TEXT.index("@app"), len(TEXT))
    code = CodeSelection(source.tree.document, source.tree, span, "api/orders.py")
    read = make_inputs(code, WorkspaceScope(indexed.query), budget)
    return await build_instruction_prompt(read, system="You edit.", task=task)


async def test_a_handler_is_shown_another(indexed_folder: IndexedFolder):
    [example] = await find_examples(indexed_folder, parse_marked("api/orders.py", HANDLER))
    assert (example.origin, example.reason) == (
        "api/users.py",
        "is a pattern here: functions decorated with app.get, app.post",
    )
    assert example.text.startswith('# api/users.py:11\n# one of them\n@app.get("/users/{id}")\nasync def read_user(')
    assert example.text.endswith("    return UserOut.of(user)\n")


async def test_no_budget_is_passed_and_examples_stay_whole(indexed_folder: IndexedFolder):
    source = parse_marked("api/orders.py", HANDLER)
    complete = {example.text for example in await find_examples(indexed_folder, source, most=9)}
    assert len(complete) == 5
    for most in range(5):
        for budget in range(0, 90, 3):
            examples = await find_examples(indexed_folder, source, budget, most)
            assert len(examples) <= most
            assert sum(example.tokens for example in examples) <= budget
            assert [example.tokens for example in examples] == await count([example.text for example in examples])
            assert {example.text for example in examples} <= complete


async def test_the_most_similar_example_that_fits_is_shown(indexed_folder: IndexedFolder):
    source = parse_marked("api/orders.py", HANDLER)
    [most_similar] = await find_examples(indexed_folder, source)
    [other] = await find_examples(indexed_folder, source, most_similar.tokens - 1)
    assert other.text != most_similar.text


async def test_a_selection_inside_of_a_declaration_finds_the_same_examples(indexed_folder: IndexedFolder):
    body = TEXT.replace("connect(order)", "<|>connect(order)<|>")
    assert await find_examples(indexed_folder, parse_marked("api/orders.py", body)) == await find_examples(
        indexed_folder, parse_marked("api/orders.py", HANDLER)
    )
    assert (
        await find_examples(indexed_folder, parse_marked("api/orders.py", "<|>" + TEXT.partition("\n\n")[0] + "\n<|>"))
        == ()
    )


async def test_code_that_is_edited_together_is_no_example_of_itself(indexed_folder: IndexedFolder):
    source = parse_marked("api/users.py", f"<|>{FILES['api/users.py']}<|>")
    examples = await find_example_fragments(indexed_folder, source, Span(0, source.end), "api/users.py", 1000, 9)
    assert {example.origin for example in examples} <= {"api/items.py", "api/orders.py"}


async def test_examples_come_before_the_code_and_use_only_the_remaining_budget(indexed_folder: IndexedFolder):
    full = await build_prompt(indexed_folder, Context())
    reasons = [fragment.reason.partition(":")[0] for fragment in full.fragments]
    shown = ["imports that it uses", "defines what is used here"]
    assert reasons == ["system prompt", "is a pattern here", *shown, "code to change", "the task"]
    user = full.messages[1][1]
    assert user.index("How such code is written here, not to be changed:\n```python\n# api/users.py:11\n") == 0
    assert user.index("read_user") < user.index("Related code, not to be changed:\n") < user.index("The code:\n")
    [example], [code] = full.find("examples"), full.find("code")
    needed = code.tokens + sum_tokens(full.find("related"))
    for budget in range(code.tokens, needed + example.tokens + 1):
        prompt = await build_prompt(indexed_folder, Context(code_budget=budget))
        assert sum(sum_tokens(prompt.find(name)) for name in ("examples", "related", "code")) <= budget
        without = await build_prompt(indexed_folder, Context(code_budget=budget, few_shot_examples=0))
        assert prompt.find("related") == without.find("related")
    assert await build_prompt(indexed_folder, Context(code_budget=needed + example.tokens)) == full


@pytest.mark.parametrize("budget", [Context(few_shot_examples=0), Context(few_shot_budget=0)])
async def test_the_settings_can_leave_the_examples_out(indexed_folder: IndexedFolder, budget: Context):
    full = await build_prompt(indexed_folder, Context())
    assert full.find("examples")
    prompt = await build_prompt(indexed_folder, budget)
    assert prompt.find("examples") == ()
    assert "How such code" not in prompt.messages[1][1]
    assert prompt == replace(full, sections=tuple(section for section in full.sections if section.name != "examples"))
