"""The other features of the real server: status, verdicts and edits. In all tests but one, its engine is a script."""

import os
import signal
from pathlib import Path

import pytest

from lsp_harness.config.schema import Config
from tests.editors.neovim.conftest import MEAN, REST, SERVE, Real, Start
from tests.editors.neovim.editor import Editor

MODEL = Config().model.path
REPLY = {"text": REST, "expect": "def mean"}


def wait_for_status_line(editor: Editor, begins: str) -> None:
    editor.until("vim.startswith(require('lsp_harness').statusline(), ...)", begins)


def test_the_user_cycles_through_alternatives_and_accepts_the_shown_one(start_real_editor: Real):
    more = [{"text": "total / max(len(values), 1)"}, {"text": "total"}]
    editor = start_real_editor(REPLY, *more, settings="[completion]\nalternatives = 3\nspeculate = false\n")
    editor.type("A ")
    editor.shows(REST)
    editor.hush()

    seen = [REST]
    for _ in range(3):
        editor.type("<M-]>")
        editor.until("ghost_text() ~= ...", seen[-1])
        seen += editor.ghost

    assert seen[0] == seen[3] == REST
    assert sorted(seen[1:3]) == ["total", "total / max(len(values), 1)"]
    editor.type("<M-[>")
    editor.until("ghost_text() == ...", seen[2])
    editor.type("<Tab>")
    assert editor.buffer[2] == f"    return {seen[2]}"


def test_an_explicit_request_shows_one_suggestion_and_the_key_shows_others(start_real_editor: Real):
    more = [{"text": "total / max(len(values), 1)"}, {"text": "total"}]
    editor = start_real_editor(REPLY, *more, settings="[completion]\nalternatives = 3\nspeculate = false\n")
    editor.hush()

    editor.type("A <M-s>")
    editor.shows(REST)
    editor.type("<M-]>")
    editor.until("ghost_text() ~= ...", REST)

    assert editor.ghost in (["total"], ["total / max(len(values), 1)"])


def test_a_slow_requested_suggestion_shows_progress_and_can_be_cancelled(start_real_editor: Real):
    title = "Completion by lsp-harness"
    editor = start_real_editor({"hang": True}, REPLY)
    editor.hush()

    editor.type("A <M-s>")
    editor.until("vim.lsp.status():find(..., 1, true) ~= nil", title)
    editor.until("require('lsp_harness').statusline():find(..., 1, true) ~= nil", title)
    # the state of the engine comes later than the progress, and a late one would be taken for that after the request
    wait_for_status_line(editor, f"{MODEL} busy")
    editor.type("<Cmd>LspHarness cancel<CR>")

    editor.until("require('lsp_harness').statusline():find(..., 1, true) == nil", title)
    editor.settle()
    assert f"cancelled: {title}" in editor.messages
    assert editor.messages.count("lsp-harness: ") == 1, "the answer of the cancelled request is no message"
    # until then, the same request would get the answer in flight, which never comes
    wait_for_status_line(editor, f"{MODEL} ready")
    editor.type("<M-s>")
    editor.shows(REST)


def test_why_opens_the_verdict_on_an_accepted_text(editor_with_undefined_name: Editor):
    editor = editor_with_undefined_name

    editor.nvim.command("LspHarness why")

    editor.until("vim.api.nvim_buf_line_count(0) > 1")
    assert editor.nvim.current.buffer.name.startswith("lsp-harness-verdict:/")
    text = "\n".join(editor.buffer)
    assert "F821" in text
    assert "count" in text
    assert editor.lua("return vim.bo.modifiable") is False


def test_the_statusline_shows_the_state_of_the_engine_and_the_figures(start_real_editor: Real):
    editor = start_real_editor(REPLY, settings="[completion]\nwarm = false\n")
    wait_for_status_line(editor, f"{MODEL} off")

    editor.type("A ")
    editor.shows(REST)

    editor.until("require('lsp_harness').statusline():find('ready, %d+/%d+ reused') ~= nil")


