"""Prompts that create a file: which they are, and what becomes of them."""

from pathlib import Path

import pytest

from lsp_harness.coding.new_file import may_create_file
from lsp_harness.errors import NoAnswer
from lsp_harness.kernel.log.log_reader import read_log
from tests.sessions.conftest import OpenScripted, ask

ANSWER = {"text": "```python\ndef main():\n    print('hello')\n\n\nmain()\n```"}
TEXT = "def main():\n    print('hello')\n\n\nmain()\n"


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("write hello.py that prints hello", True),
        ("write a hello world program in hello.py", True),
        ("please create src/x/y.py with a function area", True),
        ("create a new file tools/a.ts that exports f", True),
        ("new file util.py with a function that reads a file", True),
        ("add a new file called util.py", True),
        ("put a function that adds two numbers into sums.py", True),
        ("add a docstring to load in util.py", False),
        ("write tests for load in tests/test_util.py", False),
        ("make the parser in util.py faster", False),
        ("fix the crash in util.py", False),
        ("add input validation to util.py", False),
        ("create a Node.js server", False),
        ("write notes.unknown with my notes", False),
        ("create a function area", False),
    ],
)
def test_the_words_of_a_prompt_tell_whether_it_may_create_a_file(prompt: str, expected: bool) -> None:
    assert may_create_file(prompt) is expected


@pytest.mark.parametrize("path", ["hello.py", "tools/say/hello.py"])
async def test_a_new_file_is_checked_shown_written_and_undone(
    open_scripted: OpenScripted, tmp_path: Path, path: str
) -> None:
    opened = await open_scripted(*[ANSWER] * 4, driver="code")
    stopped = await ask(opened, f"write {path} that prints hello")
    assert stopped.reason == "completed", stopped
    file = tmp_path / "project" / path
    assert file.read_text() == TEXT
    events = read_log(opened.session.log.path)
    [proposed] = [event.data for event in events if event.type == "edit.proposed"]
    assert str(proposed["diff"]).startswith(f"--- /dev/null\n+++ b/{path}\n")
    [intent] = [event.data for event in events if event.type == "intent.chosen"]
    assert (intent["intent"], intent["chooser"]) == ("generate", "facts")
    undone = await opened.undo()
    assert (undone.paths, undone.removed, file.exists()) == ((path,), (path,), False)


async def test_a_file_that_exists_is_not_written_over(open_scripted: OpenScripted, tmp_path: Path) -> None:
    opened = await open_scripted(driver="code")
    with pytest.raises(NoAnswer, match=r"geo.py exists already; say what to change in it, or name another file"):
        await ask(opened, "create a new file geo.py with a function area")
    assert (tmp_path / "project/geo.py").read_text() == "PI = 3\n"


async def test_new_code_for_a_file_that_exists_stands_below_its_code(
    open_scripted: OpenScripted, tmp_path: Path
) -> None:
    code = {"text": "```python\ndef edge(radius):\n    return 6 * radius\n```"}
    opened = await open_scripted({"text": "generate"}, *[code] * 4, driver="code")
    await ask(opened, "write a function edge in geo.py")
    assert (tmp_path / "project/geo.py").read_text().startswith("PI = 3\n")


async def test_a_path_outside_of_the_folder_is_refused(open_scripted: OpenScripted, tmp_path: Path) -> None:
    opened = await open_scripted(driver="code")
    with pytest.raises(NoAnswer, match=r"\.\./hello\.py would lie outside of project; name a path inside of it"):
        await ask(opened, "write ../hello.py that prints hello")
    (tmp_path / "project/out").symlink_to(tmp_path)
    with pytest.raises(NoAnswer, match="would lie outside"):
        await ask(opened, "write out/hello.py that prints hello")
    assert not (tmp_path / "hello.py").exists()


async def test_the_misspelt_name_of_a_file_creates_none(open_scripted: OpenScripted, tmp_path: Path) -> None:
    (tmp_path / "project/settings.py").write_text("SIZE = 1\n")
    opened = await open_scripted({"text": "other"}, driver="code")
    await ask(opened, "write a constant for the edge in setings.py")
    assert not (tmp_path / "project/setings.py").exists()
