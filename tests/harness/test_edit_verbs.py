"""Edits of code that a user starts by an instruction, with a script for a model."""

from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.context.context_inputs import WorkspaceScope
from lsp_harness.errors import BinaryDocument, NoAnswer, UsageError
from lsp_harness.harness.edits.proposals import DocumentEdit
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.inference.request import ChatRequest, Infill
from tests.harness.bench import Bench, Make, accept
from tests.harness.spoken import (
    AREA,
    apply_document_edit,
    fence_code,
    ignore_progress,
    open_selection,
    read_prompt_events,
)
from tests.harness.tools import make_settings, turn_context
from tests.index.place import IndexedFolder

pytestmark = pytest.mark.process

NO_DELAY = {"debounce_ms": 0}
TWO = make_settings(generation={"candidates": 2, "max_retries": 1}, verification=NO_DELAY)


# -- by instruction
async def test_the_function_around_the_cursor_is_written_again(bench: Make):
    config = make_settings(TWO, verification={**NO_DELAY, "type_check": "off"})
    b = bench(
        fence_code("def area(r):\n    return math.pi * r ** 2"),
        fence_code("def area(r):\n    return 3 * r"),
        config=config,
    )
    where = open_selection(b, AREA)

    document_edit = await b.harness.edits.instruct(*where, "use math.pi", ignore_progress)

    assert apply_document_edit(document_edit) == "import math\n\n\ndef area(r):\n    return math.pi * r ** 2\n"
    assert document_edit.proposal.verdict.label == ("form ✓, behaviour not checked (parse ✓, lint ✓, types –, tests –)")
    assert "use math.pi" in b.engine.prompt(0)
    assert "import math" not in b.engine.prompt(0)


@pytest.mark.parametrize(("share", "shown"), [(384, True), (4, False), (0, False)])
async def test_code_that_the_function_uses_is_shown_within_its_budget(bench: Make, share: int, shown: bool):
    config = make_settings(generation={"candidates": 1, "max_retries": 0}, context={"related_budget": share})
    b = bench(fence_code("def area(r):\n    return math.pi * square(r)"), config=config)
    head = "import math\n\n\ndef square(r: float):\n    return r * r\n\n\n"
    where = open_selection(b, f"{head}def <|>area(r):\n    return 3 * square(r)\n")

    await b.harness.edits.instruct(*where, "use math.pi", ignore_progress)

    assert ("def square(r: float): ..." in b.engine.prompt(0)) == shown
    assert "return r * r" not in b.engine.prompt(0)


async def test_only_the_selected_lines_are_the_models_to_change(bench: Make):
    b = bench(fence_code("b = 20\nc = 30"), fence_code("b = 2"), config=TWO)
    where = open_selection(b, "if 1:\n    a = 1\n    b<|> = 2\n    c = 3<|>\n    d = 4\n")

    document_edit = await b.harness.edits.instruct(*where, "ten times as much", ignore_progress)

    assert apply_document_edit(document_edit) == "if 1:\n    a = 1\n    b = 20\n    c = 30\n    d = 4\n"


async def test_a_rejected_edit_is_tried_again_with_its_findings(bench: Make):
    b = bench(
        fence_code("def area(r):\n    return pi * r"),
        fence_code("def area(r):\n    return ("),
        fence_code("def area(r):\n    return math.pi * r"),
        config=TWO,
    )
    where = open_selection(b, AREA)

    document_edit = await b.harness.edits.instruct(*where, "use pi", ignore_progress)

    assert "math.pi * r\n" in apply_document_edit(document_edit)
    assert "LINT: F821 Undefined name `pi`" in b.engine.prompt(-1)
    text = b.harness.turns.verdict(b.harness.turns.verdict_name(document_edit.proposal))
    assert text.startswith("# Edit: use pi")
    assert text.count("## Candidate") == 3
    assert text.count("\nits prompt: system 16, code 8, task ") == 3
    assert "tokens of a context of 8,192 are reserved for the answer" in text
    assert "LINT: F821" in text


