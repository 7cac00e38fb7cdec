"""Tests of what a session gives to its tools: the index, the rules about files, and the way in which they are shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from lsp_harness.chat.chat_driver import ChatDriver
from lsp_harness.harness.indexes.folder_index import FolderIndex
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.project import lazy_index
from lsp_harness.project.lazy_index import LazyIndex
from lsp_harness.sessions.direct_call import CallOutcome, call_tool
from lsp_harness.sessions.open_session import OpenSession
from tests.sessions.conftest import OpenScripted, ask, make_tool_call, say

USE = "from geo import area\n\n\ndef main():\n    return area(2)\n"


@pytest.fixture
def project(open_scripted: OpenScripted, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "geo.py").write_text("def area(radius):\n    return 3 * radius**2\n")
    (folder / "use.py").write_text(USE)
    return folder


async def call(opened: OpenSession, tool: str, **given: Any) -> CallOutcome:
    outcome = await call_tool(opened, tool, given)
    assert not outcome.is_error, outcome.output
    return outcome


# -- the index
async def test_the_first_search_opens_the_index_and_edits_refresh_it(
    open_scripted: OpenScripted, project: Path, tmp_path: Path
):
    opened = await open_scripted()
    await call(opened, "read", path="geo.py")
    await call(opened, "create", path="early.py", text="from geo import area\n\nprint(area(5))")
    indexes = tmp_path / "home" / "cache"
    assert not list(indexes.rglob("*.db"))

    uses = (await call(opened, "find_references", name="area")).output
    assert uses.splitlines()[0] == "4 uses of geo.py:1-2 function area"
    assert "use.py:5: return area(2)" in uses
    assert list(indexes.rglob("*.db"))

    await call(opened, "edit", path="use.py", old="    return area(2)", new="    return area(2) + area(3)")
    await call(opened, "create", path="late.py", text="def late():\n    return 1\n\n\nlate()")
    assert "late.py:5: late()" in (await call(opened, "find_references", name="late")).output
    assert "area(3)" in (await call(opened, "find_references", name="area")).output


async def test_the_settings_can_switch_the_index_off(
    open_scripted: OpenScripted, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_INDEX__ENABLED", "false")
    opened = await open_scripted()
    uses = (await call(opened, "find_references", name="area")).output
    assert uses.startswith("Lines with the name area (the index does not know")
    assert "use.py:5" in uses
    found = (await call(opened, "find_symbol", name="area")).output
    assert found.endswith("(the settings switch the index off, so only texts were searched)")
    assert not list((tmp_path / "home" / "cache").rglob("*.db"))


async def test_a_subagent_uses_the_index_of_its_parent(
    open_scripted: OpenScripted, project: Path, monkeypatch: pytest.MonkeyPatch
):
    made: list[Path] = []
    create = FolderIndex.__init__

    def count(self: FolderIndex, root: Path, *given: Any, **named: Any) -> None:
        made.append(root)
        create(self, root, *given, **named)

    monkeypatch.setattr(FolderIndex, "__init__", count)
    opened = await open_scripted(
        make_tool_call("agent", prompt="where is area used?"),
        say('<tool_call>\n{"name": "find_references", "arguments": {"name": "area"}}\n</tool_call>'),
        say("in use.py", expect="use.py:5"),
        say("done"),
    )
    await ask(opened, "go")
    await call(opened, "find_references", name="area")
    assert made == [project.resolve()]


class SlowIndex:
    """The index of a folder that is never ready, with the state of its process."""

    def __init__(self, **message: Any) -> None:
        self.last_message = message
        self.update_count, self.follow, self.is_kept_here = 0, True, True
        self.query = "the questions"

    def lend(self) -> Callable[[Path], FolderIndex | None]:
        return lambda root: cast("FolderIndex", self)


async def test_a_question_does_not_wait_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lazy_index, "FIRST_INDEX_WAIT_S", 0.12)
    monkeypatch.setattr(lazy_index, "POLL_INTERVAL_S", 0.001)
    slow = SlowIndex(state="scanning", done=1, of=2_000)
    index, heard = LazyIndex(tmp_path, find_shared=slow.lend()), list[str]()
    assert await index.ready(heard.append) == "the questions"
    assert heard == ["indexing: 1 of 2,000 files\n"]
    assert index.remark == "the index is not complete yet, so the answer may miss files"
    # the next question does not wait again, but for an index that is ready by now
    assert await index.ready(heard.append) == "the questions"
    assert len(heard) == 1
    slow.update_count = 1
    await index.ready(heard.append)
    assert index.remark == ""


async def test_an_index_that_cannot_be_written_is_reported(tmp_path: Path):
    slow = SlowIndex(state="paused", why="the disk is full")
    index = LazyIndex(tmp_path, find_shared=slow.lend())
    await index.ready(lambda text: None)
    assert index.remark == "the index is not kept up to date: the disk is full"


async def test_a_closed_session_opens_no_index(tmp_path: Path):
    index = LazyIndex(tmp_path)
    await index.aclose()
    assert await index.ready(lambda text: None) is None


# -- rules about files
async def test_a_rule_hides_files_from_the_tools_that_search(
    open_scripted: OpenScripted, project: Path, monkeypatch: pytest.MonkeyPatch
):
    (project / "secret").mkdir()
    (project / "secret" / "plan.py").write_text("from geo import area\n\nHIDDEN = area(1)\n")
    monkeypatch.setenv("LSP_HARNESS_PERMISSIONS__DENY", json.dumps(["read(secret/**)"]))
    opened = await open_scripted()
    left_out = "1 file was left out, because the rules of this session do not allow to read them"
    assert (await call(opened, "glob", pattern="**/*.py")).output == f"geo.py\nuse.py\n{left_out}"
    grep = (await call(opened, "grep", pattern="area")).output
    assert "plan" not in grep
    assert f"({left_out})" in grep
    uses = (await call(opened, "find_references", name="area")).output
    assert "plan" not in uses
    assert left_out in uses
    outcome = await call_tool(opened, "find_symbol", {"name": "HIDDEN"})
    assert "HIDDEN is only in files" in outcome.output
    refused = await call_tool(opened, "read", {"path": "secret/plan.py"})
    assert refused.reason == "denied"


async def test_a_list_of_tools_does_not_hide_files_from_the_listed_tool(open_scripted: OpenScripted, project: Path):
    opened = await open_scripted(allowed_tools=("grep",), disallowed_tools=("read(use.py)",))
    grep = (await call(opened, "grep", pattern="def ")).output
    assert "geo.py:1" in grep
    assert "use.py" not in grep


# -- how tools are shown
@pytest.mark.parametrize(("window", "is_short"), [(8192, False), (600, True)])
async def test_the_window_decides_how_tools_are_shown(open_scripted: OpenScripted, window: int, *, is_short: bool):
    call = make_tool_call("symbol_overview", path="geo.py")
    opened = await open_scripted(call, say("one"), context_tokens=window)
    await ask(opened, "which symbols are there?")
    engine = cast("ScriptedEngine", opened.parts.models[0].engine)
    system = cast("Any", engine.foreground_requests[0]).messages[0][1]
    assert ("read(path, first_line?: int" in system) == is_short
    assert ('"name": "symbol_overview"' in system) != is_short
    # a tool that is only named can be called
    completed = [event for event in opened.session.log.turns[0] if event.type == "tool.completed"]
    assert "PI" in completed[0].data["output"]


async def test_listed_tools_are_all_shown(open_scripted: OpenScripted):
    opened = await open_scripted(say("one"), context_tokens=600, allowed_tools=("read", "agent", "symbol_overview"))
    driver: ChatDriver = opened.create_chat_driver()
    assert list(opened.parts.tools) == ["read", "symbol_overview", "agent"]
    assert (
        "agent(prompt, preset?: explore|edit" in driver.render_all(opened.session.state.conversation)[1].messages[0][1]
    )
    await ask(opened, "hello")
    none = await open_scripted(say("one"), allowed_tools=())
    assert list(none.parts.tools) == []
    await ask(none, "hello")
    denied = await open_scripted(say("one"), disallowed_tools=("find_tool",))
    assert "find_tool" not in denied.parts.tools
    await ask(denied, "hello")


async def test_the_values_of_secret_variables_are_in_no_file(
    open_scripted: OpenScripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_API_KEY", "v4lue that nobody may see")
    opened = await open_scripted(
        make_tool_call("bash", command="env; printf '%s' \"$DB_PASSWORD\" | sed s/x/x/", execution="inline"),
        say("done"),
        env={"DB_PASSWORD": 'an0ther"one'},
    )
    await ask(opened, "go")
    files = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    texts = [path.read_bytes() for path in files]
    assert any(b"MY_API_KEY" in text for text in texts)
    for value in (b"v4lue", b"an0ther"):
        assert not [file for file, text in zip(files, texts, strict=True) if value in text]
