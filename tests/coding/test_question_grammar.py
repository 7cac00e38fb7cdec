"""Exact questions in prompts: each family in several wordings, and prompts that ask nothing of the kind."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from lsp_harness.coding.questions.question import Family, Question, QuestionSubject
from lsp_harness.coding.questions.question_grammar import read_question

QUESTIONS = {
    "where is parse_config defined?": Question("where", "parse_config"),
    "which file defines `Signer.sign`": Question("where", "Signer.sign"),
    "hi, I am new here. Can you tell me where the class Foo lives?": Question("where", "Foo"),
    "who calls base64_decode()": Question("callers", "base64_decode"),
    "callers of Foo::bar?": Question("callers", "Foo.bar"),
    "how often is chunks called": Question("callers", "chunks"),
    "what does main call?": Question("callees", "main"),
    "which tests cover flatten, please": Question("tests", "flatten"),
    "is `info` in pkg/help.py tested?": Question("tests", "info", "pkg/help.py"),
    "what is in src/geo.py": Question("contents", file="src/geo.py"),
    "list the functions in `geo.py`, please": Question("contents", file="geo.py", topic="functions"),
    "how many classes are in utils.py?": Question("contents", file="utils.py", topic="classes"),
    "which methods does Signer have?": Question("members", "Signer", topic="methods"),
    "which exceptions are there?": Question("kinds", topic="exceptions"),
    "how many test files are there in this project?": Question("kinds", topic="test files"),
    "list all classes in src/net": Question("kinds", folder="src/net", topic="classes"),
    "what are the parameters of dump": Question("signature", "dump"),
    "i'd like to know what load returns": Question("signature", "load"),
    "docstring of Foo.bar": Question("documentation", "Foo.bar"),
    "subclasses of the String field?": Question("subtypes", "String"),
    "what is Foo's base class": Question("bases", "Foo"),
    "which errors can read_file throw?": Question("raises", "read_file"),
    "what does url.py import": Question("imports", file="url.py"),
    "who imports url.py": Question("importers", file="url.py"),
    "show me the code of Foo.bar": Question("code", "Foo.bar"),
    "print load_all": Question("code", "load_all"),
    "source of load_all": Question("code", "load_all"),
    "can you show me how load_all looks now?": Question("code", "load_all"),
    "let me see the body of load_all": Question("code", "load_all"),
    "show load_all too": Question("code", "load_all"),
    "what does load_all look like now": Question("code", "load_all"),
    "show me url.py": Question("code", file="url.py"),
    "show lines 3-8 of url.py": Question("code", file="url.py", topic="3-8"),
    "do the url tests still pass?": Question("results", "url"),
    "what did you change so far?": Question("changes"),
    "show me the diff": Question("changes"),
    "what's different now": Question("changes"),
    "show me what you changed": Question("changes"),
    "which lines did you change": Question("changes"),
    "diff of url.py": Question("changes", file="url.py"),
    "what changed?": Question("changes"),
    "is the working tree clean, or did somebody change something?": Question("changes"),
    "what was the last commit": Question("commits"),
    "which files did the last commit change?": Question("last_commit"),
    "are there any errors in url.py": Question("findings", file="url.py"),
    "check url.py for compiler errors": Question("findings", file="url.py"),
    "is tests/test_url.py green": Question("results", file="tests/test_url.py"),
    "default value of size in Store ?": Question("signature", "Store"),
    "load_all args and their defaults": Question("signature", "load_all"),
    "load_all raises which error when the file is not there": Question("raises", "load_all"),
    "url.py has how many tests": Question("contents", file="url.py", topic="tests"),
    "how much .ts files under src/net?": Question("kinds", folder="src/net", topic=".ts files"),
    "what files and functions do we have in folder src/net": Question("contents", folder="src/net"),
    "What commands does the tool have, and where are they declared?": Question("kinds", topic="commands"),
    "give me every error class (all that extends Error, also indirectly)": Question("kinds", topic="error class"),
    "who wrote load_all?": Question("declaration_commits", "load_all"),
    "what did ann change last": Question("person_commits", "ann"),
    "do the tests pass?": Question("results"),
    "run the tests and tell me whether they pass": Question("results"),
    "please run all tests": Question("results"),
    "are the tests of url.py green?": Question("results", file="url.py"),
    "which tests fail?": Question("results"),
    "can Foo.bar blow up, and with what?": Question("raises", "Foo.bar"),
    "anything uncommitted right now?": Question("changes"),
    "url.py broken? check plz": Question("findings", file="url.py"),
    "explain me parameters of Foo.bar": Question("signature", "Foo.bar"),
    # slips in words that are no names
    "wich excpetions does get_class raise?": Question("raises", "get_class"),
    "waht is inside the file `a/b.py`? I have just opened this project.": Question("contents", file="a/b.py"),
    "whats in geo.py": Question("contents", file="geo.py"),
    # what was said before the question
    "I am about to move `store.py` and would like to know first who imports it": Question("importers", file="store.py"),
}


# prompts that are none of the sentences, the plain words in them that are names, and the questions
FREE_QUESTIONS: dict[str, tuple[str, Question]] = {
    "hi! could you point me to the line where extract_quote lives?": ("", Question("where", "extract_quote")),
    "parse_link - file and line pls": ("", Question("where", "parse_link")),
    "flattenOptions is defined where exactly?": ("", Question("where", "flattenOptions")),
    "If I change what toc_item() returns, who is going to break?": ("", Question("callers", "toc_item")),
    "I'd like to add an argument to setUp. Could you give me the functions that call it?": (
        "",
        Question("callers", "setUp"),
    ),
    "who uses cssCase outside of the specs?": ("", Question("callers", "cssCase")),
    "where does the code throw DeprecationWarning?": ("", Question("callers", "DeprecationWarning")),
    "walk me through loadBuffer, and which functions it calls": ("", Question("callees", "loadBuffer")),
    "is there any test at all for add_hook, and if yes what's it called?": ("", Question("tests", "add_hook")),
    "List InlineState's methods for me, I need to know what I can call on it.": (
        "InlineState",
        Question("members", "InlineState", topic="methods"),
    ),
    "What arguments can be passed to `create_it`?": ("", Question("signature", "create_it")),
    "Can you read me the docstring of unikey? I can't guess what this is good for": (
        "unikey",
        Question("documentation", "unikey"),
    ),
    "What does the header comment in slim.ts say?": ("", Question("documentation", file="slim.ts")),
    "Everything that derives from DirectivePlugin, please.": ("", Question("subtypes", "DirectivePlugin")),
    "InternalOptions extends which interfaces?": ("", Question("bases", "InternalOptions")),
    "From Toc.parse which functions get invoked": ("", Question("callees", "Toc.parse")),
    "any callers of extract_quote left? wanna delete it": ("", Question("callers", "extract_quote")),
    "from which places is extract_quote called": ("", Question("callers", "extract_quote")),
    "We got a bug report about paths. Before I change it I need to know from where read_it gets called.": (
        "",
        Question("callers", "read_it"),
    ),
    "GitSpec is derived from which class": ("", Question("bases", "GitSpec")),
    "which class is GitSpec derived from?": ("", Question("bases", "GitSpec")),
    "how many tests files do we have in this repo": ("", Question("kinds", topic="tests files")),
    "Which exception comes out of Toc.parse?": ("", Question("raises", "Toc.parse")),
    "In load.ts I saw a `throw`. What errors can be thrown by that file?": ("", Question("raises", file="load.ts")),
    "Before I split helpers.py up: which modules depend on it?": ("", Question("importers", file="helpers.py")),
    "I opened byterange.py, what are the classes and functions there": ("", Question("contents", file="byterange.py")),
    "Count the spec files in the repo, please": ("", Question("kinds", topic="spec files")),
    "Who touched src/util.py last, and what was the reason given?": ("", Question("file_commits", file="src/util.py")),
    "I'd be curious who made the very first commit in this repository :)": ("", Question("first_commit")),
    "files touched by the newest commit?": ("", Question("last_commit")),
    "in which file did you put it?": ("put", Question("changes")),
    "how many files did you touch?": ("", Question("changes")),
    "are all tests in tests/net/ green?": ("", Question("results", folder="tests/net")),
    "Hello, could you tell me which exceptions Config.load can raise? Thank you.": (
        "",
        Question("raises", "Config.load"),
    ),
    "touch in storages.py, from where is it called": ("touch", Question("callers", "touch", "storages.py")),
    "signature IndexMap::insert_full": ("", Question("signature", "IndexMap.insert_full")),
    "IndexSet take(): what is the return type": ("IndexSet take", Question("signature", "IndexSet.take")),
    "convertors.py lines 79-90, show": ("", Question("code", file="convertors.py", topic="79-90")),
    "how many .test.ts files exist": ("", Question("kinds", topic=".test.ts files")),
}


@pytest.mark.parametrize("prompt", FREE_QUESTIONS)
def test_other_words_ask_the_same(prompt: str):
    declared, question = FREE_QUESTIONS[prompt]
    assert read_question(prompt, declared.split()) == question


@pytest.mark.parametrize("prompt", QUESTIONS)
def test_a_question_is_read_in_many_wordings(prompt: str):
    assert read_question(prompt) == QUESTIONS[prompt]


@pytest.mark.parametrize(
    "prompt",
    [
        "add input validation to parse_config",
        "fix the failing test test_max_age",
        "where is the cache invalidated?",
        "what does load do?",
        "explain how unsign checks max_age",
        "write tests for load, and tell me who calls it",
        "who calls it?",
        "hello",
        "total_price raises TypeError for an empty list",
        "the linter complains about an unused import in main.py",
        "does sort_items change its argument?",
        "find the bug in load_all and fix it",
        "which tests cover load_all?\nand a second line",
        "make the tests pass",
        "run the tests and fix what fails",
        "fix the failing tests",
        "I want to add a parameter to load_all",
        "can you make load_all return the lines that it reads?",
        "how does load_all work?",
        "i want a helper is_open(state) in utils.py, true when the type of the state is open",
        "where/how is load_all done",
        "load_all should call check_all",
        "what changed " + "in the long run " * 20,
    ],
)
def test_other_prompts_are_no_exact_questions(prompt: str):
    assert read_question(prompt) is None


@pytest.mark.parametrize(
    "prompt", ["double what double returns", "sort what load_all returns by size", "log which file load_all opened"]
)
def test_an_instruction_with_a_question_word_asks_nothing(prompt: str):
    assert read_question(prompt, {"double", "load_all"}) is None


def test_words_for_the_last_subject_mean_it():
    last = QuestionSubject("sign", "src/signer.py")
    assert read_question("and who calls it?", last=last) == Question("callers", "sign")
    assert read_question("who uses it?", last=last) == Question("callers", "sign")
    assert read_question("can it raise something?", last=last) == Question("raises", "sign")
    assert read_question("who imports it?", last=last) == Question("importers", file="src/signer.py")


@pytest.mark.parametrize("file", ["labelled_prompts", "held_out_prompts"])
def test_no_task_is_taken_for_a_question(file: str):
    prompts: list[tuple[str, str]] = json.loads(Path(__file__).with_name(f"{file}.json").read_text())
    tasks = [prompt for prompt, intent in prompts if intent in ("edit", "fix", "generate", "other")]
    assert len(tasks) > 10
    declared = {word for prompt in tasks for word in prompt.split()}
    assert [prompt for prompt in tasks if read_question(prompt) or read_question(prompt, declared)] == []


AFTER_LOAD_ALL: dict[str, Family] = {
    "show me how it looks now": "code",
    "show me the code": "code",
    "print it": "code",
    "let me see the function": "code",
    "how does it look now?": "code",
    "show it again": "code",
    "is it documented?": "documentation",
}


@pytest.mark.parametrize("prompt", AFTER_LOAD_ALL)
def test_what_is_to_be_seen_is_the_last_declaration(prompt: str):
    question = read_question(prompt, (), QuestionSubject("load_all", "url.py"))
    assert question == Question(AFTER_LOAD_ALL[prompt], "load_all")


@pytest.mark.parametrize("prompt", ["show me the code", "print the file", "show it"])
def test_without_a_declaration_the_last_file_is_shown(prompt: str):
    assert read_question(prompt, (), QuestionSubject("", "url.py")) == Question("code", file="url.py")


@pytest.mark.parametrize("prompt", ["how many tests are in that file now?", "how many tests are in there now"])
def test_there_is_the_last_file(prompt: str):
    question = read_question(prompt, (), QuestionSubject("load_all", "url.py"))
    assert question == Question("contents", file="url.py", topic="tests")


@pytest.mark.parametrize(
    "prompt",
    ["what does it do with the file if something fails", "what does it give back when the header is broken",
     "print the total at the end"],
)  # fmt: skip
def test_no_exact_answer_is_given(prompt: str):
    assert read_question(prompt, (), QuestionSubject("load_all", "url.py")) is None


def test_a_wish_for_something_new_is_no_question():
    prompt = "i want a helper is_open(scope) in state.py, true when the type of the scope is open"
    assert read_question(prompt, ()) is None


def test_wordings_of_other_people_are_read():
    """Wordings by two people who had not seen the code. Without a question it is a task, or asks for an opinion."""
    rows: list[tuple[str, str, str, dict[str, str]]] = json.loads(
        Path(__file__).with_name("question_wordings.json").read_text()
    )
    assert len(rows) > 400
    wrong = [
        (ask, question)
        for ask, declared, folders, expected in rows
        if (question := read_question(ask, declared.split(), None, folders.split()))
        != (Question(**cast("Any", expected)) if expected else None)
    ]
    assert wrong == []
