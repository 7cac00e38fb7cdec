"""Messages of an editor that are not valid, and answers that do not fit: each is answered, and sessions go on."""

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lsp_harness.acp.stdio_agent import MessagePipe
from lsp_harness.wire.message_lines import LineTooLong, MessageLines
from tests.acp.conftest import ACP_MODULES, GEO, Editor
from tests.support.forked_process import ForkedProcess
from tests.support.scripted_session import call_text

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
CHANGE = call_text("edit", path="geo.py", old="3 * radius", new="4 * radius")
Json = dict[str, Any]


class RawEditor:
    """A client that writes any line.

    Attributes:
        answers: The answers of the agent by the JSON of their ids, in their order.
        updates: The updates in their order.
        questions: The requests of the agent that were not answered yet.
        files: The result of each request for a text of a file. None gives no answer.
    """

    def __init__(self, process: ForkedProcess, folder: str) -> None:
        self.answers: dict[str, list[Json]] = {}
        self.updates: list[Json] = []
        self.questions: list[Json] = []
        self.files: Any = None
        self._process, self._folder, self._last = process, folder, 100
        self._changed = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    async def write(self, message: Any):
        self._process.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        await self._process.stdin.drain()

    async def begin(self, method: str, params: Any) -> str:
        """Send a request, and return the key of its answers."""
        self._last += 1
        await self.write({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return str(self._last)

    async def ask(self, method: str, params: Any) -> Json:
        return (await self.wait_for(await self.begin(method, params)))[0]

    async def open(self, **more: Any) -> str:
        return (await self.ask("session/new", {"cwd": self._folder, "mcpServers": [], **more}))["result"]["sessionId"]

    async def prompt(self, session: str, *blocks: Json) -> str:
        blocks = blocks or ({"type": "text", "text": "go"},)
        return await self.begin("session/prompt", {"sessionId": session, "prompt": list(blocks)})

    async def wait_for(self, key: str, count: int = 1) -> list[Json]:
        async with asyncio.timeout(60):
            while len(self.answers.get(key, ())) < count:
                await self._wait()
        return self.answers[key]

    async def next_question(self) -> Json:
        async with asyncio.timeout(60):
            while not self.questions:
                await self._wait()
        return self.questions.pop(0)

    @property
    def text(self) -> str:
        chunks = (item["params"]["update"] for item in self.updates)
        return "".join(item["content"]["text"] for item in chunks if item["sessionUpdate"] == "agent_message_chunk")

    def leave(self):
        """Close the end of the editor from which it reads what the agent writes."""
        self._process.close_output()

    async def end(self):
        self._process.stdin.close()
        async with asyncio.timeout(60):
            assert await self._process.wait() == 0
            await self._reading

    async def _wait(self):
        assert not self._reading.done(), "the agent has ended"
        self._changed.clear()
        await self._changed.wait()

    async def _read(self):
        try:
            while line := await self._process.stdout.readline():
                # a client in another language would take neither NaN nor half a character
                message = json.loads(line, parse_constant=pytest.fail)
                json.dumps(message, ensure_ascii=False).encode()
                if "method" not in message:
                    self.answers.setdefault(json.dumps(message["id"]), []).append(message)
                elif "id" not in message:
                    self.updates.append(message)
                elif message["method"] == "fs/read_text_file" and self.files is not None:
                    await self.write({"jsonrpc": "2.0", "id": message["id"], **self.files})
                else:
                    self.questions.append(message)
                self._changed.set()
        finally:
            self._changed.set()


@asynccontextmanager
async def start_raw_editor(editor: Editor, *replies: Any) -> AsyncGenerator[RawEditor]:
    """Start the agent, and yield a client after its handshake. The agent must live until the end."""
    editor.script(*replies)
    environment = {**os.environ, "LSP_HARNESS_HOME": str(editor.home)}
    process = await ForkedProcess.start(
        *("-m", "lsp_harness", "acp", *editor.options), env=environment, limit=2**24, preload=ACP_MODULES
    )
    log = asyncio.create_task(process.stderr.read())
    raw = RawEditor(process, str(editor.root))
    try:
        files = {"readTextFile": True, "writeTextFile": True}
        answer = await raw.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": files}})
        assert answer["result"]["protocolVersion"] == 1
        yield raw
        await raw.end()
    finally:
        process.kill()
        await process.wait()
        print((await log).decode(errors="replace"))
        process.close()


NO_REQUESTS = {
    b"[]": INVALID_REQUEST,
    b"1": INVALID_REQUEST,
    b"null": INVALID_REQUEST,
    b'"x"': INVALID_REQUEST,
    b"true": INVALID_REQUEST,
    b"{}": INVALID_REQUEST,
    b"[1, []]": INVALID_REQUEST,
    b'{"jsonrpc": "2.0"}': INVALID_REQUEST,
    b'{"jsonrpc": "2.0", "method": 5}': INVALID_REQUEST,
    b'{"jsonrpc": "2.0", "id": [], "method": "session/list"}': INVALID_REQUEST,
    b'{"jsonrpc": "2.0", "id": {}, "method": "session/list"}': INVALID_REQUEST,
    b'{"jsonrpc": "2.0", "id": true, "method": "session/list"}': INVALID_REQUEST,
    b'{"method": "session/list"}': INVALID_REQUEST,
    b"{": PARSE_ERROR,
    b"hello": PARSE_ERROR,
    b"\xff\xfe\x00": PARSE_ERROR,
    b'{"jsonrpc": "2.0", "id": NaN, "method": "session/list"}': PARSE_ERROR,
    b"[" * 100_000: PARSE_ERROR,
    b"9" * 10_000: PARSE_ERROR,
}
"""Line → the code of its answer, which has no id."""
REFUSED = {
    b'{"jsonrpc": "2.0", "id": "a"}': INVALID_REQUEST,
    b'{"jsonrpc": "2.0", "id": "b", "method": []}': INVALID_REQUEST,
    b'{"id": "c", "method": "session/list"}': INVALID_REQUEST,
    b'{"jsonrpc": "1.0", "id": "d", "method": "session/list"}': INVALID_REQUEST,
    b'[{"jsonrpc": "2.0", "id": "e", "method": "session/list"}]': INVALID_REQUEST,
    b'{"jsonrpc": "2.0", "id": "f", "method": "session/new", "params": 5}': INVALID_PARAMS,
    b'{"jsonrpc": "2.0", "id": "g", "method": "session/new", "params": []}': INVALID_PARAMS,
    b'{"jsonrpc": "2.0", "id": "h", "method": "session/new"}': INVALID_PARAMS,
    b'{"jsonrpc": "2.0", "id": "i", "method": "session/prompt", "params": {"sessionId": 5}}': INVALID_PARAMS,
    b'{"jsonrpc": "2.0", "id": "j", "method": "no/such"}': -32601,
    b'{"jsonrpc": "2.0", "id": "k", "method": "_no/such", "params": "x"}': -32601,
}
"""Line → the code of its answer. The ids are the letters in their order."""
IGNORED = (
    b'{"jsonrpc": "2.0", "id": 77, "result": {}}',
    b'{"jsonrpc": "2.0", "id": [], "result": {}}',
    b'{"jsonrpc": "2.0", "id": {}, "error": 5}',
    b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}}',
    b'{"jsonrpc": "2.0", "result": 5}',
    b'{"jsonrpc": "2.0", "method": "session/cancel", "params": 5}',
    b'{"jsonrpc": "2.0", "method": "no/such", "params": []}',
    b"",
    b"  ",
)
"""Lines that get no answer."""


