"""Prompts, questions, diffs and cancellation over the Agent Client Protocol."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, text_block
from acp.helpers import embedded_text_resource, resource_block, resource_link_block

from tests.acp.conftest import GEO, Editor
from tests.support.scripted_session import call_text

RIGHT = "```python\ndef area(radius):\n    return math.pi * radius ** 2\n```"
CODE = ("edit", RIGHT, RIGHT, RIGHT)
CHANGE = call_text("edit", path="geo.py", old="3 * radius", new="4 * radius")


async def test_a_prompt_is_answered(editor: Editor):
    editor.script({"text": "It computes an area."})
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        answer = await agent.prompt(session_id=session.session_id, prompt=[text_block("what does area do?")])
    assert answer.stop_reason == "end_turn"
    assert editor.text == "It computes an area."
    assert answer.usage
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


@pytest.mark.parametrize(("choice", "is_changed"), [("once", True), ("reject", False), ("", False)])
async def test_the_user_of_the_editor_decides_about_a_tool(editor: Editor, choice: str, is_changed: bool):
    editor.script(CHANGE, "Done.")
    editor.choice = choice
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        await agent.prompt(session_id=session.session_id, prompt=[text_block("use 4")])
    [start] = editor.of_kind("tool_call")
    assert (start.kind, start.status, start.title) == ("edit", "pending", "edit geo.py")
    assert [place.path for place in start.locations] == [str(editor.root / "geo.py")]
    [diff] = start.content
    assert (diff.type, diff.old_text, diff.new_text) == ("diff", "3 * radius", "4 * radius")
    [(call, options)] = editor.questions
    assert call.tool_call_id == start.tool_call_id
    assert [option.kind for option in options] == ["allow_once", "allow_always", "allow_always", "reject_once"]
    assert editor.of_kind("tool_call_update")[-1].status == ("completed" if is_changed else "failed")
    assert ("4 * radius" in (editor.root / "geo.py").read_text()) == is_changed


@pytest.mark.parametrize(("choice", "status"), [("once", "completed"), ("reject", "failed")])
async def test_an_edit_of_the_code_driver_is_shown_as_a_diff_before_it_is_allowed(
    editor: Editor, choice: str, status: str
):
    editor.script(*CODE)
    editor.choice = choice
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        await agent.set_config_option(config_id="driver", session_id=session.session_id, value="code")
        answer = await agent.prompt(session_id=session.session_id, prompt=[text_block("use math.pi in area")])
        if choice == "once":
            assert "math.pi * radius ** 2" in (editor.root / "geo.py").read_text()
            await agent.prompt(session_id=session.session_id, prompt=[text_block("/undo")])
            assert "restored geo.py" in editor.text
    assert answer.stop_reason == "end_turn"
    assert (editor.root / "geo.py").read_text() == GEO
    [start] = editor.of_kind("tool_call")
    [diff] = start.content
    assert diff.path == str(editor.root / "geo.py")
    assert "-" not in diff.new_text
    assert "    return math.pi * radius ** 2\n" in diff.new_text
    assert "    return 3 * radius + math.pi\n" in diff.old_text
    [(call, _)] = editor.questions
    assert call.tool_call_id == start.tool_call_id
    order = [update.session_update for update in editor.updates]
    assert order.index("plan") < order.index("tool_call") < order.index("tool_call_update")
    assert editor.of_kind("tool_call_update")[-1].status == status
    assert editor.of_kind("plan")[-1].entries[-1].status == "in_progress"


async def test_a_running_turn_is_cancelled(editor: Editor):
    editor.script({"text": "Let me think", "hang": True}, "Still here.")
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        turn = asyncio.ensure_future(agent.prompt(session_id=session.session_id, prompt=[text_block("think")]))
        await editor.wait_for(lambda editor: "think" in editor.text)
        await agent.cancel(session_id=session.session_id)
        assert (await asyncio.wait_for(turn, 60)).stop_reason == "cancelled"
        # the session goes on
        answer = await agent.prompt(session_id=session.session_id, prompt=[text_block("are you there?")])
    assert answer.stop_reason == "end_turn"
    assert editor.text.endswith("Still here.")


async def test_a_question_ends_with_its_turn(editor: Editor):
    editor.script(CHANGE)
    answered = asyncio.Event()

    async def never(session_id: str, tool_call: Any, options: Any, **more: Any) -> Any:
        editor.questions.append(tool_call)
        answered.set()
        await asyncio.Event().wait()

    editor.request_permission = never
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        turn = asyncio.ensure_future(agent.prompt(session_id=session.session_id, prompt=[text_block("use 4")]))
        await asyncio.wait_for(answered.wait(), 60)
        await agent.cancel(session_id=session.session_id)
        assert (await asyncio.wait_for(turn, 60)).stop_reason == "cancelled"
    assert (editor.root / "geo.py").read_text() == GEO


async def test_modes_are_those_of_the_gate(editor: Editor):
    editor.script(CHANGE, "Done.")
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        assert session.modes
        assert session.modes.current_mode_id == "ask"
        assert {mode.id for mode in session.modes.available_modes} >= {"plan", "acceptEdits", "auto"}
        await agent.set_session_mode(session_id=session.session_id, mode_id="acceptEdits")
        await agent.prompt(session_id=session.session_id, prompt=[text_block("use 4")])
        with pytest.raises(RequestError):
            await agent.set_session_mode(session_id=session.session_id, mode_id="sudo")
    assert editor.questions == []
    assert "4 * radius" in (editor.root / "geo.py").read_text()
    assert editor.of_kind("current_mode_update")[0].current_mode_id == "acceptEdits"


async def test_a_saved_session_is_listed_loaded_resumed_and_forked(editor: Editor):
    editor.script("It computes an area.")
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        await agent.prompt(session_id=session.session_id, prompt=[text_block("what does area do?")])
        await agent.close_session(session_id=session.session_id)
        with pytest.raises(RequestError):
            await agent.prompt(session_id=session.session_id, prompt=[text_block("and now?")])
    editor.updates.clear()
    editor.options.clear()
    editor.script("Again.")
    async with editor.start() as agent:
        [row] = (await agent.list_sessions(cwd=str(editor.root))).sessions
        assert (row.session_id, row.title) == (session.session_id, "what does area do?")
        assert (await agent.list_sessions(cwd=str(editor.root.parent))).sessions == []
        with pytest.raises(RequestError, match="belongs to"):
            await agent.load_session(cwd=str(editor.root.parent), session_id=row.session_id, mcp_servers=[])
        await agent.load_session(cwd=str(editor.root), session_id=row.session_id, mcp_servers=[])
        assert editor.of_kind("user_message_chunk")[0].content.text == "what does area do?"
        assert editor.text == "It computes an area."
        forked = await agent.fork_session(cwd=str(editor.root), session_id=row.session_id, mcp_servers=[])
        assert forked.session_id != row.session_id
        for session_id in (forked.session_id, row.session_id):
            await agent.prompt(session_id=session_id, prompt=[text_block("say it again")])
        await agent.close_session(session_id=row.session_id)
        await agent.resume_session(cwd=str(editor.root), session_id=row.session_id, mcp_servers=[])
    assert editor.text == "It computes an area.Again.Again."


async def test_resources_are_parts_of_the_prompt_but_not_secrets(editor: Editor):
    (editor.root / ".env").write_text("KEY=abc\n")
    editor.script({"text": "Yes.", "expect": "@geo.py"})
    uri = (editor.root / "geo.py").as_uri()
    blocks = [
        text_block("look at"),
        resource_link_block("geo.py", uri),
        resource_block(embedded_text_resource(uri, "def marker(): ...")),
        resource_block(embedded_text_resource((editor.root / ".env").as_uri(), "KEY=abc")),
    ]
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        await agent.prompt(session_id=session.session_id, prompt=blocks)
        log = next(editor.home.rglob("events.jsonl")).read_text()
    assert "def marker(): ..." in log
    assert "KEY=abc" not in log
    assert ".env is left out" in editor.text


async def test_an_unsaved_text_is_edited_in_the_editor(editor: Editor):
    path = str(editor.root / "geo.py")
    editor.unsaved = {path: GEO.replace("3 * radius", "5 * radius")}
    editor.script(call_text("edit", path="geo.py", old="5 * radius", new="6 * radius"), "Done.")
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        blocks = [text_block("use 6 in"), resource_link_block("geo.py", (editor.root / "geo.py").as_uri())]
        await agent.prompt(session_id=session.session_id, prompt=blocks)
    assert "6 * radius" in editor.unsaved[path]
    assert (editor.root / "geo.py").read_text() == GEO


@pytest.mark.parametrize("cwd", ["relative", "/nowhere/at/all"])
async def test_a_wrong_folder_is_refused_in_words(editor: Editor, cwd: str):
    async with editor.start() as agent:
        with pytest.raises(RequestError) as caught:
            await agent.new_session(cwd=cwd, mcp_servers=[])
    assert caught.value.code == -32602
    assert cwd in str(caught.value)


@pytest.mark.model
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("models")
async def test_the_real_model_answers(editor: Editor, home: Path):
    editor.home = home
    # such a small model calls tools without an end
    editor.options += ["--allowed-tools", "", "--driver", "chat"]
    async with editor.start() as agent:
        session = await agent.new_session(cwd=str(editor.root), mcp_servers=[])
        answer = await agent.prompt(session_id=session.session_id, prompt=[text_block("Say the word yes.")])
        await agent.close_session(session_id=session.session_id)
    assert answer.stop_reason == "end_turn"
    assert editor.text.strip()
    [usage, *_] = editor.of_kind("usage_update")
    assert 0 < usage.used <= usage.size
