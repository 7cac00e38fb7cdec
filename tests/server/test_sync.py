"""The server's copy of a document is the client's, whatever is in it. Read back through an edit of the whole line."""

import asyncio
from collections.abc import Mapping

import pytest

from tests.server.conftest import FAKE, Spawn, go_on
from tests.support.lsp import Editor, ResponseError, frame

URI = "file:///ws/a.py"


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def put(start: Mapping[str, float], end: Mapping[str, float], text: str) -> dict[str, object]:
    return {"range": {"start": start, "end": end}, "text": text}


def change(version: int, *changes: dict[str, object]) -> dict[str, object]:
    document = {"uri": URI, "version": version}
    return {"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": list(changes)}}


def inline(line: int, character: int) -> dict[str, object]:
    position = at(line, character)
    return {"textDocument": {"uri": URI}, "position": position, "context": {"triggerKind": 2}}


async def seen(editor: Editor, line: int, character: int) -> tuple[str, dict[str, object]]:
    """What the harness saw as line up to the cursor, version and byte offset; and the range of the answer."""
    item = (await editor.request("textDocument/inlineCompletion", inline(line, character)))["items"][0]
    return item["insertText"].split("\n")[0], item["range"]


async def typos(editor: Editor, version: int) -> list[tuple[int, int]]:
    """Where the client is shown `teh` in this version."""
    await go_on(editor, URI)
    params = await editor.said("textDocument/publishDiagnostics", lambda params: params.get("version") == version)
    return [(d["range"]["start"]["line"], d["range"]["start"]["character"]) for d in params["diagnostics"]]


@pytest.mark.parametrize(
    ("text", "changes", "marks"),
    [
        ("a\x0cb\nc\n", [put(at(1, 0), at(1, 0), "teh")], [(1, 0)]),  # a form feed ends no line
        ("a\u2028b\nc\n", [put(at(1, 0), at(1, 0), "teh")], [(1, 0)]),
        ("a\x85b\x1cc\x0bd\nc", [put(at(1, 1), at(1, 1), "teh")], [(1, 1)]),
        ("a\rb\rc", [put(at(2, 0), at(2, 1), "teh")], [(2, 0)]),  # a lone CR does
        ("a\r\nb\r\n", [put(at(1, 1), at(1, 9), "teh")], [(1, 1)]),
        ("😀😀x", [put(at(0, 4), at(0, 5), "teh")], [(0, 4)]),
        ("é😀\n", [put(at(0, 2), at(0, 2), "teh")], [(0, 1)]),  # inside a surrogate pair: its start
        ("ab", [put(at(0, 99), at(0, 99), "teh")], [(0, 2)]),  # past the end of the line
        ("ab\n", [put(at(99, 3), at(99, 3), "teh")], [(1, 0)]),  # past the end of the text
        ("", [put(at(0, 0), at(0, 0), "teh")], [(0, 0)]),
        ("x", [{"text": "a\n teh"}], [(1, 1)]),
        # each change is placed in the text that the one before it left
        ("x", [put(at(0, 0), at(0, 0), "a\nb\n"), put(at(2, 0), at(2, 1), "teh")], [(2, 0)]),
        ("abcd", [put(at(0, 3), at(0, 1), "teh")], [(0, 1)]),  # a range the wrong way round
        ("\ud800x", [put(at(0, 1), at(0, 2), "teh")], [(0, 1)]),  # a lone surrogate
        ("a\0b", [put(at(0, 3), at(0, 3), "teh")], [(0, 3)]),
    ],
)
async def test_changes_land_where_the_client_means(
    spawn: Spawn, text: str, changes: list[dict[str, object]], marks: list[tuple[int, int]]
):
    editor = await spawn("plain")
    editor.open(URI, text)

    editor.send(change(2, *changes))

    assert await typos(editor, 2) == marks


@pytest.mark.parametrize(("client", "column", "offset"), [("plain", 3, 6), ("nvim", 6, 6), ("eglot", 2, 6)])
async def test_columns_are_counted_in_the_negotiated_encoding(spawn: Spawn, client: str, column: int, offset: int):
    editor = await spawn(client)
    editor.open(URI, "é😀")

    text, where = await seen(editor, 0, column)

    assert text == f"é😀v1:{offset}a"
    assert where == {"start": at(0, 0), "end": at(0, column)}


async def test_positions_past_the_end_are_the_end(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "ab\ncd")

    assert (await seen(editor, 0, 2147483647))[0] == "abv1:2a"
    assert (await seen(editor, 2147483647, 0))[0] == "cdv1:5a"


async def test_negative_positions_are_refused(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "ab")

    for line, character in ((-1, 0), (0, -1), (2**31, 0), (0, 2**40)):
        with pytest.raises(ResponseError, match=r"^-32602: params of textDocument/inlineCompletion are not valid"):
            await seen(editor, line, character)

    assert (await seen(editor, 0, 1))[0] == "av1:1a"


