"""A real server with hostile texts open: it answers everything once, about them and about others, and shuts down.

`tests/benchmarks/freeze.py` measures how long the answers take.
"""

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile import Hostile, binary, named
from tests.support.lsp import Editor, ResponseError

CALM = "def area(radius):\n    return "
TABLE, EMOJI, PARAGRAPHS = "table of numbers, 208 kB", "one line and an emoji, 1.9 MB", "wide paragraphs, 1.9 MB"
CANCELLED = -32800


def texts() -> list[Hostile]:
    """A text for each thing that once stopped the server: the parser, its crash, nested code, long lines and many
    lines."""
    found = {(one.kind, one.language): one for one in named(1)}
    yaml = Hostile("", "yaml", "".join(" " * n + "a:\n" for n in range(400)))
    return [
        found[TABLE, "c"],
        found[EMOJI, "json"],
        found[PARAGRAPHS, "markdown"],
        Hostile("", "python", "x = " + "(" * 20_000 + "1" + ")" * 20_000 + "\n"),
        yaml,
        Hostile("", "go", binary(random.Random(1), "go")),
    ]


UNPARSED = {"hostile.c", "hostile.py", "hostile.yml"}
"""Those that surely have no tree; whether others have one is a matter of how fast the machine is."""


@pytest.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "radius ** 3"}] * 200))
    home = {"LSP_HARNESS_HOME": str(tmp_path / "home"), "LSP_HARNESS_ENGINE__SCRIPT": str(script)}
    root = tmp_path / "work"
    root.mkdir()
    editor = await Editor.spawn("-m", "lsp_harness", "serve", cwd=root, env={**os.environ, **home})
    await editor.initialize("vscode", rootUri=root.as_uri())
    yield editor
    try:
        if editor.process.returncode is None:
            assert await editor.leave() == 0
        editor.check_answers()
    finally:
        await editor.kill()


def place(uri: str, line: int, character: int) -> dict[str, Any]:
    position = {"line": line, "character": character}
    return {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 2}}


def middle(text: str) -> tuple[int, int]:
    lines = text.split("\n")
    line = len(lines) // 2
    return line, len(lines[line].encode("utf-16-le")) // 4


def insert(editor: Editor, uri: str, version: int, at: tuple[int, int], text: str) -> None:
    position = {"line": at[0], "character": at[1]}
    change = {"range": {"start": position, "end": position}, "text": text}
    params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}
    editor.notify("textDocument/didChange", params)


def ask_all(editor: Editor, uri: str, at: tuple[int, int]) -> list[int]:
    """What an editor asks of a document after a key; the ids of the requests."""
    position = {"line": at[0], "character": at[1]}
    span = {"start": position, "end": position}
    finding = {"range": span, "message": "m", "severity": 1, "source": "x"}
    document = {"textDocument": {"uri": uri}}
    return [
        editor.ask("textDocument/documentSymbol", document),
        editor.ask("textDocument/inlineCompletion", place(uri, *at)),
        editor.ask("textDocument/codeAction", {**document, "range": span, "context": {"diagnostics": [finding]}}),
    ]


async def settled(editor: Editor, id: int) -> Any:
    """The result of a request, or its error."""
    try:
        return await editor.answer(id)
    except ResponseError as error:
        return error


async def status(editor: Editor) -> dict[str, Any]:
    return await editor.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})


async def unparsed(editor: Editor, folder: str, wanted: set[str]) -> dict[str, str]:
    """What the status says of documents without a tree, once it says it of those that are `wanted`."""
    while True:
        found = {one["uri"].removeprefix(folder): one["why"] for one in (await status(editor))["unparsed"]}
        if wanted <= set(found):
            return found
        for name in wanted:
            # waits for the attempt to parse it
            await settled(editor, editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": folder + name}}))


async def test_hostile_texts_harm_no_other_document(editor: Editor, tmp_path: Path):
    folder = (tmp_path / "work").as_uri() + "/"
    calm, asked = folder + "calm.py", list[int]()
    editor.open(calm, CALM)
    for one in texts():
        uri, at = folder + one.name, middle(one.text)
        editor.open(uri, one.text, language=one.language)
        asked += ask_all(editor, uri, at)
        insert(editor, uri, 2, at, "(")
        asked += ask_all(editor, uri, (at[0], at[1] + 1))
        # another document meanwhile
        symbols = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": calm}})
        assert [symbol["name"] for symbol in symbols] == ["area"]
        [ghost] = (await editor.request("textDocument/inlineCompletion", place(calm, 1, 11)))["items"]
        assert ghost["insertText"]
    late = editor.ask("textDocument/inlineCompletion", place(folder + "hostile.c", 0, 0))
    editor.notify("$/cancelRequest", {"id": late})
    for id in asked:
        # a result or an error of the protocol, but an answer
        await settled(editor, id)
    assert isinstance(await settled(editor, late), dict | list | ResponseError)
    reasons = await unparsed(editor, folder, UNPARSED)
    assert all(reasons.values())
    assert "calm.py" not in reasons


async def test_a_text_is_parsed_again_when_it_can_be(editor: Editor, tmp_path: Path):
    folder = (tmp_path / "work").as_uri() + "/"
    uri, hostile = folder + "hostile.py", "x = " + "(" * 20_000 + "\n"
    editor.open(uri, hostile)
    assert "hostile.py" in await unparsed(editor, folder, {"hostile.py"})
    assert await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) == []
    editor.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "def area(r):\n    return r\n"}]},
    )
    symbols = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [symbol["name"] for symbol in symbols] == ["area"]
    assert (await status(editor))["unparsed"] == []


async def test_a_server_shuts_down_while_a_text_is_being_parsed(editor: Editor, tmp_path: Path):
    folder = (tmp_path / "work").as_uri() + "/"
    asked = list[int]()
    for one in texts()[:4]:
        editor.open(folder + one.name, one.text, language=one.language)
        asked += ask_all(editor, folder + one.name, middle(one.text))
    assert await editor.request("shutdown") is None
    await asyncio.gather(*(settled(editor, id) for id in asked))
