"""Tests of what agents change in worktrees: verified, applied, undone and discarded over HTTP."""

import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.conftest import ApiProcess, spawn

BEFORE = "PI = 3\n\n\ndef area(radius):\n    return PI * radius * radius\n"
BROKEN = BEFORE.replace("(radius):", "(radius:")
BETTER = BEFORE.replace("PI = 3\n", "PI = 3.14159\n")


def run_git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=tester", "-c", "user.email=tester@example.com")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


async def write(client: httpx2.AsyncClient, agent: dict[str, Any], text: str, name: str = "geo.py") -> None:
    """Let the agent write a file in its worktree."""
    message = f"/write {name} " + text.replace("\n", "\\n")
    answer = await client.post(f"/agents/{agent['id']}/send", json={"message": message})
    assert answer.status_code == 200, answer.text


async def request_review(client: httpx2.AsyncClient, agent: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(f"/agents/{agent['id']}/changes")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def project(api: ApiProcess) -> Path:
    """A repository with one file, as the folder of the server."""
    (api.root / "geo.py").write_text(BEFORE)
    run_git(api.root, "init", "--quiet")
    run_git(api.root, "add", ".")
    run_git(api.root, "commit", "--quiet", "--message", "begin")
    return api.root


async def test_a_broken_change_is_named_before_anything_is_applied(api: ApiProcess, project: Path):
    async with api.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
        await write(client, agent, BROKEN)
        found = await request_review(client, agent)
        assert (found["passed"], found["files"]) == (False, [{"path": "geo.py", "kind": "changed"}])
        assert "parse ✗" in found["verdict"]
        assert any("geo.py" in finding or "line" in finding for finding in found["findings"])
        refused = await client.post(f"/agents/{agent['id']}/apply", json={"reviewId": found["reviewId"]})
        assert refused.status_code == 400
        assert "verdict is not passed" in refused.json()["error"]["message"]
    assert (project / "geo.py").read_text() == BEFORE


async def test_a_good_change_is_applied_undone_and_discarded(api: ApiProcess, project: Path):
    async with api.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
        place = f"/agents/{agent['id']}"
        await write(client, agent, BETTER)
        found = await request_review(client, agent)
        assert found["passed"]
        assert "+PI = 3.14159" in found["text"]
        assert (project / "geo.py").read_text() == BEFORE
        wrong = await client.post(f"{place}/apply", json={"reviewId": "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
        assert wrong.status_code == 400
        applied = await client.post(f"{place}/apply", json={"reviewId": found["reviewId"]})
        assert applied.json() == {"files": [{"path": "geo.py", "kind": "changed"}]}
        assert (project / "geo.py").read_text() == BETTER
        undone = await client.post(f"{place}/undo")
        assert undone.json() == {"paths": ["geo.py"], "skipped": {}}
        assert (project / "geo.py").read_text() == BEFORE
        assert (await client.post(f"{place}/undo")).status_code == 400, "there is nothing more to undo"
        assert (await client.delete(place)).status_code == 204
        assert (await client.post(f"{place}/discard")).status_code == 204
    assert len(run_git(project, "worktree", "list").splitlines()) == 1
    assert run_git(project, "branch", "--list", "lsp-harness/*") == ""


async def test_a_change_of_the_user_meanwhile_is_not_overwritten(api: ApiProcess, project: Path):
    async with api.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
        await write(client, agent, BETTER)
        found = await request_review(client, agent)
        (project / "geo.py").write_text("# mine\n")
        answer = await client.post(f"/agents/{agent['id']}/apply", json={"reviewId": found["reviewId"]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "CONFLICT")
    assert (project / "geo.py").read_text() == "# mine\n"


async def test_equal_changes_are_one_review_that_is_read_without_a_verification(api: ApiProcess, project: Path):
    async with api.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
        place = f"/agents/{agent['id']}"
        await write(client, agent, BETTER)
        found = await request_review(client, agent)
        assert await request_review(client, agent) == found
        assert (await client.get(f"{place}/changes")).json() == found
        await write(client, agent, BROKEN)
        broken = await request_review(client, agent)
        assert broken["reviewId"] != found["reviewId"]
        assert (await client.get(f"{place}/changes")).json() == broken
        await write(client, agent, BETTER)
        assert (await request_review(client, agent))["reviewId"] == found["reviewId"]
        await client.post(f"{place}/apply", json={"reviewId": found["reviewId"]})
        missing = await client.get(f"{place}/changes")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "NOT_FOUND")
        assert missing.json()["error"]["resolution"] == "verify them first"


async def test_a_plain_text_is_applied_after_an_explicit_yes_only(api: ApiProcess, project: Path):
    async with api.client() as client:
        agent = await spawn(client, "fake", isolation="worktree")
        place = f"/agents/{agent['id']}/apply"
        await write(client, agent, "# New\n", "notes.txt")
        found = await request_review(client, agent)
        assert (found["passed"], found["isChecked"], found["findings"]) == (False, False, [])
        assert found["verdict"].startswith("not checked")
        silent = await client.post(place, json={"reviewId": found["reviewId"]})
        assert (silent.status_code, "no check can read" in silent.text) == (400, True)
        assert not (project / "notes.txt").exists()
        applied = await client.post(place, json={"reviewId": found["reviewId"], "unchecked": True})
        assert applied.json() == {"files": [{"path": "notes.txt", "kind": "changed"}]}
        assert (project / "notes.txt").read_text() == "# New\n"
        await write(client, agent, BROKEN)
        broken = await request_review(client, agent)
        refused = await client.post(place, json={"reviewId": broken["reviewId"], "unchecked": True})
        assert (refused.status_code, "not passed" in refused.text) == (400, True)


@pytest.mark.parametrize(
    ("method", "action"), [("GET", "changes"), ("POST", "changes"), ("POST", "undo"), ("POST", "discard")]
)
async def test_an_agent_without_a_worktree_has_no_changes(api: ApiProcess, method: str, action: str):
    async with api.client() as client:
        agent = await spawn(client)
        answer = await client.request(method, f"/agents/{agent['id']}/{action}")
        assert answer.status_code == 400
        assert "no worktree" in answer.json()["error"]["message"]
        unknown = await client.request(method, f"/agents/01ARZ3NDEKTSV4RRFFQ69G5FAV/{action}")
        assert unknown.status_code == 404
