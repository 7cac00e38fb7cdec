"""What is wrong with files and folders reaches the log view of the editor, from whichever thread it is said."""

import asyncio
import os
from pathlib import Path

from lsp_harness.disk import file_warnings
from lsp_harness.server.log_forwarding import forwarded
from tests.server.conftest import Spawn


async def test_what_was_said_before_there_was_a_client_is_told_and_what_a_thread_says() -> None:
    file_warnings.forget_warnings()
    told: list[str] = []
    heard = asyncio.Event()

    def tell(message: str) -> None:
        told.append(message)
        if len(told) == 2:
            heard.set()

    with forwarded() as notices:
        file_warnings.warn_once("early")
        await asyncio.sleep(0)
        notices.to(tell)
        await asyncio.to_thread(file_warnings.warn_once, "late")
        file_warnings.warn_once("late")
        await heard.wait()
    file_warnings.warn_once("after the end")
    assert told == ["early", "late"]


async def test_the_editor_is_told_and_the_settings_file_has_a_diagnostic(spawn: Spawn, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    os.mkfifo(root / "lsp-harness.toml")
    editor = await spawn("vscode", rootUri=root.as_uri())
    params = await editor.said("textDocument/publishDiagnostics")
    assert params["uri"].endswith("lsp-harness.toml")
    assert "is a named pipe, not a regular file" in params["diagnostics"][0]["message"]
