"""Prompts that are no sentence: words, commands of a shell, and pasted output of tools."""

from pathlib import PurePosixPath

import pytest

from lsp_harness.coding.questions.odd_prompts import PastedOutput, is_command, read_pasted_output, read_single_word
from lsp_harness.coding.questions.question import Question

TRACEBACK = """Traceback (most recent call last):
  File "/box/demo.py", line 3, in <module>
    load(None)
  File "/box/src/store.py", line 12, in load
    return json.loads(path)
  File "/usr/lib/python3.11/json/__init__.py", line 339, in loads
    raise TypeError(text)
TypeError: the JSON object must be str
"""
STACK = """TypeError: Cannot read properties of undefined (reading 'length')
    at measure (/box/src/measure.js:4:17)
    at Object.<anonymous> (/usr/lib/node/run.js:10:1)
"""
FILES = {"demo.py", "src/store.py", "src/measure.js", "tests/test_store.py"}


def find_file(path: str) -> str:
    inside = path.removeprefix("/box/")
    return inside if str(PurePosixPath(inside)) in FILES else ""


@pytest.mark.parametrize(
    "prompt",
    ["ls -la", "git status", "$ npm install left-pad", "rm -rf /", "pip install parse", "cat src/geo.py",
     "make -j4 test", "pytest tests/test_geo.py -k area", "find . -name x.py", "go test ./...", "echo 1 > a.txt"],
)  # fmt: skip
def test_a_command_is_recognized(prompt: str):
    assert is_command(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["find the bug in load", "make it faster", "make load raise a ValueError", "go through the errors",
     "open the file once", "test the parser", "which tests cover load?", "sort the users by name", "help",
     "git blame should show the author"],
)  # fmt: skip
def test_a_task_is_no_command(prompt: str):
    assert not is_command(prompt)


def test_a_single_word_asks_where_it_is():
    assert read_single_word("load", {"load"}) == Question("where", "load")
    assert read_single_word("`Store.load`?", {"load"}) == Question("where", "Store.load")
    assert read_single_word("src/store.py", ()) == Question("contents", file="src/store.py")
    assert read_single_word("hello", {"load"}) is None
    assert read_single_word("load it", {"load"}) is None


@pytest.mark.parametrize("before", ["", "please fix this:\n\n", "$ python demo.py\n"])
def test_a_traceback_is_repaired_at_its_last_frame_in_the_folder(before: str):
    found = read_pasted_output(before + TRACEBACK, "/box", find_file)
    assert found == PastedOutput("fix src/store.py:12: TypeError: the JSON object must be str", "src/store.py:12")


def test_the_output_of_other_tools_names_its_first_error():
    found = read_pasted_output("src/store.py:3:1: F401 `os` imported but unused\nFound 1 error.\n", "/box", find_file)
    assert found
    assert found.place == "src/store.py:3"
    head = "=========== short test summary info ============\n"
    failed = f"{head}FAILED tests/test_store.py::test_load - assert 1 == 2\n==== 1 failed, 2 passed in 0.10s ====\n"
    assert read_pasted_output(failed, "/box", find_file) == PastedOutput(
        "fix the failing test tests/test_store.py::test_load", ""
    )


@pytest.mark.parametrize(
    "prompt",
    [
        TRACEBACK.replace("/box/", "/other/"),
        "Traceback (most recent call last)",
        "add a function load\nwhich reads src/store.py\n",
        "hello\n\nthere\n",
        "x = 1\nprint(x)\n",
    ],
)
def test_a_text_without_a_problem_of_this_folder_is_no_output(prompt: str):
    assert read_pasted_output(prompt, "/box", find_file) is None
