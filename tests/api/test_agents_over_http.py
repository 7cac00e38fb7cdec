"""Tests of the routes of agents: their settings, their errors, and the state that they report."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.conftest import ApiProcess, StartApi, spawn, wait_for_status


def read_error_code(answer: httpx2.Response) -> str:
    return answer.json()["error"]["code"]


async def test_the_limits_of_the_environment_and_of_flags_act(start_api: StartApi):
    api = await start_api("--max-agents", "1", MAX_AGENTS="5", DEFAULT_TIMEOUT="300")
    async with api.client() as client:
        agent = await spawn(client, "fake")
        second = await client.post("/agents", json={"type": "echo"})
        assert (second.status_code, read_error_code(second)) == (429, "MAX_AGENTS")
        place = f"/agents/{agent['id']}"
        slow = await client.post(f"{place}/send", json={"message": "/until told"})
        assert (slow.status_code, read_error_code(slow)) == (504, "TIMEOUT")
        busy = await client.post(f"{place}/send", json={"message": "and now?"})
        assert (busy.status_code, read_error_code(busy)) == (409, "BUSY")
        Path(agent["workdir"], "told").touch()
        await wait_for_status(client, agent["id"], "ready")
        reply = await client.post(f"{place}/send", json={"message": "hello", "timeout": 20_000})
        assert "You said: hello" in reply.json()["response"], "the agent stays usable"
        assert (await client.delete(place)).status_code == 204
        assert (await client.post("/agents", json={"type": "echo"})).status_code == 201, "an ended agent does not count"


async def test_a_variable_with_our_prefix_wins_and_an_invalid_one_is_an_error(start_api: StartApi):
    api = await start_api(PORT="1", LSP_HARNESS_PORT="0", LSP_HARNESS_MAX_AGENTS="3", MAX_AGENTS="4")
    async with api.client() as client:
        assert (await client.get("/health")).json()["limits"] == {"maxAgents": 3, "defaultTimeout": 60_000}
    with pytest.raises(AssertionError, match="MAX_AGENTS must be a whole number from 1 to 1000"):
        await start_api(MAX_AGENTS="none")


async def test_each_of_four_errors_has_its_code_and_a_remedy(api: ApiProcess):
    async with api.client() as client:
        missing = await client.post("/agents", json={"type": "missing"})
        broken = await client.post("/agents", json={"type": "broken"})
        unknown = await client.post("/agents", json={"type": "nothing"})
        gone = await client.get("/agents/01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert (missing.status_code, read_error_code(missing)) == (424, "CLI_NOT_FOUND")
    assert (broken.status_code, read_error_code(broken)) == (500, "SPAWN_FAILED")
    assert (unknown.status_code, read_error_code(unknown)) == (400, "INVALID")
    assert (gone.status_code, read_error_code(gone)) == (404, "NOT_FOUND")
    for answer in (missing, broken, unknown, gone):
        assert answer.json()["error"]["message"]
        assert "Traceback" not in answer.text


async def test_a_request_for_logs_returns_the_requested_lines(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell")
        place = f"/agents/{agent['id']}"
        await client.post(f"{place}/send", json={"message": "seq 1 200"})
        for name in ("lines", "tail"):
            assert len((await client.get(f"{place}/logs", params={name: 50})).json()["lines"]) == 50
        plain = await client.get(f"{place}/logs?lines=3", headers={"accept": "text/plain"})
        assert len(plain.text.splitlines()) == 3
        coloured = await client.post(f"{place}/send", json={"message": r"printf '\033[31mred\033[0m\n'"})
        assert "\x1b" not in coloured.json()["response"]
        assert "\x1b[31mred" in (await client.get(f"{place}/logs?raw=1")).json()["logs"]
        assert "\x1b" not in (await client.get(f"{place}/logs")).json()["logs"]


async def test_keys_are_typed_the_screen_is_read_and_the_status_is_explained(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell", cols=80, rows=24)
        place = f"/agents/{agent['id']}"
        pressed = await client.post(f"{place}/keys", json={"text": "stty size", "keys": ["enter"]})
        assert pressed.json() == {"pressed": 10}
        async with asyncio.timeout(20):
            while "24 80" not in "\n".join((screen := (await client.get(f"{place}/screen")).json())["rows"]):
                pass
        assert (screen["cols"], screen["lines"]) == (80, 24)
        assert (await client.post(f"{place}/keys", json={"keys": ["hyper"]})).status_code == 400
        explained = (await client.get(f"{place}/explain")).json()
        assert explained["state"]["status"] in ("ready", "busy")


async def test_a_stream_continues_after_the_last_received_event(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell")
        place = f"/agents/{agent['id']}"

        async def read_until(text: str, **headers: str) -> tuple[list[dict[str, str]], str]:
            events, whole = list[dict[str, str]](), ""
            async with client.stream("GET", f"{place}/stream", headers=headers) as answer:
                fields = dict[str, str]()
                async for line in answer.aiter_lines():
                    name, _, value = line.partition(": ")
                    fields[name] = value
                    if not line and "data" in fields:
                        whole += json.loads(fields["data"]).get("text", "")
                        events.append(fields)
                        fields = {}
                    if text in whole:
                        break
            return events, whole

        await client.post(f"{place}/send", json={"message": "echo fir''st"})
        events, _ = await read_until("first")
        assert events[0]["event"] == "snapshot"
        await client.post(f"{place}/send", json={"message": "echo sec''ond"})
        later, text = await read_until("second", **{"last-event-id": events[-1]["id"]})
        assert [event["event"] for event in later] == ["output"] * len(later)
        assert "first" not in text


async def test_a_question_is_answered_and_a_permission_goes_through_the_gate(start_api: StartApi):
    api = await start_api(LSP_HARNESS_PERMISSIONS__MODE="ask")
    async with api.client() as client:
        agent = await spawn(client, "fake")
        place = f"/agents/{agent['id']}"
        await client.post(f"{place}/send?wait=0", json={"message": "/permit write made.txt"})
        question: dict[str, Any] = {}
        async with asyncio.timeout(20):
            while not question:
                questions = (await client.get(f"{place}/questions")).json()["questions"]
                question = next(iter(questions), {})
        assert (question["kind"], question["agentId"]) == ("permission", agent["id"])
        blocked = await client.post(f"{place}/send", json={"message": "yes"})
        assert (blocked.status_code, read_error_code(blocked)) == (409, "BLOCKED")
        answer = await client.post(f"{place}/questions/{question['questionId']}", json={"decision": "deny"})
        assert answer.json() == {"answered": True}, answer.text
        await wait_for_status(client, agent["id"], "ready")
        assert not (api.root / "made.txt").exists()
        events = (await client.get("/events", params={"agentId": agent["id"]})).json()["events"]
        names = [event["event"] for event in events]
        assert names.index("permission_request") < names.index("permission_decided")
        decided = next(event for event in events if event["event"] == "permission_decided")
        assert decided["data"]["decision"] == "deny"


async def test_the_end_of_the_server_ends_its_agents(api: ApiProcess):
    import psutil

    async with api.client() as client:
        await spawn(client, "fake")
        await spawn(client, "shell")
    children = psutil.Process(api.process.pid).children(recursive=True)
    assert children
    assert await api.end() == 0
    gone, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    assert len(gone) == len(children)
