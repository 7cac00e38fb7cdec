"""The life of a server: its start, `initialize`, `shutdown` and its end."""

import importlib.metadata
from pathlib import Path

import pytest

from lsp_harness.server.commands.command_registry import command_names
from lsp_harness.server.features.feature_table import FEATURES
from lsp_harness.wire.version import VERSION
from tests.server.conftest import Spawn
from tests.support.lsp import Editor, ResponseError


async def test_a_client_with_all_capabilities_gets_all_capabilities(spawn: Spawn):
    editor = await spawn(None)

    result = await editor.initialize("vscode")

    assert result == {
        "serverInfo": {"name": "lsp-harness", "version": VERSION},
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "inlineCompletionProvider": {"workDoneProgress": False},
            "codeActionProvider": {
                "codeActionKinds": ["quickfix", "refactor", "refactor.rewrite"],
                "resolveProvider": True,
            },
            "executeCommandProvider": {
                "commands": command_names(),
                "workDoneProgress": True,
            },
            "documentSymbolProvider": True,
            "workspaceSymbolProvider": True,
            "definitionProvider": True,
            "referencesProvider": True,
            "diagnosticProvider": {
                "identifier": "lsp-harness",
                "interFileDependencies": True,
                "workspaceDiagnostics": False,
            },
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "textDocumentContent": {"schemes": ["lsp-harness-verdict"]},
            },
        },
    }


async def test_completion_is_advertised_only_to_clients_without_ghost_text(spawn: Spawn):
    with_ghost_text, without_ghost_text = await spawn(None), await spawn(None)

    first, second = await with_ghost_text.initialize("vscode"), await without_ghost_text.initialize("plain")

    assert "completionProvider" not in first["capabilities"]
    assert second["capabilities"]["completionProvider"] == {"resolveProvider": False}
    with pytest.raises(ResponseError, match="-32601: textDocument/completion is not supported"):
        await with_ghost_text.request("textDocument/completion", {})


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-16"], "utf-16"),
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-7", "utf-32", "utf-8"], "utf-32"),
        (["nonsense"], "utf-16"),
        ("nonsense", "utf-16"),
        (None, "utf-16"),
    ],
)
async def test_the_first_supported_encoding_is_chosen(spawn: Spawn, offered: object, chosen: str):
    editor = await spawn(None)

    result = await editor.initialize(capabilities={"general": {"positionEncodings": offered}})

    assert result["capabilities"]["positionEncoding"] == chosen


async def test_unknown_capabilities_of_a_client_are_accepted(spawn: Spawn):
    editor = await spawn(None)
    unknown_capabilities = {
        "textDocument": {"completion": {"completionItemKind": {"valueSet": [1, 99]}}, "codeAction": 7}
    }

    result = await editor.initialize(capabilities=unknown_capabilities, trace="loud", clientInfo="me", locale=5)

    assert result["capabilities"]["positionEncoding"] == "utf-16"


@pytest.mark.parametrize("params", [None, [], "x", {}, {"capabilities": None}, {"capabilities": {}, "processId": "1"}])
async def test_an_invalid_initialize_is_refused_and_may_be_repeated(spawn: Spawn, params: object):
    editor = await spawn(None)

    with pytest.raises(ResponseError, match=r"^-32602: initialize"):
        await editor.request("initialize", params)

    assert await editor.initialize("plain")


async def test_requests_before_initialize_are_refused_and_notifications_dropped(spawn: Spawn):
    editor = await spawn(None)

    editor.open("file:///a.py", "x")
    with pytest.raises(ResponseError, match=r"^-32002: textDocument/hover came before initialize"):
        await editor.request("textDocument/hover", {})
    with pytest.raises(ResponseError, match=r"^-32002: workspace/symbol came before initialize"):
        await editor.request("workspace/symbol")

    await editor.initialize("plain")
    assert (await editor.request("workspace/executeCommand", {"command": "lspHarness.status"}))["documents"] == []


async def test_a_second_initialize_is_refused(spawn: Spawn):
    editor = await spawn()

    with pytest.raises(ResponseError, match=r"^-32600: the server is already initialized"):
        await editor.initialize()


async def test_after_shutdown_only_exit_is_accepted(spawn: Spawn):
    editor = await spawn()
    await editor.request("shutdown")

    for method in ("textDocument/hover", "shutdown", "initialize"):
        with pytest.raises(ResponseError, match=rf"^-32600: {method} came after shutdown"):
            await editor.request(method, {})

    editor.notify("exit")
    assert await editor.ended() == 0
    assert "harness closed" in editor.errors


