"""Tests of the classification of a prompt by its intent, and of the decisions about a plan."""

import json
from pathlib import Path

import pytest

from lsp_harness.coding.plan import plan_choice, understanding
from lsp_harness.coding.plan.renames import Rename, parse_rename
from lsp_harness.coding.plan.understanding import EXAMPLES, INTENTS, understand_by_facts, understand_prompt
from lsp_harness.config.schema import Config
from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.inference.request import ChatRequest
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.sessions.model_choice import create_model

FOLDER = Path(__file__).parent
LABELLED = ("labelled_prompts.json", "held_out_prompts.json")
ITEM = PlannedItem("app.py", "main", 3, "caller", "uses load: load(path)")


def read_sentences(name: str) -> list[tuple[str, str]]:
    return [(text, intent) for text, intent in json.loads((FOLDER / name).read_text())]


def test_the_examples_are_not_among_the_measured_sentences():
    measured = [text for name in LABELLED for text, _ in read_sentences(name)]
    assert not {text for text, _ in EXAMPLES} & {*measured}
    assert len(measured) == len({*measured}) == 60
    assert {intent for name in LABELLED for _, intent in read_sentences(name)} == {*INTENTS}


@pytest.mark.parametrize(("answer", "intent"), [("fix", "fix"), ("gener", "other"), ("", "other"), ("Edit", "other")])
async def test_an_answer_is_one_of_the_words_or_a_question_to_the_user(answer: str, intent: str):
    engine = ScriptedEngine([{"text": answer}])
    assert await understand_prompt(engine, "repair it", 0.3) == intent
    [request] = engine.foreground_requests
    assert isinstance(request, ChatRequest)
    assert (request.sampling.temperature, request.sampling.n_predict) == (0.3, 5)
    assert all(f'"{word}"' in request.sampling.grammar for word in INTENTS)


async def test_a_secret_in_a_prompt_is_not_sent():
    secret = "ghp_" + "a1B2" * 9
    engine = ScriptedEngine([{"text": "edit"}, {"text": "keep"}])
    await understand_prompt(engine, f"use the token {secret} in login", 0.1)
    await plan_choice.decide_item(engine, f"use the token {secret} in login", "login", ITEM)
    assert secret not in "".join(map(prompt_text, engine.foreground_requests))


async def test_the_end_of_a_long_prompt_is_left_out_before_any_example():
    engine = ScriptedEngine([])
    messages = await understanding.build_messages(engine, "add a check to load. " + "word " * 9_000)
    assert len(messages) == 2 * len(EXAMPLES) + 2
    assert messages[-1][1].startswith("add a check to load. word")
    assert messages[0] == ("system", understanding.SYSTEM)


@pytest.mark.parametrize(
    ("task", "rename"),
    [
        ("rename the parameter path of read_rows to file", Rename("path", "file", "read_rows", "parameter")),
        ("Rename argument `a` in `Shape.scale()` to `b`.", Rename("a", "b", "Shape.scale", "parameter")),
        ("please rename the parameter x of the function f to y", Rename("x", "y", "f", "parameter")),
        ("rename the parameter x of f to y and check it", None),
        ("rename f to g", Rename("f", "g")),
        ("pls rename Store.load_all in store.py into read_all", Rename("Store.load_all", "read_all", "store.py")),
        ("In store.py rename the helper load_all to read_all", Rename("load_all", "read_all", "store.py")),
        (
            "In unset_key please call the parameter key_to_unset just key.",
            Rename("key_to_unset", "key", "unset_key", "parameter"),
        ),
        ("class UnknownCause --> WrappedCause", Rename("UnknownCause", "WrappedCause")),
        ("method split of Word shall be called cut, everywhere", Rename("split", "cut", "Word")),
        ("variable parts in cut_words => pieces", Rename("parts", "pieces", "cut_words", "variable")),
        ("the helper in url.py which decodes the path should be named decode_path", Rename("", "decode_path")),
        ("change the name of LIMIT to MAX_SIZE and update all callers", Rename("LIMIT", "MAX_SIZE")),
        ("please rename the class Store, new name Rows, also in the tests", Rename("Store", "Rows")),
        (
            "local variable parts inside cut_words, better name would be pieces",
            Rename("parts", "pieces", "cut_words", "variable"),
        ),
        (
            "in url.py the parameter pathOrName is too long for my taste, name it path",
            Rename("pathOrName", "path", "url.py", "parameter"),
        ),
        ("load_all: call it read_all", Rename("load_all", "read_all")),
        ("load_all is a bad name, it should be read_all", Rename("load_all", "read_all")),
        ("load_all should be called read_all everywhere, keep the file name", Rename("load_all", "read_all")),
        ("no, rename `load_all` in src/rows.py to read_all", Rename("load_all", "read_all", "src/rows.py")),
        ("the constant that says how many rows are kept: call it MAX_ROWS instead", Rename("", "MAX_ROWS")),
        ("load_all is slow, call it once", None),
        ("rename src/url.py to path.py", None),
        ("the result should be named in the message", None),
        ("make load_all return a list", None),
        ("let f take y", None),
    ],
)
def test_only_a_pure_rename_needs_no_model(task: str, rename: Rename | None):
    assert parse_rename(task) == rename


