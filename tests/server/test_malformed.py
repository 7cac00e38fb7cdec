"""Invalid messages: every id gets exactly one answer, and the server goes on.

The big collection of messages is in `test_vectors`. The messages here are our own, committed and small.
"""

import json
from typing import Any

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor, encode_id, frame_message

STATUS = {"method": "workspace/executeCommand", "params": {"command": "lspHarness.status"}}
INLINE = "textDocument/inlineCompletion"
GOOD = {
    "textDocument": {"uri": "file:///a.py"},
    "position": {"line": 0, "character": 0},
    "context": {"triggerKind": 1},
}


async def is_alive(editor: Editor) -> bool:
    return "version" in await editor.request(STATUS["method"], STATUS["params"])


def list_codes_without_id(editor: Editor) -> list[int]:
    """Return the codes of the errors without an id."""
    return [
        message["error"]["code"]
        for message in editor.received
        if "id" in message and message["id"] is None and "method" not in message
    ]


@pytest.mark.parametrize(
    "params",
    [
        None,
        5,
        "x",
        [],
        [1, 2],
        {},
        {**GOOD, "position": None},
        {**GOOD, "position": {"line": "x", "character": 0}},
        {**GOOD, "position": {"line": 0}},
        {**GOOD, "position": {"line": -1, "character": 0}},
        {**GOOD, "textDocument": "file:///a.py"},
        {**GOOD, "textDocument": {}},
        {**GOOD, "context": None},
        {**GOOD, "context": {}},
        {**GOOD, "context": {"triggerKind": 99}},
        {key: value for key, value in GOOD.items() if key != "context"},
        {"jsonrpc": "2.0", "id": 7, "method": "shutdown"},
    ],
)
async def test_params_that_do_not_fit_are_refused_in_one_sentence(spawn: Spawn, params: Any):
    editor = await spawn("plain")

    editor.send({"id": "x", "method": INLINE, "params": params})
    error = (await editor.find(lambda message: message.get("id") == "x"))["error"]

    assert error["code"] == -32602
    assert error["message"].startswith(f"params of {INLINE} are not valid: ")
    assert "\n" not in error["message"]
    assert "lsprotocol" not in error["message"]
    assert "File" not in error["message"]
    assert await is_alive(editor)
    assert not [message for message in editor.received if message.get("method") == "window/showMessage"]


@pytest.mark.parametrize("id", [0, -1, -2147483648, 2**63, 10**40, "", "x", "1", "ü\n\u2028😀", 1.0, 1.5, "\ud800"])
async def test_ids_are_echoed_exactly(spawn: Spawn, id: Any):
    editor = await spawn("plain")

    editor.send({"id": id, **STATUS}, {"id": [id], "method": "x"})

    await editor.find(lambda message: encode_id(message.get("id")) == encode_id(id) and "result" in message)
    editor.request_ids.remove([id])
    assert await is_alive(editor)
    assert list_codes_without_id(editor) == [-32600]


@pytest.mark.parametrize("id", [None, True, [], {}, [1], {"a": 1}])
async def test_a_request_with_an_invalid_id_is_refused_without_an_id(spawn: Spawn, id: Any):
    editor = await spawn("plain")

    editor.write(frame_message(json.dumps({"jsonrpc": "2.0", "id": id, "method": "shutdown"}).encode()))

    assert await is_alive(editor)
    assert list_codes_without_id(editor) == [-32600]


async def test_two_requests_with_one_id_get_two_answers(spawn: Spawn):
    editor = await spawn("plain")

    editor.send({"id": 1000, **STATUS}, {"id": 1000, **STATUS}, {"id": "1000", **STATUS})
    await editor.answer("1000")

    assert await is_alive(editor)


async def test_unknown_methods_are_refused_or_ignored(spawn: Spawn):
    editor = await spawn("plain")
    editor.notify("nobody/knows", {"a": 1})
    editor.notify("$/nobody", [])
    editor.notify("textDocument/hover", None)

    for method in ("nobody/knows", "$/optional", "", "textDocument/hover", "textDocument/didOpen/x", "__class__"):
        editor.send({"id": method or "empty", "method": method, "params": {"textDocument": 5}})
        error = (await editor.find(lambda message, id=method or "empty": message.get("id") == id))["error"]
        assert error == {"code": -32601, "message": f"{method} is not supported"}


