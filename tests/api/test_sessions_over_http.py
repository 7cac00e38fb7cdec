"""Tests of the routes of sessions: turns, events, permissions and undo, with a scripted model."""

import asyncio
import json
from typing import Any

import httpx2

from tests.api.conftest import StartApi

EDIT = '<tool_call>\n{"name": "edit", "arguments": {"path": "app.py", "old": "a + b", "new": "a - b"}}\n</tool_call>'
TEXT = "def add(a, b):\n    return a + b\n"


async def read_events(client: httpx2.AsyncClient, place: str, last: str, **headers: str) -> list[tuple[str, Any]]:
    """Read server-sent events until one of a type has come. Return their ids and data."""
    events = list[tuple[str, Any]]()
    async with (
        asyncio.timeout(30),
        client.stream("GET", place, headers={"accept": "text/event-stream", **headers}) as answer,
    ):
        assert answer.status_code == 200
        id = ""
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            id = value if name == "id" else id
            if name == "data":
                events.append((id, json.loads(value)))
                if events[-1][1]["type"] == last:
                    break
    return events


async def test_a_turn_is_run_read_followed_and_forked(start_api: StartApi):
    api = await start_api(replies=("It adds two numbers.", "Nothing else."))
    async with api.client() as client:
        created = await client.post("/sessions", json={})
        assert created.status_code == 201, created.text
        place = created.headers["location"]
        end = (await client.post(f"{place}/turns", json={"prompt": "what does it do?"})).json()
        assert (end["reason"], end["text"]) == ("completed", "It adds two numbers.")
        page = (await client.get(f"{place}/events?limit=3")).json()
        assert [event["seq"] for event in page["events"]] == [0, 1, 2]
        assert (page["next"], page["is_complete"]) == (2, False)
        events = await read_events(client, f"{place}/events", "turn.stopped")
        numbers = [event["seq"] for _, event in events if event["seq"] is not None]
        assert numbers == list(range(len(numbers)))
        rest = await read_events(client, f"{place}/events", "turn.stopped", **{"last-event-id": str(numbers[-3])})
        assert [event["seq"] for _, event in rest] == numbers[-2:]
        following = asyncio.ensure_future(
            read_events(client, f"{place}/events", "turn.stopped", **{"last-event-id": str(numbers[-1])})
        )
        await client.get("/health")
        accepted = await client.post(f"{place}/turns?wait=0", json={"prompt": "and?"})
        assert accepted.status_code in (200, 202)
        live = await following
        assert "turn.started" in [event["type"] for _, event in live]
        forked = (await client.post(f"{place}/fork", json={"at_seq": numbers[-1]})).json()
        assert forked["events"] == numbers[-1] + 1
        rows = (await client.get("/sessions")).json()["sessions"]
        assert {row["id"] for row in rows} == {forked["session_id"], end["session_id"]}
        assert "what does it do?" in (await client.get(place)).json()["text"]
        assert (await client.get(f"/sessions/{forked['session_id']}/tasks")).json() == {"tasks": []}
        assert (await client.get(f"{place}/artifacts")).json() == {"artifacts": []}
        assert (await client.post(f"{place}/close")).status_code == 204


async def test_a_permission_is_asked_answered_and_the_edit_undone(start_api: StartApi):
    api = await start_api(replies=(EDIT, "It subtracts now."))
    file = api.root / "app.py"
    file.write_text(TEXT)
    async with api.client() as client:
        place = (await client.post("/sessions", json={"workdir": "."})).headers["location"]
        running = asyncio.ensure_future(client.post(f"{place}/turns", json={"prompt": "subtract"}))
        rows: list[Any] = []
        async with asyncio.timeout(60):
            while not rows:
                assert not running.done(), running.result().text
                rows = (await client.get("/permissions")).json()["permissions"]
        assert (rows[0]["tool"], f"/sessions/{rows[0]['session_id']}") == ("edit", place)
        request_id = rows[0]["request_id"]
        wrong = await client.post(f"/permissions/{request_id}", json={"decision": "maybe"})
        assert wrong.status_code == 400
        assert (await client.post(f"/permissions/{request_id}", json={"decision": "allow"})).json() == {
            "answered": True
        }
        assert (await running).json()["reason"] == "completed"
        assert file.read_text() == TEXT.replace("a + b", "a - b")
        verdicts = (await client.get(f"{place}/verdicts")).json()["verdicts"]
        assert all("outcomes" in verdict for verdict in verdicts)
        assert (await client.post(f"/permissions/{request_id}", json={"decision": "allow"})).status_code == 404
        undone = (await client.post(f"{place}/undo", json={})).json()
        assert undone["paths"] == ["app.py"]
        assert file.read_text() == TEXT
        again = await client.post(f"{place}/undo", json={})
        assert (again.status_code, again.json()["error"]["code"]) == (400, "INVALID")


async def test_unknown_sessions_are_not_found(start_api: StartApi):
    api = await start_api()
    async with api.client() as client:
        for method, place in (
            ("GET", ""),
            ("GET", "/events"),
            ("POST", "/interrupt"),
            ("POST", "/undo"),
            ("GET", "/verdicts/1"),
        ):
            answer = await client.request(method, f"/sessions/01ARZ3NDEKTSV4RRFFQ69G5FAV{place}", json={})
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")
