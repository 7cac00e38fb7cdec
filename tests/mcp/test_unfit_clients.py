"""Messages of a client of `lsp-harness mcp` that are not valid: each request gets one answer, and none ends it."""

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.mcp.conftest import ServedFolder
from tests.support.scripted_session import call_text

GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
REFUSED = {
    b"[]": (None, -32600),
    b"1": (None, -32600),
    b"{": (None, -32700),
    b"\xff": (None, -32700),
    b"[" * 100_000: (None, -32700),
    b'{"jsonrpc": "2.0", "id": "a", "method": 5}': ("a", -32600),
    b'[{"jsonrpc": "2.0", "id": "b", "method": "tools/list"}]': ("b", -32600),
    b'{"jsonrpc": "2.0", "id": "c", "method": "tools/list", "params": 5}': ("c", -32602),
    b'{"jsonrpc": "2.0", "id": "d", "method": "tools/call", "params": {"name": 5}}': ("d", -32602),
    b'{"jsonrpc": "2.0", "id": "e", "method": "no\\ud83d"}': ("e", -32601),
}
"""Line → the id and the code of its answer."""


async def test_each_request_of_a_client_gets_one_answer(served: ServedFolder):
    (served.root / os.fsdecode(b"caf\xe9.py")).write_text("def coffee():\n    return 1\n")
    process = await asyncio.create_subprocess_exec(
        *served.argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=served.environment,
        limit=2**24,
    )
    assert process.stdin
    assert process.stdout
    output = process.stdout

    async def ask(line: bytes) -> Any:
        assert process.stdin
        process.stdin.write(line + b"\n")
        async with asyncio.timeout(60):
            return json.loads(await output.readline(), parse_constant=pytest.fail)

    async def call(id: int, method: str, params: Any) -> Any:
        answer = await ask(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())
        assert answer["id"] == id
        return answer["result"]

    assert (await call(1, "initialize", GREETING))["serverInfo"]["name"]
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    # an answer to no question gets none
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "result": {}}\n\n')
    answers = [await ask(line) for line in REFUSED]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == list(REFUSED.values())
    half = await call(2, "tools/call", {"name": "verify_file", "arguments": {"path": "\ud83d.py"}})
    assert "there is no file \ufffd.py" in half["content"][0]["text"]
    found = await call(3, "tools/call", {"name": "find_symbol", "arguments": {"name": "coffee"}})
    assert found["content"][0]["text"]
    assert len((await call(4, "tools/list", {}))["tools"]) > 5
    process.stdin.close()
    async with asyncio.timeout(60):
        assert await process.wait() == 0
        assert await output.read() == b""


UNFIT_ANSWERS: list[dict[str, Any]] = [
    *(
        {"result": result}
        for result in ({}, [], None, 5, {"action": "accept"}, {"action": "yes", "content": {"allow": True}})
    ),
    *(
        {"result": {"action": "accept", "content": content}}
        for content in ({"allow": "yes"}, {"allow": 1}, {"allow": True, "remember": "forever"}, {"remember": "always"})
    ),
    {"result": {"action": "decline", "content": {"allow": True}}},
    {"error": {"code": -32000, "message": "no"}},
    {"error": "no"},
    {},
]


async def test_an_answer_to_a_question_that_does_not_fit_is_no(served: ServedFolder):
    served.script(*[call_text("bash", command="touch made")] * len(UNFIT_ANSWERS))
    process = await asyncio.create_subprocess_exec(
        *served.argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=served.environment, limit=2**24
    )
    assert process.stdin
    assert process.stdout
    writer, output = process.stdin, process.stdout

    def write(message: dict[str, Any]) -> None:
        writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def read(is_wanted: Callable[[Any], bool]) -> Any:
        async with asyncio.timeout(60):
            while not is_wanted(message := json.loads(await output.readline())):
                pass
        return message

    write({"id": 0, "method": "initialize", "params": {**GREETING, "capabilities": {"elicitation": {}}}})
    await read(lambda message: message.get("id") == 0)
    write({"method": "notifications/initialized"})
    for number, unfit in enumerate(UNFIT_ANSWERS, 1):
        call = {"name": "run_turn", "arguments": {"prompt": "go"}}
        write({"id": f"call {number}", "method": "tools/call", "params": call})
        question = await read(lambda message: message.get("method") == "elicitation/create")
        write({"id": question["id"], **unfit})
        await read(lambda message, id=f"call {number}": message.get("id") == id)
        assert not (served.root / "made").exists(), unfit
    writer.close()
    await process.wait()