async def test_a_notification_as_a_request_and_a_request_as_a_notification_are_survived(spawn: Spawn):
    editor = await spawn("plain")

    editor.notify(INLINE, GOOD)
    editor.send({"id": "n", "method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///a.py"}}})

    assert (await editor.find(lambda message: message.get("id") == "n"))["error"]["code"] == -32602
    assert await is_alive(editor)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"nonsense", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":NaN}', -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[" * 100_000, -32700),
        (b'{"a":' * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"x"}', -32700),
        (b"5", -32600),
        (b"null", -32600),
        (b'"x"', -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', -32600),
        (b'{"jsonrpc":"2.0"}', -32600),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"x"}', -32600),
        (b'{"jsonrpc":"2.0","method":5}', -32600),
    ],
)
async def test_an_invalid_body_is_refused_without_an_id(spawn: Spawn, body: bytes, code: int):
    editor = await spawn("plain")

    editor.write(frame_message(body))

    assert await is_alive(editor)
    assert list_codes_without_id(editor) == [code]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"id":"z","method":"shutdown"}', -32600),
        (b'{"jsonrpc":"1.0","id":"z","method":"shutdown"}', -32600),
        (b'{"jsonrpc":"2.0","id":"z","method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":"z","method":null}', -32600),
        (b'{"jsonrpc":"2.0","id":"z"}', -32600),
    ],
)
async def test_an_incomplete_request_is_refused_with_its_id(spawn: Spawn, body: bytes, code: int):
    editor = await spawn("plain")
    editor.request_ids.append("z")

    editor.write(frame_message(body))

    assert (await editor.find(lambda message: message.get("id") == "z"))["error"]["code"] == code
    assert await is_alive(editor)


async def test_answers_without_a_request_are_ignored(spawn: Spawn):
    editor = await spawn("plain")

    for message in (
        {"id": 5, "result": 1},
        {"id": "x", "error": {"code": 1, "message": ""}},
        {"id": None, "result": 1},
    ):
        editor.write(frame_message(json.dumps({"jsonrpc": "2.0", **message}).encode()))
    editor.write(frame_message(b'{"method":"exit"}'))

    assert await is_alive(editor)
    assert list_codes_without_id(editor) == []


@pytest.mark.parametrize("result", [5, "x", [], {"applied": "maybe"}, {}])
async def test_an_answer_of_the_client_that_does_not_fit(spawn: Spawn, result: Any):
    editor = await spawn("eglot")
    editor.open("file:///a.py", "teh")
    editor.replies["workspace/applyEdit"] = result
    lsp_range = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    context = {"diagnostics": [{"range": lsp_range, "message": "m"}]}
    params = {"textDocument": {"uri": "file:///a.py"}, "range": lsp_range, "context": context}
    action = (await editor.request("textDocument/codeAction", params))[0]

    editor.ask("workspace/executeCommand", {"command": "lspHarness.fix", "arguments": [action["data"]]})

    assert await is_alive(editor)


@pytest.mark.parametrize(
    "invalid_bytes",
    [
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"\x00\x01\x02\xff",
        b"Content-Length: 3\r\n\r\n{}{}{}",  # longer than the header says
        b"{}\n",
    ],
)
async def test_broken_frames_are_survived_on_a_pipe(spawn: Spawn, invalid_bytes: bytes):
    editor = await spawn("plain")

    editor.write(invalid_bytes)

    assert await is_alive(editor)
    assert set(list_codes_without_id(editor)) <= {-32700, -32600}


async def test_other_spellings_of_the_header_are_read(spawn: Spawn):
    editor = await spawn("plain")
    body = json.dumps({"jsonrpc": "2.0", "id": "h", **STATUS}).encode()
    editor.request_ids.append("h")

    head = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:%d \r\n\r\n" % len(body)
    for byte in head:  # one byte at a time
        editor.write(bytes([byte]))
    editor.write(body)

    assert (await editor.answer("h"))["version"]


@pytest.mark.parametrize("last", [b"Content-Length: 99999999999\r\n\r\n", b"x" * (2**24 + 2**20)])
async def test_a_stream_that_cannot_be_followed_any_more_ends_the_server_cleanly(spawn: Spawn, last: bytes):
    editor = await spawn("plain")

    editor.write(last)

    assert await editor.ended() == 1
    assert "the connection is closed, because" in editor.errors
    assert "Traceback" not in editor.errors


async def test_a_client_that_leaves_in_the_middle_of_a_message(spawn: Spawn):
    editor = await spawn("plain")

    editor.write(b"Content-Length: 100\r\n\r\n{")
    editor.hang_up()

    assert await editor.ended() == 1
    assert "Traceback" not in editor.errors


async def test_invalid_notifications_are_only_logged(spawn: Spawn):
    editor = await spawn("plain")
    methods = ("Open", "Change", "Save", "Close")

    for params in (None, 5, [], {}, {"textDocument": None}, {"textDocument": {"uri": 5}, "contentChanges": [{}]}):
        for method in methods:
            editor.notify(f"textDocument/did{method}", params)
        editor.notify("workspace/didChangeWorkspaceFolders", params)
        editor.notify("window/workDoneProgress/cancel", params)
        editor.notify("$/setTrace", params)
    editor.notify("$/setTrace", {"value": "verbose"})

    assert await is_alive(editor)
    assert {message["method"] for message in editor.received if "method" in message} <= {
        "textDocument/publishDiagnostics"
    }
    assert "Traceback" not in editor.errors
