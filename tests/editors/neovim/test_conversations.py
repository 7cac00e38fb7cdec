"""A conversation that Neovim starts, and what the command line does with it."""

import json
import subprocess
import sys

import pytest

from tests.editors.neovim.conftest import MEAN, Real

CALL = '{"name": "edit", "arguments": {"path": "mean.py", "old": "def mean", "new": "def average"}}'


def test_a_conversation_of_neovim_is_undone_by_the_command_line(
    start_real_editor: Real, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LSP_HARNESS_PERMISSIONS__MODE", "acceptEdits")
    editor = start_real_editor({"text": f"<tool_call>\n{CALL}\n</tool_call>"}, {"text": "renamed"})
    (editor.folder / "mean.py").write_text(MEAN)

    answer = editor.lua("""
        local client = vim.lsp.get_clients({ bufnr = 0 })[1]
        local function run(name, argument)
          local command = { command = 'lspHarness.' .. name, arguments = { argument } }
          return client:request_sync('workspace/executeCommand', command, 20000, 0)
        end
        local answer = run('agent.run', { prompt = 'rename it' }).result
        run('session.close', { sessionId = answer.sessionId })
        return answer
    """)

    assert (answer["reason"], answer["text"]) == ("completed", "renamed")
    assert (editor.folder / "mean.py").read_text() == MEAN.replace("def mean", "def average")
    undo = [sys.executable, "-m", "lsp_harness", "sessions", "undo", answer["sessionId"]]
    process = subprocess.run(undo, cwd=editor.folder, capture_output=True, text=True, check=False)
    assert process.stdout == "restored mean.py\n", process.stderr
    assert (editor.folder / "mean.py").read_text() == MEAN


def test_a_prompt_shows_its_answer_and_the_next_prompt_continues(start_real_editor: Real):
    editor = start_real_editor({"text": "it takes the mean"}, {"text": "of numbers", "expect": "it takes the mean"})
    is_float = "function(w) return vim.api.nvim_win_get_config(w).relative ~= '' end"
    floats = f"vim.tbl_filter({is_float}, vim.api.nvim_list_wins())"
    text = f"table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf({floats}[1] or 0), 0, -1, false), ' ')"

    editor.nvim.command("LspHarness agent what does it do?")
    editor.until(f"#{floats} == 1 and ({text}):find('it takes the mean') ~= nil")
    editor.nvim.command("LspHarness agent of what?")

    editor.until(f"#{floats} == 1 and ({text}):find('of numbers') ~= nil")
    listed = [sys.executable, "-m", "lsp_harness", "sessions", "list", "--json"]
    process = subprocess.run(listed, cwd=editor.folder, capture_output=True, text=True, check=False)
    assert [row["turns"] for row in json.loads(process.stdout)] == [2], process.stderr