async def test_shutdown_cancels_running_requests(spawn: Spawn):
    editor = await spawn("plain")
    editor.open("file:///a.py", "wait")
    running = editor.ask("textDocument/inlineCompletion", make_inline_params("file:///a.py"))
    await editor.until(lambda: "waiting" in editor.errors)

    await editor.request("shutdown")

    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer(running)


async def test_exit_without_shutdown_is_status_1(spawn: Spawn):
    before, after = await spawn(None), await spawn()

    before.notify("exit")
    after.notify("exit")

    assert (await before.ended(), await after.ended()) == (1, 1)


async def test_a_client_that_hangs_up_ends_the_server(spawn: Spawn):
    abrupt, polite = await spawn(), await spawn()
    await polite.request("shutdown")

    abrupt.hang_up()
    polite.hang_up()

    assert (await abrupt.ended(), await polite.ended()) == (1, 0)
    assert "Traceback" not in abrupt.errors + polite.errors


async def test_messages_in_one_write_are_handled_in_order(spawn: Spawn):
    editor = await spawn(None)
    item = {"uri": "file:///a.py", "languageId": "python", "version": 3, "text": "x"}

    editor.send(
        {"id": "i", "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": item}},
        {"id": "c", "method": "textDocument/inlineCompletion", "params": make_inline_params("file:///a.py")},
        {"id": "s", "method": "shutdown"},
        {"method": "exit"},
    )

    assert await editor.ended() == 0
    # the completion was cancelled by the shutdown
    assert [
        (message["id"], message.get("error", {}).get("code")) for message in editor.received if "id" in message
    ] == [
        ("i", None),
        ("s", None),
        ("c", -32800),
    ]


async def test_roots_come_from_folders_or_the_root_and_follow_changes(spawn: Spawn):
    editor = await spawn(
        "plain", workspaceFolders=[make_folder("/one"), make_folder("/two%20b"), make_folder("untitled:x")]
    )
    single = await spawn("plain", rootUri="file:///only")

    editor.notify(
        "workspace/didChangeWorkspaceFolders",
        {"event": {"added": [make_folder("/three"), make_folder("/one")], "removed": [make_folder("/two%20b")]}},
    )

    assert (await request_status(editor))["roots"] == ["/one", "/three"]
    assert (await request_status(single))["roots"] == ["/only"]


async def test_no_heavy_module_is_imported_and_the_harness_is_made_once(spawn: Spawn):
    """`make_harness` of the fake fails if a heavy module is imported already."""
    editor = await spawn()

    assert (await request_status(editor))["running"] == 0
    assert editor.errors == ""


async def test_all_real_clients_are_initialized(spawn: Spawn):
    for path in sorted(Path(__file__).parents[1].glob("clients/*.json")):
        editor = await spawn(None)
        assert await editor.initialize(path.stem), path


async def test_each_announced_method_has_a_handler(spawn: Spawn):
    """Each announced method has a handler: without params, the answer is -32602."""
    editor = await spawn(
        "plain",
        capabilities={
            "textDocument": {"diagnostic": {}, "codeLens": {}},
            "workspace": {"diagnostics": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}},
            "experimental": {"lspHarness": {"fallback": True}},
        },
    )
    offered = {
        feature.method
        for feature in FEATURES
        if feature.method.startswith(("textDocument/", "workspace/exe", "codeAction/"))
    }

    for method in sorted(offered - {f"textDocument/did{event}" for event in ("Open", "Change", "Close")}):
        with pytest.raises(ResponseError, match=r"^-32602"):
            await editor.request(method)


def test_the_version_is_the_distributions():
    assert importlib.metadata.version("lsp-harness") == VERSION


async def test_a_signal_ends_the_server_in_order(spawn: Spawn):
    editor = await spawn()

    editor.process.terminate()

    assert await editor.ended() == 128 + 15
    assert "harness closed" in editor.errors
    assert "Traceback" not in editor.errors


def make_inline_params(uri: str) -> dict[str, object]:
    position = {"line": 0, "character": 0}
    return {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 2}}


def make_folder(path: str) -> dict[str, str]:
    return {"uri": path if ":" in path else f"file://{path}", "name": path}


async def request_status(editor: Editor) -> dict[str, object]:
    return await editor.request("workspace/executeCommand", {"command": "lspHarness.status"})