async def test_a_small_context_is_no_reason_not_to_ask_but_too_small_a_one_is(bench: Make):
    b = bench(fence_code("def area(r):\n    return math.pi"), fence_code("x"), config=TWO)
    where = open_selection(b, AREA)
    b.engine.extra_props["n_ctx"] = 300

    document_edit = await b.harness.edits.instruct(*where, "use math.pi", ignore_progress)

    assert "Related code" not in b.engine.prompt(0)
    events = b.harness.services.session.log.turns[document_edit.proposal.turn]
    [event_data] = [event.data for event in events if event.type == "context.built"][:1]
    assert (list(event_data["sections"]), event_data["candidates"]) == (["system", "code", "task"], [1])
    assert (event_data["answer"], event_data["context"]) == (264, 300)
    assert sum(event_data["sections"].values()) <= event_data["prompt"] <= 300 - 264
    b.engine.extra_props["n_ctx"] = 280
    with pytest.raises(
        NoAnswer, match=r"264 are reserved for the answer, but the model's context has only 280; select less"
    ):
        await b.harness.edits.instruct(*where, "use math.pi", ignore_progress)
    assert len(b.engine.foreground_requests) == 2


async def test_the_context_limits_the_number_of_candidates(bench: Make):
    config = make_settings(generation={"candidates": 4, "max_retries": 0}, verification={"debounce_ms": 0})
    b = bench(*[fence_code("x")] * 3, config=config)
    b.engine.extra_props["n_ctx"] = 40 + 2 * 264

    with pytest.raises(NoAnswer, match="No candidate passed"):
        await b.harness.edits.instruct(*open_selection(b, AREA), "use math.pi", ignore_progress)

    asked = [request for request in b.engine.foreground_requests if isinstance(request, ChatRequest)]
    assert [request.sampling.n for request in asked] == [1, 2]
    event_data = [
        event.data
        for events in b.harness.services.session.log.turns.values()
        for event in events
        if event.type == "context.built"
    ]
    assert [one["candidates"] for one in event_data] == [[1], [2, 3]]
    assert all(one["prompt"] + one["answer"] * len(one["candidates"]) <= one["context"] for one in event_data)


async def test_without_room_for_a_retry_the_error_quotes_the_closest_candidate(bench: Make):
    b = bench(
        fence_code("def area(r):\n    return pi * r"),
        config=make_settings(TWO, generation={"candidates": 1, "max_retries": 1}),
    )
    b.engine.extra_props["n_ctx"] = 264 + 34

    with pytest.raises(
        NoAnswer, match=r"the closest is candidate 1 \(`\+ return pi \* r`\): LINT: F821 Undefined name `pi`"
    ):
        await b.harness.edits.instruct(*open_selection(b, AREA), "use pi", ignore_progress)


def apply_in_document(b: Bench, document_edit: DocumentEdit) -> None:
    """Apply an edit to the document, as an editor does."""
    [edit] = document_edit.proposal.edits
    uri = document_edit.document.uri
    b.harness.change(uri, edit, b.harness.documents.get(uri).text.version + 1)


@pytest.mark.parametrize(("share", "shown"), [(200, True), (9, False), (0, False)])
async def test_an_edit_gets_earlier_decisions_about_its_file(bench: Make, share: int, shown: bool):
    config = make_settings(
        generation={"candidates": 1, "max_retries": 1}, context={"session_budget": share}, verification=NO_DELAY
    )
    b = bench(
        fence_code("def area(r):\n    return math.pi * r ** 2"),
        fence_code("def other():\n    return 2"),
        *[fence_code("def area(r):\n    return math.pi + tau")] * 2,
        config=config,
    )
    snapshot, span = open_selection(b, AREA)
    apply_in_document(b, await b.harness.edits.instruct(snapshot, span, "use math.pi", ignore_progress))
    await b.harness.edits.instruct(
        *open_selection(b, "def <|>other():\n    return 1\n", "b.py"), "two, not one", ignore_progress
    )
    with pytest.raises(NoAnswer, match="Undefined name `tau`"):
        await b.harness.edits.instruct(b.harness.snapshot(snapshot.document.uri), span, "use math.tau", ignore_progress)

    first, elsewhere, second, retry = (b.engine.prompt(n) for n in range(4))
    line = "Decision, applied: use math.pi (a.py, +1 -1 in def area(r):)\n"
    told = f"```\n\nEarlier in this session:\n{line}\nInstruction: use math.tau"
    assert [told in prompt for prompt in (second, retry)] == [shown] * 2
    # what was decided about other files is none of its business
    assert ("Earlier" in first, "Decision" in elsewhere, "two, not one" in second) == (False, False, False)
    # and whoever tries again reads it no more
    assert retry.startswith(second.rstrip("\n"))
    assert [one["sections"].get("session", 0) for one in read_prompt_events(b)[2:]] == [
        len(line.split()) if shown else 0
    ] * 2


