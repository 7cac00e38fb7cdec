"""The text of a document in the server is that of the client, whatever it contains.

The tests read the text of the server from completions and findings.
"""

import asyncio
from collections.abc import Mapping

import pytest

from tests.server.conftest import FAKE, Spawn, release_harness
from tests.support.lsp import Editor, ResponseError, frame_message

URI = "file:///ws/a.py"


def make_position(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def make_replacement(start: Mapping[str, float], end: Mapping[str, float], text: str) -> dict[str, object]:
    return {"range": {"start": start, "end": end}, "text": text}


def change(version: int, *changes: dict[str, object]) -> dict[str, object]:
    document = {"uri": URI, "version": version}
    return {"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": list(changes)}}


def make_completion_params(line: int, character: int) -> dict[str, object]:
    return {"textDocument": {"uri": URI}, "position": make_position(line, character), "context": {"triggerKind": 2}}


async def request_completed_line(editor: Editor, line: int, character: int) -> tuple[str, dict[str, object]]:
    """Return the line up to the cursor, version and byte offset that the harness had, and the range of its answer."""
    item = (await editor.request("textDocument/inlineCompletion", make_completion_params(line, character)))["items"][0]
    return item["insertText"].split("\n")[0], item["range"]


async def find_typo_places(editor: Editor, version: int) -> list[tuple[int, int]]:
    """Return the places of the findings for `teh` in this version."""
    await release_harness(editor, URI)
    params = await editor.find_params(
        "textDocument/publishDiagnostics", lambda params: params.get("version") == version
    )
    return [(d["range"]["start"]["line"], d["range"]["start"]["character"]) for d in params["diagnostics"]]


@pytest.mark.parametrize(
    ("text", "changes", "places"),
    [
        (
            "a\x0cb\nc\n",
            [make_replacement(make_position(1, 0), make_position(1, 0), "teh")],
            [(1, 0)],
        ),  # a form feed ends no line
        ("a\u2028b\nc\n", [make_replacement(make_position(1, 0), make_position(1, 0), "teh")], [(1, 0)]),
        ("a\x85b\x1cc\x0bd\nc", [make_replacement(make_position(1, 1), make_position(1, 1), "teh")], [(1, 1)]),
        (
            "a\rb\rc",
            [make_replacement(make_position(2, 0), make_position(2, 1), "teh")],
            [(2, 0)],
        ),  # a lone CR ends a line
        ("a\r\nb\r\n", [make_replacement(make_position(1, 1), make_position(1, 9), "teh")], [(1, 1)]),
        ("😀😀x", [make_replacement(make_position(0, 4), make_position(0, 5), "teh")], [(0, 4)]),
        # a place inside a surrogate pair is its start
        ("é😀\n", [make_replacement(make_position(0, 2), make_position(0, 2), "teh")], [(0, 1)]),
        (
            "ab",
            [make_replacement(make_position(0, 99), make_position(0, 99), "teh")],
            [(0, 2)],
        ),  # past the end of the line
        (
            "ab\n",
            [make_replacement(make_position(99, 3), make_position(99, 3), "teh")],
            [(1, 0)],
        ),  # past the end of the text
        ("", [make_replacement(make_position(0, 0), make_position(0, 0), "teh")], [(0, 0)]),
        ("x", [{"text": "a\n teh"}], [(1, 1)]),
        # each change refers to the text after the change before it
        (
            "x",
            [
                make_replacement(make_position(0, 0), make_position(0, 0), "a\nb\n"),
                make_replacement(make_position(2, 0), make_position(2, 1), "teh"),
            ],
            [(2, 0)],
        ),
        ("abcd", [make_replacement(make_position(0, 3), make_position(0, 1), "teh")], [(0, 1)]),  # a reversed range
        ("\ud800x", [make_replacement(make_position(0, 1), make_position(0, 2), "teh")], [(0, 1)]),  # a lone surrogate
        ("a\0b", [make_replacement(make_position(0, 3), make_position(0, 3), "teh")], [(0, 3)]),
    ],
)
async def test_changes_land_where_the_client_means(
    spawn: Spawn, text: str, changes: list[dict[str, object]], places: list[tuple[int, int]]
):
    editor = await spawn("plain")
    editor.open(URI, text)

    editor.send(change(2, *changes))

    assert await find_typo_places(editor, 2) == places


