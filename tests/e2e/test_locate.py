"""An instruction that names no place, from the request of the editor to the edit. The engine is a script."""

import json
from pathlib import Path

import pytest

from tests.support.lsp import Editor

SHOP = "def total(prices):\n    return sum(prices)\n\n\ndef tax_of(price):\n    return price // 5\n"
MORE = "def tax_of(price):\n    return -(-price // 5)\n"


async def test_an_instruction_without_a_place_edits_the_right_code(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder, script = tmp_path / "ws", tmp_path / "script.json"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP)
    script.write_text(json.dumps([{"text": f"```python\n{MORE}```", "expect": "def tax_of"}]))
    monkeypatch.setenv("LSP_HARNESS_ENGINE__SCRIPT", str(script))
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "1")
    editor = await Editor.spawn("-m", "lsp_harness", "serve")
    try:
        await editor.initialize("vscode", rootUri=folder.as_uri())
        while not await editor.request("workspace/symbol", {"query": "tax_of"}):
            assert editor.process.returncode is None

        params = {"command": "lspHarness.instruct", "arguments": [{"instruction": "let tax_of round up"}]}
        result = await editor.request("workspace/executeCommand", params)

        assert result["applied"] is True
        assert result["located"]["candidates"][result["located"]["chosen"]]["symbol"] == "tax_of"
        [change] = (await editor.find_params("workspace/applyEdit"))["edit"]["documentChanges"]
        # a file that is not open has no version
        assert change["textDocument"] == {"uri": (folder / "shop.py").as_uri(), "version": None}
        [edit] = change["edits"]
        assert edit["range"] == {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 21}}
        assert edit["newText"] == MORE.removesuffix("\n")
        await editor.leave()
        editor.check_answers()
    finally:
        await editor.kill()