async def test_a_document_that_is_not_open_is_named_in_the_refusal(spawn: Spawn):
    editor = await spawn("plain")

    with pytest.raises(ResponseError, match=rf"^-32602: {URI} is not open"):
        await seen(editor, 0, 0)
    editor.open(URI, "x")
    editor.close_document(URI)
    with pytest.raises(ResponseError, match=rf"^-32602: {URI} is not open"):
        await seen(editor, 0, 0)
    # none of these is a request, so none gets an answer
    editor.close_document(URI)
    editor.send(change(9, {"text": "y"}))
    editor.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
    editor.notify("textDocument/willSave", 5)

    editor.open(URI, "again", version=1)
    assert (await seen(editor, 0, 5))[0] == "againv1:5a"


MISSING = "missing"


@pytest.mark.parametrize("version", [6, 5, 4, 0, -1, 2**40, None, MISSING, "7", 5.0, True])
async def test_a_change_is_taken_whatever_its_version(spawn: Spawn, version: object):
    editor = await spawn("plain")
    editor.open(URI, "abc", version=5)
    one = change(0, put(at(0, 1), at(0, 2), "X"))
    two = change(0, put(at(0, 1), at(0, 2), "YY"), put(at(0, 4), at(0, 4), "!"))
    for message in (one, two):
        identifier: dict[str, object] = message["params"]["textDocument"]  # type: ignore[index]
        identifier["version"] = version
        if version is MISSING:
            del identifier["version"]

    editor.send(one, two)

    assert (await seen(editor, 0, 9))[0].startswith("aYYc!v")
    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    called = 5 if version == 5.0 and version is not True else version if type(version) is int else None
    assert status["documents"] == [{"uri": URI, "version": called if called != 2**40 else None, "bytes": 5}]
    assert status["outOfStep"] == []


FULL: dict[str, object] = {"text": "x teh"}
INSERT = put(at(0, 0), at(0, 0), "x")
IMPOSSIBLE: list[object] = [
    None,
    5,
    {},
    [None],
    ["x"],
    [{}],
    [{"text": None}],
    [{"text": 5}],
    [INSERT, {"text": 5}],
    [{"range": 5, "text": ""}],
    [{"range": {"start": at(0, 0)}, "text": ""}],
    [put(at(-1, 0), at(0, 0), "")],
    [{"range": {"start": {"line": 0.5, "character": 0}, "end": at(0, 0)}, "text": ""}],
]


def warnings(editor: Editor) -> list[str]:
    return [m["params"]["message"] for m in editor.received if m.get("method") == "window/logMessage"]


@pytest.mark.parametrize("changes", IMPOSSIBLE)
async def test_an_impossible_change_is_said_once_and_no_later_one_is_applied_to_a_wrong_text(
    spawn: Spawn, changes: object
):
    editor = await spawn("plain")
    editor.open(URI, "teh", language="go")
    await editor.said("textDocument/publishDiagnostics", lambda params: params["diagnostics"])
    message = change(2)
    message["params"]["contentChanges"] = changes  # type: ignore[index]

    editor.send(message, message, change(3, INSERT), change(4, INSERT))

    # nothing of ours stays on it, and nothing is answered
    await editor.said("textDocument/publishDiagnostics", lambda params: not params["diagnostics"])
    assert await editor.request("textDocument/inlineCompletion", inline(0, 0)) is None
    assert await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}}) is None
    with pytest.raises(ResponseError, match=f"^-32602: the text of {URI} is not known .*; close the file and open it"):
        await editor.request("workspace/executeCommand", {"command": "lspHarness.explain", "arguments": [{"uri": URI}]})
    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert status["documents"] == []
    assert [lost["uri"] for lost in status["outOfStep"]] == [URI]
    assert [URI in said for said in warnings(editor)] == [True]

    # all of the text ends it
    editor.send(change(5, INSERT, FULL, put(at(0, 0), at(0, 1), "yy")))
    assert (await seen(editor, 0, 9))[0].startswith("yy tehv")
    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert status["outOfStep"] == []


async def test_a_document_that_is_lost_twice_is_said_twice(spawn: Spawn):
    editor = await spawn("plain")
    for _ in range(2):
        editor.open(URI, "x")
        editor.send({"method": "textDocument/didChange", "params": {"textDocument": {"uri": URI}}})
    editor.open(URI, "again")
    assert (await seen(editor, 0, 5))[0] == "againv1:5a"
    assert len(warnings(editor)) == 2


async def test_a_range_of_a_document_that_was_never_opened_is_said_once(spawn: Spawn):
    editor = await spawn("plain")

    editor.send(change(2, INSERT), change(3, INSERT))

    assert await editor.request("textDocument/inlineCompletion", inline(0, 0)) is None
    assert ["it was never opened" in said for said in warnings(editor)] == [True]
    editor.open(URI, "now")
    assert (await seen(editor, 0, 3))[0] == "nowv1:3a"


async def test_all_of_the_text_of_a_document_that_was_never_opened_opens_it(spawn: Spawn):
    editor = await spawn("plain")

    editor.send(change(2, INSERT, FULL))

    assert (await seen(editor, 0, 5))[0] == "x tehv2:5a"
    assert warnings(editor) == []


