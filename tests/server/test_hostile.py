"""A real server with hostile texts open: it answers each request once, also about other texts, and shuts down.

`benchmarks/freeze.py` measures how long the answers take.
"""

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile import HostileText, make_binary_text, make_hostile_cases
from tests.support.lsp import Editor, ResponseError

CALM = "def area(radius):\n    return "
TABLE, EMOJI, PARAGRAPHS = "table of numbers, 208 kB", "one line and an emoji, 1.9 MB", "wide paragraphs, 1.9 MB"
CANCELLED = -32800


def make_hostile_texts() -> list[HostileText]:
    """Return a text for each problem that once stopped the server: parser, nested code, long lines, many lines."""
    by_kind = {(text.kind, text.language): text for text in make_hostile_cases(1)}
    yaml = HostileText("", "yaml", "".join(" " * n + "a:\n" for n in range(400)))
    return [
        by_kind[TABLE, "c"],
        by_kind[EMOJI, "json"],
        by_kind[PARAGRAPHS, "markdown"],
        HostileText("", "python", "x = " + "(" * 20_000 + "1" + ")" * 20_000 + "\n"),
        yaml,
        HostileText("", "go", make_binary_text(random.Random(1), "go")),
    ]


UNPARSED = {"hostile.c", "hostile.py", "hostile.yml"}
"""The documents that never have a tree. Whether the others have one depends on the speed of the machine."""


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


def make_completion_params(uri: str, line: int, character: int) -> dict[str, Any]:
    position = {"line": line, "character": character}
    return {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 2}}


def find_middle_position(text: str) -> tuple[int, int]:
    lines = text.split("\n")
    line = len(lines) // 2
    return line, len(lines[line].encode("utf-16-le")) // 4


def insert(editor: Editor, uri: str, version: int, place: tuple[int, int], text: str) -> None:
    position = {"line": place[0], "character": place[1]}
    change = {"range": {"start": position, "end": position}, "text": text}
    params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}
    editor.notify("textDocument/didChange", params)


def ask_all(editor: Editor, uri: str, place: tuple[int, int]) -> list[int]:
    """Send the requests of an editor after a key, and return their ids."""
    position = {"line": place[0], "character": place[1]}
    span = {"start": position, "end": position}
    finding = {"range": span, "message": "m", "severity": 1, "source": "x"}
    document = {"textDocument": {"uri": uri}}
    return [
        editor.ask("textDocument/documentSymbol", document),
        editor.ask("textDocument/inlineCompletion", make_completion_params(uri, *place)),
        editor.ask("textDocument/codeAction", {**document, "range": span, "context": {"diagnostics": [finding]}}),
    ]


async def answer_or_error(editor: Editor, id: int) -> Any:
    """Return the result of a request, or its error."""
    try:
        return await editor.answer(id)
    except ResponseError as error:
        return error


async def request_status(editor: Editor) -> dict[str, Any]:
    return await editor.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})


async def find_documents_without_tree(editor: Editor, folder: str, expected: set[str]) -> dict[str, str]:
    """Return the reasons of all documents without a tree, as soon as the `expected` ones are among them."""
    while True:
        rows = (await request_status(editor))["unparsed"]
        reasons = {row["uri"].removeprefix(folder): row["why"] for row in rows}
        if expected <= set(reasons):
            return reasons
        for name in expected:
            # this request waits for the attempt to parse the text
            await answer_or_error(
                editor, editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": folder + name}})
            )


async def test_hostile_texts_do_not_disturb_other_documents(editor: Editor, tmp_path: Path):
    folder = (tmp_path / "work").as_uri() + "/"
    calm, request_ids = folder + "calm.py", list[int]()
    editor.open(calm, CALM)
    for hostile in make_hostile_texts():
        uri, (line, character) = folder + hostile.name, find_middle_position(hostile.text)
        editor.open(uri, hostile.text, language=hostile.language)
        request_ids += ask_all(editor, uri, (line, character))
        insert(editor, uri, 2, (line, character), "(")
        request_ids += ask_all(editor, uri, (line, character + 1))
        # another document in the meantime
        symbols = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": calm}})
        assert [symbol["name"] for symbol in symbols] == ["area"]
        [ghost] = (await editor.request("textDocument/inlineCompletion", make_completion_params(calm, 1, 11)))["items"]
        assert ghost["insertText"]
    cancelled_id = editor.ask("textDocument/inlineCompletion", make_completion_params(folder + "hostile.c", 0, 0))
    editor.notify("$/cancelRequest", {"id": cancelled_id})
    for id in request_ids:
        # an error is an answer, too
        await answer_or_error(editor, id)
    assert isinstance(await answer_or_error(editor, cancelled_id), dict | list | ResponseError)
    reasons = await find_documents_without_tree(editor, folder, UNPARSED)
    assert all(reasons.values())
    assert "calm.py" not in reasons


async def test_a_text_that_can_be_parsed_again_has_its_symbols(editor: Editor, tmp_path: Path):
    folder = (tmp_path / "work").as_uri() + "/"
    uri, hostile = folder + "hostile.py", "x = " + "(" * 20_000 + "\n"
    editor.open(uri, hostile)
    assert "hostile.py" in await find_documents_without_tree(editor, folder, {"hostile.py"})
    assert await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) == []
    editor.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "def area(r):\n    return r\n"}]},
    )
    symbols = await editor.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [symbol["name"] for symbol in symbols] == ["area"]
    assert (await request_status(editor))["unparsed"] == []


async def test_a_server_shuts_down_while_a_text_is_being_parsed(editor: Editor, tmp_path: Path):
    folder = (tmp_path / "work").as_uri() + "/"
    request_ids = list[int]()
    for hostile in make_hostile_texts()[:4]:
        editor.open(folder + hostile.name, hostile.text, language=hostile.language)
        request_ids += ask_all(editor, folder + hostile.name, find_middle_position(hostile.text))
    assert await editor.request("shutdown") is None
    await asyncio.gather(*(answer_or_error(editor, id) for id in request_ids))
