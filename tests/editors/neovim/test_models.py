"""The choice and the download of a model, the engine and the statistics, with a fake server."""

from tests.editors.neovim.editor import Editor


def test_the_chosen_model_is_sent_as_a_setting(editor: Editor):
    editor.choosing("better")

    editor.nvim.command("LspHarness model")

    editor.until_event("settings", settings={"lspHarness": {"model": {"path": "better"}}})
    assert editor.lua("return offered") == [
        "small (0.4 GB, MIT, in use)",
        "better (1.2 GB, MIT)",
        "absent (MIT, not downloaded)",
    ]
    assert "better is used until Neovim ends" in editor.messages


def test_the_choice_holds_for_a_server_that_is_started_later(editor: Editor):
    editor.choosing("better")
    editor.nvim.command("LspHarness model")
    editor.until_event("settings")
    editor.lua("_G.events = {}")

    editor.nvim.command("LspHarness restart")

    editor.until_event("settings", settings={"lspHarness": {"model": {"path": "better"}}})


def test_settings_of_the_user_stay(editor: Editor):
    editor.lua("""
        local client = require('lsp_harness.server').client(0)
        client.settings = { lspHarness = { completion = { max_lines = 3 } } }
    """)
    editor.choosing("better")

    editor.nvim.command("LspHarness model")

    settings = {"completion": {"max_lines": 3}, "model": {"path": "better"}}
    editor.until_event("settings", settings={"lspHarness": settings})


def test_a_model_that_is_not_here_is_got_first(editor: Editor):
    editor.choosing("absent")

    editor.nvim.command("LspHarness model")
    editor.until("require('lsp_harness').statusline():find('Pull absent', 1, true) ~= nil")
    assert editor.events("settings") == []
    editor.release()

    editor.says("absent is downloaded: /models/absent.gguf")
    editor.until_event("settings", settings={"lspHarness": {"model": {"path": "absent"}}})


def test_getting_one_can_be_cancelled(editor: Editor):
    editor.nvim.command("LspHarness pull absent")
    editor.until("require('lsp_harness').statusline():find('40 of 100', 1, true) ~= nil")

    editor.nvim.command("LspHarness cancel")

    editor.until_event("work cancelled", title="Pull absent")
    assert "is downloaded" not in editor.messages


def test_a_model_that_is_not_here_is_offered(editor: Editor):
    editor.choosing("vectors")

    editor.nvim.command("LspHarness pull")

    editor.until("offered ~= nil")
    assert editor.lua("return offered") == [
        "absent (MIT, not downloaded)",
        "vectors (0.1 GB, MIT, not downloaded)",
    ]
    editor.until("require('lsp_harness').statusline():find('Pull vectors', 1, true) ~= nil")


def test_an_unknown_model_is_an_error(editor: Editor):
    editor.nvim.command("LspHarness pull unknown")

    editor.says("Pull unknown: there is no model unknown")


def test_the_engine_is_restarted(editor: Editor):
    editor.nvim.command("LspHarness engine restart")

    editor.says("the engine has restarted with small")


def test_statistics_are_shown(editor: Editor):
    editor.nvim.command("LspHarness statistics")

    editor.says("accepted: 5")
    assert "shown: 12" in editor.messages
    assert (
        "type checks: 40 without a type error, 2 cut before a type error, 3 replaced because of a type error, "
        "5 hidden because of a type error, 1 not checked"
    ) in editor.messages
    assert "types_" not in editor.messages
