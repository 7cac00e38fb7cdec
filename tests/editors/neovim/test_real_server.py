"""The plugin against `lsp-harness serve` itself. The engine is scripted: what is shown is plumbing, not a model."""

import json
import sys
from pathlib import Path

import pytest

from tests.editors.neovim.conftest import Start
from tests.editors.neovim.editor import Editor

SERVE = [str(Path(sys.executable).with_name("lsp-harness")), "serve"]
REST = "total / len(values)"


@pytest.fixture
def real(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """Attached to a server whose engine has one reply: asking it twice is an error, which the log would have."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": REST, "expect": "def mean"}]))
    monkeypatch.setenv("LSP_HARNESS_ENGINE__SCRIPT", str(script))
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    editor = start(SERVE)
    # keys of one burst are one request
    editor.lua("require('lsp_harness.config').set({ debounce_ms = 50 })")
    editor.open("mean.py", "def mean(values):\n    total = sum(values)\n    return\n")
    editor.lua("vim.api.nvim_win_set_cursor(0, { 3, 0 })")
    return editor


def test_ghost_text_is_shown_and_accepted(real: Editor):
    real.type("A ")
    real.shows(REST)
    real.lua("""
        -- the next question would find no reply
        require('lsp_harness.config').set({ debounce_ms = 60000 })
        _G.completed = {}
        vim.api.nvim_create_autocmd('LspRequest', { callback = function(event)
          local request = event.data.request
          if request.type == 'complete' then completed[request.method] = true end
        end })
    """)

    real.type("<Tab>")
    real.until("completed['workspace/executeCommand']")

    assert real.buffer == ["def mean(values):", "    total = sum(values)", f"    return {REST}"]
    assert real.ghost == []
    log = Path(real.lua("return vim.lsp.log.get_filename()"))
    said = log.read_text() if log.exists() else ""
    assert "lspHarness.accepted" not in said, "a refusal would be here"


def test_typing_along_and_words_need_no_second_reply(real: Editor):
    real.type("A ")
    real.shows(REST)

    real.type("to")
    assert real.ghost == [REST[2:]]
    real.type("<C-Right>")

    assert real.buffer[2] == "    return total"
    assert real.ghost == [" / len(values)"]


def test_status_and_health(real: Editor):
    real.nvim.command("LspHarness status")
    real.until("vim.fn.execute('messages'):find('positionEncoding: utf-8', 1, true) ~= nil")

    real.nvim.command("checkhealth lsp_harness")
    assert [line for line in real.buffer if "ERROR" in line or "WARNING" in line] == []