@pytest.mark.parametrize(("client", "column", "offset"), [("plain", 3, 6), ("nvim", 6, 6), ("eglot", 2, 6)])
async def test_columns_are_counted_in_the_negotiated_encoding(spawn: Spawn, client: str, column: int, offset: int):
    editor = await spawn(client)
    editor.open(URI, "é😀")

    text, answer_range = await request_completed_line(editor, 0, column)

    assert text == f"é😀v1:{offset}a"
    assert answer_range == {"start": make_position(0, 0), "end": make_position(0, column)}


async def test_positions_past_the_end_are_the_end(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "ab\ncd")

    assert (await request_completed_line(editor, 0, 2147483647))[0] == "abv1:2a"
    assert (await request_completed_line(editor, 2147483647, 0))[0] == "cdv1:5a"


async def test_negative_positions_are_refused(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "ab")

    for line, character in ((-1, 0), (0, -1), (2**31, 0), (0, 2**40)):
        with pytest.raises(ResponseError, match=r"^-32602: params of textDocument/inlineCompletion are not valid"):
            await request_completed_line(editor, line, character)

    assert (await request_completed_line(editor, 0, 1))[0] == "av1:1a"


async def test_a_document_that_is_not_open_is_named_in_the_refusal(spawn: Spawn):
    editor = await spawn("plain")

    with pytest.raises(ResponseError, match=rf"^-32602: {URI} is not open"):
        await request_completed_line(editor, 0, 0)
    editor.open(URI, "x")
    editor.close_document(URI)
    with pytest.raises(ResponseError, match=rf"^-32602: {URI} is not open"):
        await request_completed_line(editor, 0, 0)
    # these are notifications, so they get no answer
    editor.close_document(URI)
    editor.send(change(9, {"text": "y"}))
    editor.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
    editor.notify("textDocument/willSave", 5)

    editor.open(URI, "again", version=1)
    assert (await request_completed_line(editor, 0, 5))[0] == "againv1:5a"


MISSING = "missing"


@pytest.mark.parametrize("version", [6, 5, 4, 0, -1, 2**40, None, MISSING, "7", 5.0, True])
async def test_a_change_is_applied_with_any_version(spawn: Spawn, version: object):
    editor = await spawn("plain")
    editor.open(URI, "abc", version=5)
    first = change(0, make_replacement(make_position(0, 1), make_position(0, 2), "X"))
    second = change(
        0,
        make_replacement(make_position(0, 1), make_position(0, 2), "YY"),
        make_replacement(make_position(0, 4), make_position(0, 4), "!"),
    )
    for message in (first, second):
        identifier: dict[str, object] = message["params"]["textDocument"]  # type: ignore[index]
        identifier["version"] = version
        if version is MISSING:
            del identifier["version"]

    editor.send(first, second)

    assert (await request_completed_line(editor, 0, 9))[0].startswith("aYYc!v")
    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    reported_version = 5 if version == 5.0 and version is not True else version if type(version) is int else None
    assert status["documents"] == [
        {"uri": URI, "version": reported_version if reported_version != 2**40 else None, "bytes": 5}
    ]
    assert status["outOfStep"] == []


WHOLE_TEXT: dict[str, object] = {"text": "x teh"}
INSERT = make_replacement(make_position(0, 0), make_position(0, 0), "x")
INVALID_CHANGES: list[object] = [
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
    [{"range": {"start": make_position(0, 0)}, "text": ""}],
    [make_replacement(make_position(-1, 0), make_position(0, 0), "")],
    [{"range": {"start": {"line": 0.5, "character": 0}, "end": make_position(0, 0)}, "text": ""}],
]


def find_warnings(editor: Editor) -> list[str]:
    return [message["params"]["message"] for message in editor.received if message.get("method") == "window/logMessage"]