@pytest.mark.model
@pytest.mark.timeout(400)
async def test_a_real_model_answers_with_one_of_the_words():
    engine = create_model(Config(), "", "").engine
    try:
        # that it sorts well is measured elsewhere
        for text, _ in [*read_sentences(LABELLED[1])[::15], ("\x00{]" * 40, ""), ("fix " * 2_000, "")]:
            assert await understand_prompt(engine, text, 0.1) in INTENTS
    finally:
        await engine.aclose()


def test_words_that_leave_the_calls_as_they_are_decide_without_the_model():
    items = json.loads((FOLDER / "labelled_items.json").read_text())
    kept = [
        (task, answer)
        for task, _, role, name, reason, *_, answer in items
        if plan_choice.keeps_calls(task, PlannedItem("app.py", name, 1, role, reason))
    ]
    assert len(kept) > 2
    assert {answer for _, answer in kept} == {"keep"}


@pytest.mark.parametrize(
    ("task", "keeps"),
    [
        ("add an optional parameter timeout to fetch", True),
        ("give fetch a parameter timeout with the default 5", True),
        ("make fetch raise a ValueError for an empty address", True),
        ("add type hints to fetch", True),
        ("make fetch faster with a cache", True),
        ("add a method close to Fetcher that takes a reason and returns None", True),
        ("add a required parameter timeout to fetch", False),
        ("rename the optional parameter timeout of fetch", False),
        ("make fetch return None by default", False),
        ("let fetch check the address and pass it to all callers", False),
    ],
)
def test_only_some_words_leave_the_calls_as_they_are(task: str, keeps: bool):
    assert plan_choice.keeps_calls(task, ITEM) == keeps
    # a method that overrides the changed one may have to change, too
    assert not plan_choice.keeps_calls(task, PlannedItem("app.py", "Sub.fetch", 3, "override", "overrides fetch"))


@pytest.mark.parametrize(
    ("prompt", "intent"),
    [
        ("add a test that Store.load raises KeyError on an empty name", "generate"),
        ("There is no unit test for load_all yet. Could you write a small one?", "generate"),
        ("can somebody test that load_all raises an error for no path", "generate"),
        ("unit test for load_all pls", "generate"),
        ("a short jsdoc for createStore would be good", "generate"),
        ("doc comment missing on load_all", "generate"),
        ("load_all should throw a RangeError for negative sizes", "edit"),
        ("the error text must begin with Missing and the name", "edit"),
        # what is wrong may be a failing test
        ("load_all returns None but should return a list", None),
        ("make the failing test of load_all pass", "fix"),
        ("which tests does load_all need?", None),
        ("why must load_all return a list?", None),
    ],
)
def test_prompts_that_leave_no_choice_need_no_model(prompt: str, intent: str | None):
    known = understand_by_facts(prompt)
    assert (known and known[0]) == intent