async def test_an_edit_gets_open_findings_of_other_files(bench: Make):
    b = bench(
        "pi * r ** 2", fence_code("def area(r):\n    return 1"), config=make_settings(TWO, generation={"candidates": 1})
    )
    await accept(b, b.open("def area(r):\n    return <|>\n", "shop/b.py"))
    await b.next()
    where = open_selection(b, AREA)
    await b.harness.edits.instruct(*where, "one", ignore_progress)
    assert "Earlier in this session:\nOpen in shop/b.py: LINT: F821 Undefined name `pi`" in b.engine.prompt(-1)


@pytest.mark.parametrize(
    ("text", "instruction", "why"),
    [
        ("<|>\n\n", "do it", "no code here to edit"),
        (AREA, "key AKIA" + "A" * 16, "looks like a secret"),
        ("k = 'AKIA" + "A" * 16 + "'<|>\n", "do it", "looks like a secret"),
        ("<|>k = 'AKIA" + "A" * 16 + "'<|>\n", "do it", "looks like a secret"),
        (AREA, "word " * 600, "601 tokens, and context.task_budget allows 512"),
        (AREA, "word " * 256 + "\n" + "word " * 256, "513 tokens, and context.task_budget allows 512"),
        ("<|>" + "x = 1\n" * 600 + "<|>", "do it", "select less"),
    ],
)
async def test_an_impossible_instruction_is_refused_without_a_request(
    bench: Make, text: str, instruction: str, why: str
):
    b = bench(config=TWO)
    with pytest.raises(NoAnswer, match=why):
        await b.harness.edits.instruct(*open_selection(b, text), instruction, ignore_progress)
    assert b.engine.foreground_requests == []


async def test_an_instruction_needs_words_and_a_workspace_trust(bench: Make):
    b = bench()
    where = open_selection(b, AREA)
    with pytest.raises(UsageError, match="in a few words"):
        await b.harness.edits.instruct(*where, "  ", ignore_progress)
    edits = bench(is_trusted=False).harness.edits
    for verb in (edits.docstring, edits.tests, edits.explain):
        with pytest.raises(UsageError, match="not trusted"):
            await verb(*where, ignore_progress)
    assert edits.available(*where) == []


# -- told what a tool has printed
BROKEN = "def area(r):\n    return <|>3 * r\n"
PYTEST = """\
=================================== FAILURES ===================================
__________________________________ test_area ___________________________________

    def test_area():
>       assert area(1) == 4
E       assert 3 == 4

test_a.py:5: AssertionError
=========================== short test summary info ============================
FAILED test_a.py::test_area - assert 3 == 4
============================== 1 failed in 0.02s ===============================
"""
NO_IMPORT = """\
=========================== ERRORS ===========================
__________________ ERROR collecting test_a.py __________________
test_a.py:1: in <module>
    from a import size
E   {0}
================== short test summary info ===================
ERROR test_a.py
1 error in 0.10s
"""


