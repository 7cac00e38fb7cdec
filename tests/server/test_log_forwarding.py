"""Warnings about files and folders reach the log view of the editor, from any thread."""

import asyncio
import os
from pathlib import Path

from lsp_harness.disk import file_warnings
from lsp_harness.server.server_log import forward_warnings
from tests.server.conftest import Spawn


async def test_early_records_and_records_of_threads_are_forwarded() -> None:
    file_warnings.forget_warnings()
    messages: list[str] = []
    both_arrived = asyncio.Event()

    def receive(message: str) -> None:
        messages.append(message)
        if len(messages) == 2:
            both_arrived.set()

    with forward_warnings() as forwarder:
        file_warnings.warn_once("early")
        await asyncio.sleep(0)
        forwarder.send_to(receive)
        await asyncio.to_thread(file_warnings.warn_once, "late")
        file_warnings.warn_once("late")
        await both_arrived.wait()
    file_warnings.warn_once("after the end")
    assert messages == ["early", "late"]


async def test_a_settings_file_that_is_a_pipe_is_reported_by_a_message_and_a_diagnostic(
    spawn: Spawn, tmp_path: Path
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    os.mkfifo(root / "lsp-harness.toml")
    editor = await spawn("vscode", rootUri=root.as_uri())
    params = await editor.find_params("textDocument/publishDiagnostics")
    assert params["uri"].endswith("lsp-harness.toml")
    assert "is a named pipe, not a regular file" in params["diagnostics"][0]["message"]
