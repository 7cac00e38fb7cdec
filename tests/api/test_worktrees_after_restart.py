"""The worktrees of agents after their server was killed: the next one lists, applies, undoes and discards them."""

import json
from pathlib import Path

import pytest

from tests.api.conftest import ApiProcess, StartApi, spawn
from tests.api.test_agent_changes import BEFORE, BETTER, request_review, run_git, write
from tests.api.test_agents_cli import run_agents_command


async def kill(api: ApiProcess) -> None:
    """Kill a server, so that it cannot save anything."""
    api.process.kill()
    await api.process.wait()


@pytest.fixture
async def first_server(start_api: StartApi) -> ApiProcess:
    """Start a server in a repository with one file."""
    api = await start_api()
    (api.root / "geo.py").write_text(BEFORE)
    run_git(api.root, "init", "--quiet")
    run_git(api.root, "add", ".")
    run_git(api.root, "commit", "--quiet", "--message", "begin")
    return api


async def test_the_work_of_a_killed_server_is_applied_undone_and_discarded(
    first_server: ApiProcess, start_api: StartApi
):
    async with first_server.client() as client:
        agent = await spawn(client, "fake", isolation="worktree", name="helper")
        await write(client, agent, BETTER)
    await kill(first_server)
    second = await start_api()
    code, output = await run_agents_command(second, "worktrees", "--json")
    assert code == 0, output
    (row,) = json.loads(output)
    facts = {key: row[key] for key in ("agentId", "name", "type", "isRunning", "takenBy", "changedFiles", "problem")}
    assert facts == {
        "agentId": agent["id"],
        "name": "helper",
        "type": "fake",
        "isRunning": False,
        "takenBy": None,
        "changedFiles": 1,
        "problem": "",
    }
    assert row["branch"] in run_git(second.root, "branch", "--list", "lsp-harness/*")
    code, output = await run_agents_command(second, "worktrees")
    assert "helper" in output
    assert "1 files" in output
    code, output = await run_agents_command(second, "changes", agent["id"])
    assert (code, "+PI = 3.14159" in output) == (0, True), output
    review_id = output.split()[-1]
    assert await run_agents_command(second, "apply", agent["id"], review_id) == (0, "changed geo.py\n")
    assert (second.root / "geo.py").read_text() == BETTER
    # the checkpoint outlives a server, too
    await kill(second)
    third = await start_api()
    async with third.client() as client:
        assert (await client.get("/worktrees")).json()["worktrees"][0]["isApplied"] is True
    assert await run_agents_command(third, "undo", agent["id"]) == (0, "restored geo.py\n")
    assert (third.root / "geo.py").read_text() == BEFORE
    assert await run_agents_command(third, "discard", agent["id"]) == (0, "")
    assert await run_agents_command(third, "worktrees") == (0, "there is no worktree of an agent\n")
    assert run_git(third.root, "branch", "--list", "lsp-harness/*") == ""
    assert len(run_git(third.root, "worktree", "list").splitlines()) == 1


async def test_a_worktree_without_a_record_is_found_by_git(first_server: ApiProcess, start_api: StartApi):
    async with first_server.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
        await write(client, agent, BETTER)
    await kill(first_server)
    (record,) = Path(first_server.home).rglob("worktrees/*.json")
    record.write_text("{")
    second = await start_api()
    async with second.client() as client:
        (row,) = (await client.get("/worktrees")).json()["worktrees"]
        assert (row["agentId"], row["changedFiles"], row["type"]) == (record.stem.upper(), 1, "")
        found = await request_review(client, {"id": row["agentId"]})
        assert (found["passed"], found["files"]) == (True, [{"path": "geo.py", "kind": "changed"}])


async def test_a_running_server_keeps_its_own_worktrees(first_server: ApiProcess, start_api: StartApi):
    async with first_server.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
    second = await start_api()
    async with second.client() as client:
        (row,) = (await client.get("/worktrees")).json()["worktrees"]
        assert row["takenBy"] == first_server.process.pid
        refused = await client.post(f"/agents/{agent['id']}/discard")
        assert refused.status_code == 400
        assert f"process {first_server.process.pid}" in refused.json()["error"]["message"]
    assert Path(row["folder"]).is_dir()


async def test_worktrees_of_other_folders_are_not_shown(first_server: ApiProcess, start_api: StartApi, tmp_path: Path):
    async with first_server.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
    await kill(first_server)
    other = tmp_path / "other"
    other.mkdir()
    second = await start_api("--root", str(other))
    async with second.client() as client:
        assert (await client.get("/worktrees")).json() == {"worktrees": []}
        assert (await client.get(f"/agents/{agent['id']}/changes")).status_code == 404