async def test_an_edit_gets_the_output_of_a_tool(bench: Make):
    b = bench(fence_code("def area(r):\n    return 4 * r"), config=make_settings(TWO, generation={"candidates": 1}))
    document_edit = await b.harness.edits.instruct(*open_selection(b, BROKEN), "mend it", ignore_progress, PYTEST)
    assert "Instruction: mend it\nTEST FAIL: test_area — AssertionError: expected 4, got 3" in b.engine.prompt(0)
    events = b.harness.services.session.log.turns[document_edit.proposal.turn]
    assert [event.data["summary"] for event in events if event.type == "output.read"] == ["pytest: 1 failed"]
    assert "Ran pytest: 1 failed" in b.harness.services.session.log.summary.lines


async def test_a_failing_test_is_repaired_in_the_function_under_test(bench: Make):
    b = bench(fence_code("def area(r):\n    return 4 * r"), config=make_settings(TWO, generation={"candidates": 1}))
    document_edit = await b.harness.fixes.fix_reported(*open_selection(b, BROKEN), PYTEST, ignore_progress)
    assert apply_document_edit(document_edit) == "def area(r):\n    return 4 * r\n"
    assert "TEST FAIL: test_area — AssertionError: expected 4, got 3" in b.engine.prompt(0)


async def test_a_test_file_that_cannot_be_imported_is_repaired_like_a_failing_test(bench: Make):
    b = bench(fence_code("def area(r):\n    return 4 * r"), config=make_settings(TWO, generation={"candidates": 1}))
    printed = NO_IMPORT.format("ImportError: cannot import name 'size' from 'a'")
    document_edit = await b.harness.fixes.fix_reported(*open_selection(b, BROKEN), printed, ignore_progress)
    assert apply_document_edit(document_edit) == "def area(r):\n    return 4 * r\n"
    assert "TEST FAIL: test_a.py — ImportError: cannot import name 'size' from 'a'" in b.engine.prompt(0)


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("b.py:1:1: F821 Undefined name `x`\n", "the output reports nothing in a.py"),
        # no edit installs it
        (NO_IMPORT.format("ModuleNotFoundError: No module named 'numpy'"), "the output reports nothing in a.py"),
        ("a.py:1:1: F821 no\n", "nothing on line 2 of a.py; choose a line that it reports: 1$"),
    ],
)
async def test_output_that_does_not_mention_the_place_is_refused(bench: Make, printed: str, why: str):
    b = bench()
    with pytest.raises(UsageError, match=why):
        await b.harness.fixes.fix_reported(*open_selection(b, BROKEN), printed, ignore_progress)


# -- what other files say
SHOP = {
    "shop/cart.py": "class Cart:\n    def items(self) -> list[int]: ...\n    def empty(self) -> bool: ...\n",
    "tests/test_till.py": "from shop.till import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
    "shop/till.py": "",
}
ONE = {"generation": {"candidates": 1, "max_retries": 0}}
TILL = """
    from shop.cart import Cart


    def total(cart: Cart) -> int:
        found = cart.items()
        return sum(fuond)
        #          ^^^^^ F821 what is this
    """


async def test_in_a_small_context_the_code_of_other_files_is_left_out_first(bench: Make, tmp_path: Path):
    b = bench(
        *["return sum(found)"] * 3, config=make_settings(completion={"repository_tokens": 512, "max_tokens": 9}, **ONE)
    )
    src = b.open(TILL, "shop/till.py")
    prompts = list[int]()
    for context in (8192, 48, 28):
        b.engine.extra_props["n_ctx"] = context
        with closing(IndexedFolder(tmp_path / str(context), SHOP)) as indexed:
            job = turn_context(b, b.harness.snapshot(src.document.uri))
            job = replace(job, workspace=WorkspaceScope(indexed.query))
            await run_edit_task(Fix(job, src.finding))
        one = next(
            event.data
            for event in b.harness.services.session.log.turns[job.turn.number]
            if event.type == "context.built"
        )
        assert one["prompt"] + one["answer"] <= context
        prompts.append(one["sections"].get("repository", 0))
    assert prompts[0] > prompts[1] > prompts[2] == 0