@pytest.mark.parametrize("changes", INVALID_CHANGES)
async def test_an_impossible_change_is_reported_once_and_later_changes_are_not_applied(spawn: Spawn, changes: object):
    editor = await spawn("plain")
    editor.open(URI, "teh", language="go")
    await editor.find_params("textDocument/publishDiagnostics", lambda params: params["diagnostics"])
    message = change(2)
    message["params"]["contentChanges"] = changes  # type: ignore[index]

    editor.send(message, message, change(3, INSERT), change(4, INSERT))

    # its diagnostics are removed, and requests get no result
    await editor.find_params("textDocument/publishDiagnostics", lambda params: not params["diagnostics"])
    assert await editor.request("textDocument/inlineCompletion", make_completion_params(0, 0)) is None
    assert await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}}) is None
    with pytest.raises(ResponseError, match=f"^-32602: the text of {URI} is not known .*; close the file and open it"):
        await editor.request("workspace/executeCommand", {"command": "lspHarness.explain", "arguments": [{"uri": URI}]})
    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert status["documents"] == []
    assert [lost["uri"] for lost in status["outOfStep"]] == [URI]
    assert [URI in warning for warning in find_warnings(editor)] == [True]

    # the whole text makes it known again
    editor.send(change(5, INSERT, WHOLE_TEXT, make_replacement(make_position(0, 0), make_position(0, 1), "yy")))
    assert (await request_completed_line(editor, 0, 9))[0].startswith("yy tehv")
    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert status["outOfStep"] == []


async def test_a_document_that_is_lost_twice_is_reported_twice(spawn: Spawn):
    editor = await spawn("plain")
    for _ in range(2):
        editor.open(URI, "x")
        editor.send({"method": "textDocument/didChange", "params": {"textDocument": {"uri": URI}}})
    editor.open(URI, "again")
    assert (await request_completed_line(editor, 0, 5))[0] == "againv1:5a"
    assert len(find_warnings(editor)) == 2


async def test_a_change_of_an_unknown_document_is_reported_once(spawn: Spawn):
    editor = await spawn("plain")

    editor.send(change(2, INSERT), change(3, INSERT))

    assert await editor.request("textDocument/inlineCompletion", make_completion_params(0, 0)) is None
    assert ["it was never opened" in warning for warning in find_warnings(editor)] == [True]
    editor.open(URI, "now")
    assert (await request_completed_line(editor, 0, 3))[0] == "nowv1:3a"


async def test_a_change_of_the_whole_text_opens_an_unknown_document(spawn: Spawn):
    editor = await spawn("plain")

    editor.send(change(2, INSERT, WHOLE_TEXT))

    assert (await request_completed_line(editor, 0, 5))[0] == "x tehv2:5a"
    assert find_warnings(editor) == []


async def test_a_change_behind_the_end_of_a_document_is_ignored(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "x")
    editor.close_document(URI)
    editor.close_document(URI)

    editor.send(change(2, INSERT), change(3, WHOLE_TEXT))

    with pytest.raises(ResponseError, match="is not open"):
        await request_completed_line(editor, 0, 0)
    assert ["came after it was closed" in warning for warning in find_warnings(editor)] == [True]
    editor.open(URI, "again")
    assert (await request_completed_line(editor, 0, 5))[0] == "againv1:5a"


@pytest.mark.parametrize(
    "body",
    [
        (
            b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"%s"},"contentChanges"'
            b":[NaN]}}"
        ),
        (
            b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"%s"},"contentChanges"'
            b':[{"te'
        ),
        b'{"method":"textDocument/didChange",',
    ],
)
async def test_a_change_that_is_not_json_loses_its_document(spawn: Spawn, body: bytes):
    editor = await spawn("plain")
    editor.open(URI, "x")
    names_document = b"%s" in body
    other = URI + "i"
    editor.open(other, "y")

    editor.write(frame_message(body % URI.encode() if names_document else body))

    status = await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
    assert [lost["uri"] for lost in status["outOfStep"]] == ([URI] if names_document else [URI, other])