async def test_a_change_behind_the_end_of_a_document_is_ignored(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "x")
    editor.close_document(URI)
    editor.close_document(URI)

    editor.send(change(2, INSERT), change(3, FULL))

    with pytest.raises(ResponseError, match="is not open"):
        await seen(editor, 0, 0)
    assert ["came after it was closed" in said for said in warnings(editor)] == [True]
    editor.open(URI, "again")
    assert (await seen(editor, 0, 5))[0] == "againv1:5a"


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"%s"},"contentChanges":[NaN]}}',
        b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"%s"},"contentChanges":[{"te',
        b'{"method":"textDocument/didChange",',
    ],
)
async def test_a_change_that_is_not_json_loses_the_text_it_is_about(spawn: Spawn, body: bytes):
    editor = await spawn("plain")
    editor.open(URI, "x")
    named = b"%s" in body
    other = URI + "i"
    editor.open(other, "y")

    editor.write(frame(body % URI.encode() if named else body))

    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert [lost["uri"] for lost in status["outOfStep"]] == ([URI] if named else [URI, other])


async def test_a_text_with_bytes_that_are_not_utf8_is_opened(spawn: Spawn):
    editor = await spawn("plain")
    item = b'{"uri":"%s","languageId":"c","version":1,"text":"a\xe9b teh"}' % URI.encode()
    editor.write(frame(b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":%s}}' % item))
    assert await typos(editor, 1) == [(0, 4)]


@pytest.mark.parametrize("number", [2**31, 2**63, 1e300, 1.7976931348623157e308, 9007199254740991])
async def test_a_range_that_ends_beyond_all_numbers_ends_with_the_text(spawn: Spawn, number: float):
    editor = await spawn("plain")
    editor.open(URI, "é\nb\nc")
    end = {"line": number, "character": number}
    editor.send(
        change(2, put(at(1, 0), end, "teh"), {"range": {"start": at(0, 0), "end": {**end, "line": 0}}, "text": ""})
    )
    assert await typos(editor, 2) == [(1, 0)]


@pytest.mark.parametrize("item", [{"text": 5}, {"text": None}, {}])
async def test_a_document_without_a_text_is_said_once(spawn: Spawn, item: dict[str, object]):
    editor = await spawn("plain")
    for _ in range(2):
        editor.notify("textDocument/didOpen", {"textDocument": {"uri": URI, **item}})
    assert await editor.request("textDocument/inlineCompletion", inline(0, 0)) is None
    assert len(warnings(editor)) == 1


async def test_a_document_without_a_language_or_version_is_opened(spawn: Spawn):
    editor = await spawn("plain")
    editor.notify("textDocument/didOpen", {"textDocument": {"uri": URI, "text": "ab"}})
    assert (await seen(editor, 0, 2))[0] == "abv0:2a"


async def test_five_megabytes(spawn: Spawn):
    editor = await spawn("plain")
    line = "x = 'ä' * 40\n"
    lines = 5 * 2**20 // len(line.encode())
    editor.open(URI, line * lines)

    for version in range(2, 22):
        editor.send(change(version, put(at(lines - 1, 5), at(lines - 1, 6), "ö")))

    text, where = await seen(editor, lines - 1, 8)
    assert text.startswith("x = 'ö' v21:")
    assert where["start"] == at(lines - 1, 0)


async def test_binary_text_has_nothing_to_offer(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "\0\1\2teh")
    action = {"textDocument": {"uri": URI}, "range": {"start": at(0, 0), "end": at(0, 0)}}
    found = {"range": {"start": at(0, 3), "end": at(0, 6)}, "message": "typo"}

    assert await editor.request("textDocument/inlineCompletion", inline(0, 3)) == {"items": []}
    assert await editor.request("textDocument/codeAction", {**action, "context": {"diagnostics": [found]}}) == []


@pytest.mark.parametrize("transport", ["stdio", "tcp"])
async def test_a_request_sees_the_version_it_was_sent_at(spawn: Spawn, transport: str):
    """A change right behind a request, in the same write, must not be seen by it."""
    if transport == "stdio":
        editor = await spawn("plain")
    else:
        editor = await Editor.start(FAKE, "--tcp", "127.0.0.1:0")
        await editor.connect()
        await editor.initialize("plain")
    try:
        editor.open(URI, "x = 1\n")
        editor.send(
            {"id": "v1", "method": "textDocument/inlineCompletion", "params": inline(0, 5)},
            change(2, {"text": "y"}),
            {"id": "v2", "method": "textDocument/inlineCompletion", "params": inline(0, 5)},
            change(3, {"text": "zz"}),
            change(4, {"text": "zzz"}),
        )

        answers = await asyncio.gather(editor.answer("v1"), editor.answer("v2"))

        assert [answer["items"][0]["insertText"].split("\n")[0] for answer in answers] == ["x = 1v1:5a", "yv2:1a"]
    finally:
        assert await editor.leave() == 0
        editor.check_answers()
        await editor.kill()