async def test_an_error_says_that_the_prompt_of_a_fix_does_not_fit(bench: Make):
    b = bench(config=make_settings(**ONE))
    b.engine.extra_props["n_ctx"] = 40
    src = b.open(TILL, "shop/till.py")
    with pytest.raises(NoAnswer, match="No candidate passed the checks; the prompt has"):
        await run_edit_task(Fix(turn_context(b, b.harness.snapshot(src.document.uri)), src.finding))
    assert b.engine.foreground_requests == []


@pytest.mark.parametrize(("tokens", "shown"), [(512, True), (0, False)])
async def test_the_fills_of_a_fix_get_code_of_other_files(bench: Make, tmp_path: Path, tokens: int, shown: bool):
    config = make_settings(
        TWO, completion={"repository_tokens": tokens}, generation={"candidates": 2, "max_retries": 0}
    )
    b = bench("return sum(found)", "return sum(found)", config=config)
    src = b.open(TILL, "shop/till.py")
    with closing(IndexedFolder(tmp_path, SHOP)) as indexed:
        job = turn_context(b, b.harness.snapshot(src.document.uri))
        job = replace(job, workspace=WorkspaceScope(indexed.query))
        await run_edit_task(Fix(job, src.finding))
    fills = [request for request in b.engine.foreground_requests if isinstance(request, Infill)]
    assert fills
    for fill in fills:
        said = "".join(text for _, text in fill.context.extra)
        assert ("def items(self) -> list[int]" in said) == shown
    event_data = [
        event.data for event in b.harness.services.session.log.turns[job.turn.number] if event.type == "context.built"
    ]
    assert [("repository" in one["sections"]) for one in event_data] == [shown] * len(event_data)


async def test_all_fills_of_one_place_have_the_same_beginning(bench: Make, tmp_path: Path):
    config = make_settings(TWO, completion={"repository_tokens": 512}, generation={"candidates": 5, "max_retries": 2})
    b = bench(*["return 1 +"] * 5, config=config)
    src = b.open(TILL.replace("what is this", "items, maybe, of a Cart: see register"), "shop/till.py")
    shop = SHOP | {"shop/register.py": "def register(wrong, error, right):\n    return wrong.items(error, right)\n"}
    with closing(IndexedFolder(tmp_path, shop)) as indexed:
        job = turn_context(b, b.harness.snapshot(src.document.uri))
        job = replace(job, workspace=WorkspaceScope(indexed.query))
        with suppress(NoAnswer):
            await run_edit_task(Fix(job, src.finding))
    fills = [request.context for request in b.engine.foreground_requests if isinstance(request, Infill)]
    assert len({fill.prefix for fill in fills}) > 1
    assert len({fill.extra for fill in fills}) == 1


async def test_generated_tests_get_the_used_code_and_existing_tests(bench: Make, tmp_path: Path):
    text = "from shop.cart import Cart\n\n\ndef total(cart: Cart) -> int:\n    return 0\n"
    with closing(IndexedFolder(tmp_path, SHOP | {"shop/till.py": text})) as indexed:
        b = bench(*["():\n    assert total(1) == 0\n"] * 3, index=ReadyIndex(indexed.query))
        where = open_selection(
            b, "from shop.cart import Cart\n\n\ndef <|>total(cart: Cart) -> int:\n    return 0\n", "shop/till.py"
        )
        document_edit = await b.harness.edits.tests(*where, ignore_progress)
    assert "def test_total" in apply_document_edit(document_edit)
    request = b.engine.foreground_requests[0]
    assert isinstance(request, Infill)
    said = dict(request.context.extra)
    assert "class Cart:" in said["shop/cart.py"]
    assert "assert total([]) == 0" in said["tests/test_till.py"]
    [event_data, *_] = [
        event.data
        for event in b.harness.services.session.log.turns[document_edit.proposal.turn]
        if event.type == "context.built"
    ]
    assert list(event_data["sections"]) == ["related", "code", "prefix"]