async def test_a_line_that_is_no_message_is_answered_once_and_sessions_go_on(editor: Editor):
    async with start_raw_editor(editor, "It is an area.") as raw:
        session = await raw.open()
        for line in IGNORED:
            await raw.write(line)
        for line in NO_REQUESTS:
            await raw.write(line)
        for line in REFUSED:
            await raw.write(line)
        unnamed = await raw.wait_for("null", len(NO_REQUESTS))
        named = [(await raw.wait_for(json.dumps(chr(ord("a") + number))))[0] for number in range(len(REFUSED))]
        answer = await raw.wait_for(await raw.prompt(session))
    assert [item["error"]["code"] for item in unnamed] == list(NO_REQUESTS.values())
    assert [item["error"]["code"] for item in named] == list(REFUSED.values())
    assert answer[0]["result"]["stopReason"] == "end_turn"
    assert raw.text == "It is an area."
    assert {key: len(items) for key, items in raw.answers.items() if key != "null" and len(items) > 1} == {}


UNFIT = (
    {"result": {}},
    {"result": None},
    {"result": "yes"},
    {"result": [1]},
    {},
    {"error": "no"},
    {"error": []},
    {"error": {"code": "x", "message": 5}},
    {"error": None},
    {"result": {"outcome": "selected"}},
    {"result": {"outcome": {"outcome": "selected"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": 5}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "everything"}}},
    {"result": {"outcome": {"outcome": "other", "optionId": "once"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "\ud83d"}}},
    {"error": {"code": -32000, "message": "no"}, "result": {"outcome": {"outcome": "selected", "optionId": "once"}}},
)


async def test_an_invalid_answer_to_a_question_denies(editor: Editor):
    async with start_raw_editor(editor, CHANGE, "Done.") as raw:
        for unfit in UNFIT:
            turn = await raw.prompt(await raw.open())
            question = await raw.next_question()
            for id in ([question["id"]], str(question["id"]), bool(question["id"]), 4711):
                # an answer to another question is no answer to this one
                await raw.write({"jsonrpc": "2.0", "id": id, "result": _allow()})
            await raw.write({"jsonrpc": "2.0", "id": question["id"], **unfit})
            # the first answer counts
            await raw.write({"jsonrpc": "2.0", "id": question["id"], "result": _allow()})
            await raw.write({"jsonrpc": "2.0", "id": question["id"]})
            [answer] = await raw.wait_for(turn)
            assert answer["result"]["stopReason"] == "end_turn", unfit
            assert (editor.root / "geo.py").read_text() == GEO, unfit


async def test_a_closed_editor_is_not_reported_as_an_internal_error(editor: Editor):
    async with start_raw_editor(editor, CHANGE, "Done.") as raw:
        await raw.prompt(await raw.open())
        await raw.next_question()
        raw.leave()
    assert (editor.root / "geo.py").read_text() == GEO
    assert not [*editor.home.rglob("crash.log")]


def _allow() -> Json:
    return {"outcome": {"outcome": "selected", "optionId": "once"}}


@pytest.mark.parametrize("unfit", [{"result": {}}, {"result": 5}, {"error": "x"}, {}, {"result": {"content": []}}])
async def test_a_text_that_the_editor_does_not_give_is_that_of_the_disk(editor: Editor, unfit: Json):
    async with start_raw_editor(editor, "Seen.") as raw:
        raw.files = unfit
        link = {"type": "resource_link", "uri": (editor.root / "geo.py").as_uri(), "name": "geo.py"}
        [answer] = await raw.wait_for(await raw.prompt(await raw.open(), {"type": "text", "text": "see"}, link))
    assert (answer["result"]["stopReason"], raw.text) == ("end_turn", "Seen.")


async def test_a_turn_that_waits_for_a_text_of_the_editor_can_be_stopped(editor: Editor):
    async with start_raw_editor(editor, "Seen.") as raw:
        session = await raw.open()
        link = {"type": "resource_link", "uri": (editor.root / "geo.py").as_uri(), "name": "geo.py"}
        turn = await raw.prompt(session, {"type": "text", "text": "see"}, link)
        await raw.next_question()
        await raw.write({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
        [answer] = await raw.wait_for(turn)
        assert answer["result"]["stopReason"] == "cancelled"
        [answer] = await raw.wait_for(await raw.prompt(session))
        assert answer["result"]["stopReason"] == "end_turn"


async def test_half_a_character_is_replaced_in_both_directions(editor: Editor):
    (editor.root / os.fsdecode(b"caf\xe9.py")).write_text("x = 1\n")
    listing = call_text("glob", pattern="*.py")
    reading = call_text("read", path=os.fsdecode(b"caf\xe9.py"))
    async with start_raw_editor(editor, listing, reading, "half \ud83d of it") as raw:
        turn = await raw.prompt(await raw.open(), {"type": "text", "text": "go \ud83d"})
        [answer] = await raw.wait_for(turn)
    assert answer["result"]["stopReason"] == "end_turn"
    assert raw.text == "half \ufffd of it"


async def test_the_editor_learns_which_of_its_servers_did_not_start(editor: Editor):
    broken: Json = {"name": "tracker", "command": "/does/not/exist", "args": [], "env": []}
    async with start_raw_editor(editor, "Done.", "Again.") as raw:
        session = await raw.open(mcpServers=[broken])
        await raw.wait_for(await raw.prompt(session))
        await raw.wait_for(await raw.prompt(session))
    assert raw.text == (
        "the program /does/not/exist of the MCP server tracker cannot be started: no such file or directory; install "
        "it, or correct mcp.servers.tracker.command\n\nDone.Again."
    )


async def test_each_of_many_random_messages_is_answered_once(editor: Editor):
    choose, ids = random.Random(20_261_130), list[str]()
    values: list[Any] = [None, True, -1, 1.5, "", "\0", "/", [], {}, [{}], "\ud83d", "x" * 5000, "file:///%00", [[]]]
    methods = ["session/new", "session/load", "session/list", "session/prompt", "session/set_mode", "session/fork"]
    async with start_raw_editor(editor, "Done.") as raw:
        session = await raw.open()
        fit: Json = {"sessionId": session, "cwd": str(editor.root), "mcpServers": [], "modeId": "ask"}
        for _ in range(150):
            params: Any = fit | {choose.choice([*fit, "prompt", "cursor", "_meta"]): choose.choice(values)}
            if choose.random() < 0.1:
                params = choose.choice(values)
            ids.append(await raw.begin(choose.choice(methods), params))
            if choose.random() < 0.3:
                await raw.write(choose.choice([*IGNORED, *NO_REQUESTS]))
        for id in ids:
            await raw.wait_for(id)
        assert (await raw.ask("session/list", {}))["result"]["sessions"] is not None
    assert Counter(len(raw.answers[id]) for id in ids) == {1: len(ids)}


class Outlet:
    """A writer that keeps what is written."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes):
        self.data += data

    async def drain(self):
        """Do nothing."""


async def test_a_value_that_json_cannot_express_is_replaced():
    outlet: Any = Outlet()
    pipe = MessagePipe(asyncio.StreamReader(), outlet)
    await pipe.send({"method": "m", "params": {"a": float("nan"), "b": "\ud83d", "c": [float("inf"), {1: 2}]}})
    await pipe.send({"id": 1, "error": {"data": ValueError("no")}})
    assert outlet.data.splitlines() == [
        '{"method":"m","params":{"a":null,"b":"\ufffd","c":[null,{"1":2}]}}'.encode(),
        b'{"id":1,"error":{"data":"no"}}',
    ]


async def test_a_line_that_is_too_long_is_left_out():
    reader = asyncio.StreamReader()
    reader.feed_data(b"one\n" + b"x" * 200_000 + b"\n\ntwo\n" + b"x" * 11 + b"\nlast")
    reader.feed_eof()
    lines, read = MessageLines(reader.read, max_bytes=10), list[bytes | str | None]()
    while not read or read[-1] is not None:
        try:
            read.append(await lines.next())
        except LineTooLong as error:
            read.append(error.message)
    long = "a line has more than 10 bytes"
    assert read == [b"one", long, b"", b"two", long, b"last", None]
