"""Follow-ups: prompts that go on with what the session did last, written anew as prompts that say all by themselves."""

import pytest

from lsp_harness.coding.questions.follow_ups import (
    FollowUp,
    continue_at_last_place,
    read_follow_up,
    read_second_request,
)
from lsp_harness.kernel.projections.code_progress import LastWork

EDIT = LastWork(
    "add input validation to area",
    "edit",
    "src/geo.py",
    "Shape.area",
    10,
    20,
    ("src/flat.py:3-9", "src/util.py:1-4"),
    is_applied=True,
)
QUESTION = LastWork("who calls area in src/geo.py?", "question", "src/geo.py", "Shape.area", 10, 20)
FILE = LastWork("what is in src/geo.py?", "question", "src/geo.py")
HERE = "`Shape.area` in src/geo.py"
DECLARED = {"Circle", "perimeter", "check_all", "load"}
WITHOUT_IMPORT = "add input validation to area, without the import"

FORMS = {
    "undo that": FollowUp("undo"),
    "please undo": FollowUp("undo"),
    "ok undo the rename, was only a try": FollowUp("undo"),
    "undo the test": FollowUp("undo"),
    "ok they would break, go back": FollowUp("undo"),
    "sorry i changed my mind about area, undo this one": FollowUp("undo"),
    "mhh no, I dont want the check anymore. undo": FollowUp("undo"),
    "dont need it after all, take it back": FollowUp("undo"),
    "forget it, put it back like it was before": FollowUp("undo"),
    "no forget it, undo all, like it was at the start": FollowUp("undo_all"),
    "revert everything": FollowUp("undo_all"),
    "and also in the doc comment": FollowUp("same", f"{EDIT.task}, also in the doc comment", HERE),
    "Revert the last change.": FollowUp("undo"),
    "take it back": FollowUp("undo"),
    "no, in utils.py": FollowUp("correction", EDIT.task, "add input validation to area in utils.py"),
    "in src/utils.py please": FollowUp("correction", EDIT.task, "add input validation to area in src/utils.py"),
    "not that one, I meant perimeter": FollowUp("correction", EDIT.task, "`perimeter`"),
    "wrong function, it should be Circle.area": FollowUp("correction", EDIT.task, "`Circle.area`"),
    "no, the one in flat.py": FollowUp("correction", EDIT.task, "add input validation to area in flat.py"),
    "the second one": FollowUp("correction", EDIT.task, "src/flat.py:3-9"),
    "no, 3": FollowUp("correction", EDIT.task, "src/util.py:1-4"),
    "try again without the import": FollowUp("retry", WITHOUT_IMPORT, HERE),
    "again, but without the import": FollowUp("retry", "add input validation to area, but without the import", HERE),
    "without the import": FollowUp("retry", WITHOUT_IMPORT, HERE),
    "try something else": FollowUp("retry", "add input validation to area, in another way than before", HERE),
    "no, it should return None": FollowUp("retry", f"{HERE} should return None"),
    "nah, revert it": FollowUp("undo"),
    "I dont like it, put it back how it was": FollowUp("undo"),
    "hm no, delete it again": FollowUp("undo"),
    "also the docstring": FollowUp("go_on", f"write a docstring for {HERE}"),
    "now the tests": FollowUp("go_on", f"write tests for {HERE}"),
    "and some type hints please": FollowUp("go_on", f"add type hints to {HERE}"),
    "write unit tests for it": FollowUp("go_on", f"write tests for {HERE}"),
    "no, put it into tests/test_geo.py": FollowUp(
        "correction", EDIT.task, "add input validation to area in tests/test_geo.py"
    ),
    "that's wrong, zero must be allowed": FollowUp("retry", f"{EDIT.task}, zero must be allowed", HERE),
    "not good, keep the cache": FollowUp("retry", f"{EDIT.task}, keep the cache", HERE),
    "try it with functools.lru_cache instead": FollowUp(
        "retry", f"{EDIT.task}, with functools.lru_cache instead", HERE
    ),
    "can you do it without typing.Optional": FollowUp("retry", f"{EDIT.task}, without typing.Optional", HERE),
    "shorter please": FollowUp("retry", f"{EDIT.task}, shorter please", HERE),
    "perimeter too": FollowUp("same", "add input validation to perimeter", "`perimeter`"),
    "do that in perimeter as well": FollowUp("same", "add input validation to perimeter", "`perimeter`"),
    "the same for perimeter": FollowUp("same", "add input validation to perimeter", "`perimeter`"),
    "do the same in Circle.area": FollowUp("same", "add input validation to Circle.area", "`Circle.area`"),
}


@pytest.mark.parametrize("prompt", FORMS)
def test_a_form_says_how_it_goes_on(prompt: str):
    assert read_follow_up(prompt, EDIT, DECLARED) == FORMS[prompt]


QUESTION_FORMS = {
    "and perimeter?": FollowUp("same", "who calls perimeter?"),
    "what about Circle.area?": FollowUp("same", "who calls Circle.area?"),
    "no, in flat.py": FollowUp("correction", "who calls area in flat.py"),
    "docs?": FollowUp("go_on", f"what is the documentation of {HERE}?"),
    "and the tests?": FollowUp("go_on", f"which tests run {HERE}?"),
}


