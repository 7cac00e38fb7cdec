"""The tests of an accepted suggestion in a real server with the default settings. The engine is a script."""

import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.verify.types.checkers import TY_VARIABLE
from tests.server.test_verification import make_capabilities_with_lenses
from tests.support.lsp import Editor
from tests.support.real_checkers import REAL_TY

HEAD = "def area(r):\n    return "
TESTS = "from shapes import area\n\n\ndef test_area():\n    assert area(2) == 12\n"
SPY = """
import socket
from contextlib import suppress
from pathlib import Path

def test_the_world():
    for attempt in (
        lambda: Path({outside!r}).write_text("x"),
        lambda: Path({shapes!r}).write_text("x"),
        lambda: socket.create_connection(("127.0.0.1", {port}), 2),
    ):
        with suppress(OSError):
            attempt()
"""
Accept = Callable[..., Awaitable[str]]


@pytest.fixture
async def accept(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Accept]:
    """Accept a suggestion in an editor, and return the title of the lens about it."""
    if (choice := machine_sandbox()).confine(tmp_path) is None:
        pytest.skip(f"no sandbox without network works here: {choice.problem_text}")
    root, script, editors = tmp_path / "ws", tmp_path / "script.json", list[Editor]()
    file = root / "shapes.py"
    root.mkdir()

    async def accept_suggestion(suggestion: str, spy: str = "") -> str:
        file.write_text(f"{HEAD}\n")
        (root / "test_shapes.py").write_text(TESTS + spy)
        script.write_text(json.dumps([{"text": suggestion}] * 9))
        monkeypatch.setenv("LSP_HARNESS_ENGINE__SCRIPT", str(script))
        editor = await Editor.spawn("-m", "lsp_harness", "serve")
        editors.append(editor)
        await editor.initialize(capabilities=make_capabilities_with_lenses(), rootUri=root.as_uri())
        while not await editor.request("workspace/symbol", {"query": "test_area"}):
            assert editor.process.returncode is None
        document = {"uri": file.as_uri()}
        editor.open(document["uri"], f"{HEAD}\n")
        place = {"line": 1, "character": len("    return ")}
        params = {"textDocument": document, "position": place, "context": {"triggerKind": 1}}
        [item] = (await editor.request("textDocument/inlineCompletion", params))["items"]
        assert item["insertText"] == suggestion
        change = {"range": {"start": place, "end": place}, "text": suggestion}
        versioned = {**document, "version": 2}
        editor.notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]})
        await editor.request("workspace/executeCommand", item["command"])
        while not (lenses := await editor.request("textDocument/codeLens", {"textDocument": document})):
            await editor.find_params("workspace/codeLens/refresh")
        await editor.leave()
        editor.check_answers()
        assert file.read_text() == f"{HEAD}\n"
        return lenses[0]["command"]["title"]

    yield accept_suggestion
    for editor in editors:
        await editor.kill()


async def test_the_lens_counts_the_tests_of_an_accepted_suggestion(accept: Accept) -> None:
    assert await accept("3 * r ** 2") == "verified ✓ 3 checks, 1 test"


@pytest.mark.skipif(not REAL_TY, reason="ty is not installed (pip install ty)")
async def test_the_lens_counts_the_check_of_types(accept: Accept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)
    monkeypatch.setenv("LSP_HARNESS_VERIFICATION__TYPE_CHECK", "on")
    assert await accept("3 * r ** 2") == "verified ✓ 4 checks, 1 test"


async def test_a_suggestion_that_fails_a_test_is_reported(accept: Accept, tmp_path: Path) -> None:
    # a test that fails before does not count
    (tmp_path / "ws" / "test_name.py").write_text(
        "from shapes import area\n\n\ndef test_name():\n    assert area.__name__ == 'area' and area(0) in (0, None)\n"
    )
    assert await accept("3 + r ** 2") == "verification failed ✗ tests"


async def test_writes_of_the_tests_stay_in_the_sandbox(accept: Accept, tmp_path: Path) -> None:
    outside, shapes = tmp_path / "outside", tmp_path / "ws" / "shapes.py"
    with socket.create_server(("127.0.0.1", 0)) as server:
        spy = SPY.format(outside=str(outside), shapes=str(shapes), port=server.getsockname()[1])
        # the editor does not save the document, and the fixture reads it from disk at the end
        assert (await accept("3 * r ** 2", spy)).endswith("checks, 2 tests")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not outside.exists()


@pytest.mark.parametrize(
    ("setting", "value"), [("DENY", '["Tests"]'), ("ASK", '["Bash"]'), ("MODE", "plan"), ("MODE", "deny")]
)
async def test_settings_that_forbid_tests_win(
    accept: Accept, setting: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"LSP_HARNESS_PERMISSIONS__{setting}", value)
    title = await accept("3 * r ** 2")
    assert title.startswith("form ✓, behaviour not checked")
    assert "test" not in title