def test_the_statusline_says_that_the_workspace_is_not_trusted(start_real_editor: Real):
    editor = start_real_editor(before="_G.options = { trusted = false }")

    editor.until("require('lsp_harness').statusline():find('not trusted', 1, true) ~= nil")


def test_pausing_everywhere_outlives_the_server_and_ends_with_resume(start_real_editor: Real):
    editor = start_real_editor(REPLY)
    wait_for_status_line(editor, MODEL)

    editor.nvim.command("LspHarness pause everywhere")
    editor.until("vim.endswith(require('lsp_harness').statusline(), 'paused everywhere')")
    editor.lua("_G.gone = require('lsp_harness.server').client(0).id")
    editor.nvim.command("LspHarness restart")
    editor.until("vim.lsp.get_client_by_id(gone) == nil and require('lsp_harness.server').client(0) ~= nil")
    editor.until("vim.endswith(require('lsp_harness').statusline(), 'paused everywhere')")

    editor.nvim.command("LspHarness resume")
    editor.until("require('lsp_harness').statusline():find('paused', 1, true) == nil")
    editor.type("A ")
    editor.shows(REST)


def test_a_dismissed_suggestion_is_counted_as_dismissed(start_real_editor: Real):
    editor = start_real_editor(REPLY)
    editor.type("A ")
    editor.shows(REST)
    editor.hush()

    editor.type("<C-]><Esc>")

    # the first status comes a tenth of a second after a change, so there may be none yet
    editor.until(
        "(require('lsp_harness.status').get(vim.lsp.get_clients()[1].id) or { statistics = {} "
        "}).statistics.dismissed == 1"
    )
    editor.nvim.command("LspHarness statistics")
    editor.says("shown: 1")


def test_another_model_of_the_catalogue_is_sent_as_a_setting(start_real_editor: Real):
    editor = start_real_editor()
    wait_for_status_line(editor, MODEL)
    editor.choosing("none of these")
    editor.nvim.command("LspHarness model")
    editor.until("offered ~= nil")
    (other, *_) = [each.split()[0] for each in editor.lua("return offered") if MODEL not in each]

    editor.lua("require('lsp_harness.models').use(...)", other)

    # after a change, the server requests the settings, so it has them a moment later
    define_asked(editor)
    editor.until("asked('model') == ...", other)


@pytest.mark.parametrize("how", ["killed", "restarted"])
def test_a_killed_engine_is_replaced_for_the_next_request(
    home: Path, start: Start, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, how: str
):
    """llama.cpp runs with a model of random weights."""
    monkeypatch.setenv("LSP_HARNESS_MODEL__PATH", str(tiny_model))
    editor = start(SERVE)
    editor.open("mean.py", MEAN)
    wait_for_status_line(editor, "tiny.gguf ready")
    first = read_engine_pid(editor)

    if how == "killed":
        os.kill(first, signal.SIGKILL)
        # another engine answers, whatever its answer is
        editor.lua("vim.api.nvim_win_set_cursor(0, { 3, 0 })")
        editor.type("A <M-s>")
    else:
        editor.nvim.command("LspHarness engine restart")
        editor.says("the engine has restarted with tiny")

    editor.until("engine() ~= nil and engine() ~= ...", first)
    wait_for_status_line(editor, "tiny.gguf")
    assert editor.buffer[0] == "def mean(values):"


def define_asked(editor: Editor) -> None:
    """Define a Lua function `asked` that returns a value of the status of the server."""
    editor.lua("""
        function _G.asked(fact)
          local client = require('lsp_harness.server').client(0)
          local command = { command = 'lspHarness.status' }
          local answer = client:request_sync('workspace/executeCommand', command, 5000, 0)
          return answer and answer.result and answer.result[fact]
        end
    """)


def read_engine_pid(editor: Editor) -> int:
    """Return the id of the engine process, as the server reports it."""
    define_asked(editor)
    editor.lua("""
        function _G.engine()
          local engine = asked('engine')
          return type(engine) == 'table' and engine.pid or nil
        end
    """)
    return editor.lua("return engine()")