# -- what is offered
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (AREA, ["docstring", "tests", "explain"]),
        ("<|>x = 1<|>\n", ["instruct", "explain"]),
        ('def f():<|>\n    """Has one."""\n    return 1\n', ["tests", "explain"]),
        ("x = 1<|>\n", []),
    ],
)
async def test_verbs_are_offered_only_where_they_apply(bench: Make, text: str, expected: list[str]):
    b = bench()
    assert b.harness.edits.available(*open_selection(b, text)) == expected


async def test_a_private_or_binary_file_is_offered_no_edit(bench: Make):
    b = bench()
    where = open_selection(b, "<|>KEY=1<|>\n", ".env")
    assert b.harness.edits.available(*where) == []
    with pytest.raises(NoAnswer, match="a file for secrets, by its name"):
        await b.harness.edits.explain(*where, ignore_progress)
    binary = open_selection(b, "<|>\0\n", "b.py")
    assert b.harness.edits.available(*binary) == []
    with pytest.raises(BinaryDocument):
        await b.harness.edits.explain(*binary, ignore_progress)


# -- examples
LIKE = "{0}\n@app.get('/{1}')\ndef {1}(id: int):\n    return page({1}s.find(id))\n"
MANY = {f"{name}.py": LIKE.format("from web import app\n\n", name) for name in ("user", "order", "item")}


@pytest.mark.parametrize(
    ("context", "shown"),
    [({}, 1), ({"few_shot_examples": 2}, 2), ({"few_shot_examples": 0}, 0), ({"few_shot_budget": 3}, 0)],
)
async def test_code_that_is_built_alike_is_shown_as_an_example(
    bench: Make, tmp_path: Path, context: dict[str, int], shown: int
):
    # what the words of the task find would show them too
    config = make_settings(TWO, context={"related_budget": 0, **context})
    text = "from web import app\n\n\n@app.get('/bill')\ndef <|>bill(id: int):\n    return 1\n"
    with closing(IndexedFolder(tmp_path, MANY)) as indexed:
        b = bench(config=config, index=ReadyIndex(indexed.query))
        snapshot, span = open_selection(b, text)
        preview = await b.harness.preview()
        prompt = await preview.edit(snapshot, span, "return a page")
    reasons = [fragment.reason for fragment in prompt.fragments]
    assert reasons.count("is a pattern here: functions decorated with app.get") == shown
    assert prompt.text.count("How such code is written here") == min(shown, 1)
    assert sum(f"def {name}(id: int):" in prompt.text for name in ("user", "order", "item")) == shown


async def test_code_that_the_words_of_an_instruction_find_is_shown(bench: Make, tmp_path: Path):
    files = {"tax.py": "def with_tax(price):\n    return price * 1.2\n", "far.py": "def zebra():\n    return 0\n"}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        b = bench(config=TWO, index=ReadyIndex(indexed.query))
        snapshot, span = open_selection(b, "def <|>total(prices):\n    return sum(prices)\n")
        preview = await b.harness.preview()
        prompt = await preview.edit(snapshot, span, "add the tax of each price")
    [one] = [fragment for fragment in prompt.fragments if fragment.reason == "found for the task"]
    assert (one.text, one.origin) == (f"# tax.py:1\n{files['tax.py']}", "tax.py")
    assert one.text in prompt.text


async def test_a_fix_is_shown_an_example_too(bench: Make, tmp_path: Path):
    b = bench(*["return ("] * 2, config=TWO)
    src = b.open(
        """
        @app.get('/bill')
        def bill(id: int):
            found = bills
            return page(found.find(id), name)
            #                           ^^^^ F821 what is this
        """
    )
    with closing(IndexedFolder(tmp_path, MANY)) as indexed:
        job = turn_context(b, b.harness.snapshot(src.document.uri))
        job = replace(job, workspace=WorkspaceScope(indexed.query))
        with pytest.raises(NoAnswer):
            await run_edit_task(Fix(job, src.finding))
    rewrites = [n for n, request in enumerate(b.engine.foreground_requests) if isinstance(request, ChatRequest)]
    assert rewrites
    assert all("How such code is written here, not to be changed:" in b.engine.prompt(n) for n in rewrites)