@pytest.mark.parametrize("prompt", QUESTION_FORMS)
def test_a_question_goes_on(prompt: str):
    assert read_follow_up(prompt, QUESTION, DECLARED) == QUESTION_FORMS[prompt]


AT_LAST_PLACE = {
    "make it faster": f"make {HERE} faster",
    "and what does it do?": f"what does {HERE} do?",
    "explain that": f"explain {HERE}",
    "also handle negative numbers": f"handle negative numbers in {HERE}",
    "make it raise a LookupError instead": f"make {HERE} raise a LookupError instead",
    "it should use logging.debug and not print": f"{HERE} should use logging.debug and not print",
    "add a comment that explains why": f"add a comment that explains why in {HERE}",
    "use a set instead": f"use a set instead in {HERE}",
    "shorten its docstring": f"shorten the docstring of {HERE}",
    "this function should also accept None": f"{HERE} should also accept None",
}


@pytest.mark.parametrize("prompt", AT_LAST_PLACE)
def test_a_prompt_without_a_name_goes_on_at_the_last_place(prompt: str):
    assert read_follow_up(prompt, EDIT, DECLARED) is None
    assert continue_at_last_place(prompt, EDIT, DECLARED) == FollowUp("go_on", AT_LAST_PLACE[prompt])


def test_a_question_about_a_file_goes_on_with_another_file():
    assert read_follow_up("and src/flat.py?", FILE, ()) == FollowUp("same", "what is in src/flat.py?")


def test_a_file_or_lines_may_be_the_last_place():
    assert continue_at_last_place("explain it", FILE, ()) == FollowUp("go_on", "explain src/geo.py")
    lines = LastWork("fix line 3 of a.py", "fix", "a.py", "", 3, 5)
    assert continue_at_last_place("and simplify it", lines, ()) == FollowUp("go_on", "simplify a.py:3-5")


@pytest.mark.parametrize(
    "prompt",
    [
        "fix load_all so that it closes the file",
        "and who calls check_all?",
        "add a parameter timeout to Circle",
        "there is a typo in the README",
        "write hello.py that prints a greeting",
        "where is the cache invalidated?",
        "what is in src/flat.py",
        "add tests for Circle and run them again",
        "hello",
        "no tests fail",
        "show the number of results at the end",
    ],
)
def test_other_prompts_begin_anew(prompt: str):
    assert read_follow_up(prompt, EDIT, DECLARED) is None
    assert continue_at_last_place(prompt, EDIT, DECLARED) is None


def test_without_earlier_work_there_is_nothing_to_go_on_with():
    for prompt in (*FORMS, *AT_LAST_PLACE):
        assert read_follow_up(prompt, LastWork(), DECLARED) is None
        assert continue_at_last_place(prompt, LastWork(), DECLARED) is None


RENAME = LastWork("rename Shape._area to _size", "edit", "src/geo.py", "Shape._area", 1, 2, is_applied=True)


@pytest.mark.parametrize(
    "prompt",
    ["hmm no, better _extent", "call it _extent instead", "rather _extent", "no, _extent", "_extent is better",
     "I would prefer `_extent`", "rename it to _extent"],
)  # fmt: skip
def test_another_name_renames_again(prompt: str):
    assert read_follow_up(prompt, RENAME, ()) == FollowUp("retry", "rename Shape._area to _extent")


@pytest.mark.parametrize("prompt", ["great", "call it again", "do it in area instead please", "and area?", "undo it"])
def test_other_words_behind_a_rename_are_no_name(prompt: str):
    found = read_follow_up(prompt, RENAME, ())
    assert found is None or found.kind in ("undo", "same")


def test_another_value_is_set():
    last = LastWork("set limit to 50 in load", "edit", "a.py", "load", 1, 2, is_applied=True)
    assert read_follow_up("make that 75", last, ()) == FollowUp("same", "set limit to 75 in load", "`load` in a.py")
    assert read_follow_up("75 please", last, ()) == FollowUp("same", "set limit to 75 in load", "`load` in a.py")
    found = read_follow_up("make it 'x'", last, ())
    assert found == FollowUp("retry", "set limit to 50 in load, make it 'x'", "`load` in a.py")


def test_one_more_test_is_for_the_other_function():
    last = LastWork("add a test for area", "generate", "src/geo.py", "area", 1, 2, is_applied=True)
    found = read_follow_up("now one for perimeter, an empty list gives 0", last, DECLARED)
    task = "write a test for `perimeter` in src/geo.py: an empty list gives 0"
    assert found == FollowUp("same", task, "`perimeter` in src/geo.py")


def test_a_question_with_a_pronoun_is_asked_about_another_name():
    last = LastWork("is it documented?", "question", "src/geo.py", "Shape.area", 1, 2)
    assert read_follow_up("and perimeter in the same file?", last, DECLARED) == FollowUp(
        "same", "is perimeter documented?"
    )


def test_the_first_of_two_requests_is_done():
    declared = {"get_name", "run_all"}
    first, second = "add a docstring to get_name in a.py", "rename run_all to run_first"
    assert read_second_request(f"{first} and {second}", declared) == FollowUp("go_on", first, rest=second)
    assert read_second_request("rename get_name to run and update get_name", declared) is None
    assert read_second_request("rename get_name to first_and_last", declared) is None
