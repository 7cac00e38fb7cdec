"""The commands of the SDK for an open session, against the session itself."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config import paths
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.sdk import ErrorEvent, HarnessClient, HarnessError, SessionChange, ToolEnd, query
from tests.support.scripted_session import call_text, write_script
from tests.test_tidy import ROOT

READ = call_text("read", path="a.txt")
CREATE = call_text("create", path="new.txt", text="made\n")
BACKGROUND = call_text("bash", command="echo begun; exec sleep 600", execution="background")


async def test_another_model_answers_after_a_change_of_the_model(project: Path, tmp_path: Path):
    first, second = write_script(tmp_path, READ), write_script(tmp_path, {"text": "from b", "expect": "the text of a"})
    name = f"scripted:{Path(second).name}"

    async def switch(facts: Mapping[str, Any]) -> None:
        # the turn runs, and its next call goes to the other model
        assert await client.set_model(provider=second) == name

    async with HarnessClient(cwd=project, provider=first, hooks={"preToolUse": [switch]}) as client:
        turn = await client.send("go")
        changes = [event async for event in turn if isinstance(event, SessionChange)]
        assert [(event.status, event.details["model"]) for event in changes] == [("model_changed", name)]
        assert turn.stop
        assert turn.stop.text == "from b"
        assert (await client.status())["model"] == name
        for wrong in ({"name": "no-such-model"}, {"provider": "nobody"}, {}):
            with pytest.raises(HarnessError, match=r"no-such-model|there is no provider|needs the name"):
                await client.set_model(**wrong)
        assert (await client.status())["model"] == name
    log = list(read_history(paths.sessions_folder(), client.session_id))
    [change] = [event for event in log if event.type == "model.changed"]
    assert change.data == {"model": name, "previous": client.started.model}
    assert [event.data["model"] for event in log if event.type == "model.completed"] == [client.started.model, name]


async def test_the_reported_size_of_the_prompt_grows_with_each_section(project: Path, tmp_path: Path):
    async with HarnessClient(cwd=project, provider=write_script(tmp_path, READ, "done"), in_process=True) as client:
        before = await client.context_usage()
        await (await client.send("what is in a?")).result()
        after = await client.context_usage()
    assert before["sections"]["messages"] == 0 < before["sections"]["system"]
    assert after["tokens"] == sum(after["sections"].values()) > before["tokens"]
    assert after["tokens"] < after["budget"] < after["window"]
    assert after["model"] == client.started.model
    log = list(read_history(paths.sessions_folder(), client.session_id))
    sent = [event.data["sections"]["messages"] for event in log if event.type == "model.started"]
    assert after["sections"]["messages"] > sent[-1]


async def test_the_size_of_the_prompt_of_an_edit_is_refused(project: Path, tmp_path: Path):
    async with HarnessClient(cwd=project, provider=write_script(tmp_path), driver="code", in_process=True) as client:
        with pytest.raises(HarnessError, match="`lsp-harness chat` begins one"):
            await client.context_usage()


async def test_the_state_of_each_mcp_server_is_reported(project: Path, tmp_path: Path):
    servers: dict[str, Any] = {
        "demo": {
            "command": sys.executable,
            "args": ["-m", "tests.support.mcp_server"],
            "env": {"PYTHONPATH": str(ROOT), "SECRET": "s"},
        },
        "gone": {"command": "no-such-program"},
    }
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    options: dict[str, Any] = {"mcp_config": config, "in_process": True}
    async with HarnessClient(cwd=project, provider=write_script(tmp_path), **options) as client:
        rows = {row["name"]: row for row in await client.mcp_status()}
    assert (rows["demo"]["status"], rows["demo"]["reason"]) == ("running", "")
    assert "mcp__demo__add" in rows["demo"]["tools"]
    assert (rows["gone"]["status"], rows["gone"]["tools"]) == ("failed", [])
    assert "no-such-program" in rows["gone"]["reason"]


async def test_a_session_without_servers_has_no_rows(project: Path, tmp_path: Path):
    async with HarnessClient(cwd=project, provider=write_script(tmp_path), in_process=True) as client:
        assert await client.mcp_status() == []
        assert await client.tasks() == []


async def test_edits_are_undone_and_sessions_forked(project: Path, tmp_path: Path):
    provider = write_script(tmp_path, CREATE, "done")
    async with HarnessClient(cwd=project, provider=provider, in_process=True) as client:
        await (await client.send("go")).result()
        (project / "new.txt").write_text("mine\n")
        with pytest.raises(HarnessError, match=r"new\.txt"):
            await client.undo(0)
        undone = await client.undo(0, force=True)
        assert (undone["turn"], undone["paths"]) == (0, ["new.txt"])
        assert not (project / "new.txt").exists()
        whole, half = await client.fork(), await client.fork(at_seq=3)
    counts = [len(list(read_history(paths.sessions_folder(), name))) for name in (whole, half)]
    assert counts[0] > counts[1]
    async with HarnessClient(cwd=project, provider=write_script(tmp_path), in_process=True, resume=half) as fork:
        assert fork.started.resumed_events == counts[1]


async def test_tasks_are_listed_read_and_ended(project: Path, tmp_path: Path):
    async with HarnessClient(cwd=project, provider=write_script(tmp_path, BACKGROUND, "it runs")) as client:
        await (await client.send("go")).result()
        [row] = await client.tasks()
        part = await client.read_task(row["task_id"])
        assert part["is_running"]
        assert (await client.read_task(row["task_id"], part["cursor"]))["text"] == ""
        assert (await client.cancel_task(row["task_id"]))["status"] == "cancelled"
        assert not (await client.read_task(row["task_id"]))["is_running"]
        with pytest.raises(HarnessError, match="task"):
            await client.read_task("nothing")


async def test_texts_that_wait_have_ids_and_can_be_changed(project: Path, tmp_path: Path):
    provider = write_script(tmp_path, {"text": "half", "hang": True})
    async with HarnessClient(cwd=project, provider=provider, in_process=True) as client:
        turn = await client.send("go")
        steered, queued = await client.steer("faster"), await client.follow_up("and then")
        await client.edit_queued(queued, "and now")
        await client.remove_queued(steered)
        waiting = (await client.status())["queue"]
        assert [(item["item_id"], item["text"]) for item in waiting] == [(queued, "and now")]
        await client.remove_queued(queued)
        with pytest.raises(HarnessError):
            await client.remove_queued(queued)
        await turn.aclose()


@pytest.mark.parametrize("in_process", [True, False])
async def test_a_large_output_of_a_call_that_fails_can_be_read(in_process: bool, project: Path, tmp_path: Path):
    call = call_text("bash", command="seq 20000; exit 3")
    provider = write_script(tmp_path, call, "done")
    async with HarnessClient(cwd=project, provider=provider, in_process=in_process) as client:
        turn = await client.send("go")
        [end] = [event async for event in turn if isinstance(event, ToolEnd)]
        assert (end.error, end.artifact_id != "") == (True, True)
        assert len(end.output) < 20_000
        assert "\n19999\n" in await client.read_artifact(end.artifact_id)


@pytest.mark.parametrize("in_process", [True, False])
async def test_a_tool_that_does_not_exist_in_a_list_is_a_warning(in_process: bool, project: Path, tmp_path: Path):
    options: dict[str, Any] = {
        "allowed_tools": ["read", "grpe", "lint", "mcp__none__*"],
        "disallowed_tools": ["Bsah(rm *)", "Write(x)", "web"],
    }
    events = [
        event
        async for event in query(
            "go", cwd=project, provider=write_script(tmp_path, "done"), in_process=in_process, **options
        )
    ]
    warnings = [event for event in events if isinstance(event, ErrorEvent)]
    assert [event.recoverable for event in warnings] == [True] * 3
    assert [event.message.partition(",")[0] for event in warnings] == [
        "allowed_tools has 'grpe'",
        "allowed_tools has 'mcp__none__*'",
        "disallowed_tools has 'Bsah(rm *)'",
    ]
    assert "did you mean grep?" in warnings[0].message
    assert "did you mean bash?" in warnings[2].message