async def test_a_text_with_bytes_that_are_not_utf8_is_opened(spawn: Spawn):
    editor = await spawn("plain")
    item = b'{"uri":"%s","languageId":"c","version":1,"text":"a\xe9b teh"}' % URI.encode()
    editor.write(
        frame_message(b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":%s}}' % item)
    )
    assert await find_typo_places(editor, 1) == [(0, 4)]


@pytest.mark.parametrize("number", [2**31, 2**63, 1e300, 1.7976931348623157e308, 9007199254740991])
async def test_a_range_that_ends_beyond_all_numbers_ends_with_the_text(spawn: Spawn, number: float):
    editor = await spawn("plain")
    editor.open(URI, "é\nb\nc")
    end = {"line": number, "character": number}
    editor.send(
        change(
            2,
            make_replacement(make_position(1, 0), end, "teh"),
            {"range": {"start": make_position(0, 0), "end": {**end, "line": 0}}, "text": ""},
        )
    )
    assert await find_typo_places(editor, 2) == [(1, 0)]


@pytest.mark.parametrize("item", [{"text": 5}, {"text": None}, {}])
async def test_a_document_without_a_text_is_reported_once(spawn: Spawn, item: dict[str, object]):
    editor = await spawn("plain")
    for _ in range(2):
        editor.notify("textDocument/didOpen", {"textDocument": {"uri": URI, **item}})
    assert await editor.request("textDocument/inlineCompletion", make_completion_params(0, 0)) is None
    assert len(find_warnings(editor)) == 1


async def test_a_document_without_a_language_or_version_is_opened(spawn: Spawn):
    editor = await spawn("plain")
    editor.notify("textDocument/didOpen", {"textDocument": {"uri": URI, "text": "ab"}})
    assert (await request_completed_line(editor, 0, 2))[0] == "abv0:2a"


async def test_changes_of_a_text_of_five_megabytes_are_applied(spawn: Spawn):
    editor = await spawn("plain")
    line = "x = 'ä' * 40\n"
    lines = 5 * 2**20 // len(line.encode())
    editor.open(URI, line * lines)

    for version in range(2, 22):
        editor.send(change(version, make_replacement(make_position(lines - 1, 5), make_position(lines - 1, 6), "ö")))

    text, answer_range = await request_completed_line(editor, lines - 1, 8)
    assert text.startswith("x = 'ö' v21:")
    assert answer_range["start"] == make_position(lines - 1, 0)


async def test_binary_text_gets_no_offer(spawn: Spawn):
    editor = await spawn("plain")
    editor.open(URI, "\0\1\2teh")
    action = {"textDocument": {"uri": URI}, "range": {"start": make_position(0, 0), "end": make_position(0, 0)}}
    diagnostic = {"range": {"start": make_position(0, 3), "end": make_position(0, 6)}, "message": "typo"}

    assert await editor.request("textDocument/inlineCompletion", make_completion_params(0, 3)) == {"items": []}
    assert await editor.request("textDocument/codeAction", {**action, "context": {"diagnostics": [diagnostic]}}) == []


@pytest.mark.parametrize("transport", ["stdio", "tcp"])
async def test_a_request_is_answered_for_the_version_at_its_sending(spawn: Spawn, transport: str):
    """A request must not see a change that follows it in the same write."""
    if transport == "stdio":
        editor = await spawn("plain")
    else:
        editor = await Editor.start(FAKE, "--tcp", "127.0.0.1:0")
        await editor.connect()
        await editor.initialize("plain")
    try:
        editor.open(URI, "x = 1\n")
        editor.send(
            {"id": "v1", "method": "textDocument/inlineCompletion", "params": make_completion_params(0, 5)},
            change(2, {"text": "y"}),
            {"id": "v2", "method": "textDocument/inlineCompletion", "params": make_completion_params(0, 5)},
            change(3, {"text": "zz"}),
            change(4, {"text": "zzz"}),
        )

        answers = await asyncio.gather(editor.answer("v1"), editor.answer("v2"))

        assert [answer["items"][0]["insertText"].split("\n")[0] for answer in answers] == ["x = 1v1:5a", "yv2:1a"]
    finally:
        assert await editor.leave() == 0
        editor.check_answers()
        await editor.kill()
