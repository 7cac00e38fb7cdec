"""A short conversation with `lsp-harness serve`, over pipes to a fork of this process: a completion, a status,
SIGTERM."""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

COMPLETION = {"position": {"line": 1, "character": 11}, "context": {"triggerKind": 2}}


def talk(project: Path) -> None:
    """Ask a server as an editor does, in this process's folder and environment. Prints what it answers; SystemExit with
    how it ended."""
    to_server, from_editor = os.pipe()
    to_editor, from_server = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(to_server, 0)
        os.dup2(from_server, 1)
        for descriptor in (to_server, from_editor, to_editor, from_server):
            os.close(descriptor)
        from lsp_harness.cli.main import main

        try:
            main(["serve"])
        except SystemExit as end:
            os._exit(int(end.code or 0))
    os.close(to_server)
    os.close(from_server)
    with os.fdopen(from_editor, "wb", 0) as writer, os.fdopen(to_editor, "rb") as reader:
        editor = _Editor(writer, reader)
        root = project.as_uri()
        editor.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "project"}],
                "capabilities": {"textDocument": {"inlineCompletion": {}}},
            },
        )
        editor.send("initialized", {})
        file = project / "a.py"
        document = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": file.read_text()}
        editor.send("textDocument/didOpen", {"textDocument": document})
        found = editor.ask("textDocument/inlineCompletion", {"textDocument": {"uri": file.as_uri()}, **COMPLETION})
        items: Any = found.get("result") or []
        texts = [item["insertText"] for item in (items["items"] if isinstance(items, dict) else items)]
        print("completion", texts or found.get("error", {}).get("message"))
        print("status", "result" in editor.ask("workspace/executeCommand", {"command": "lspHarness.status"}))
        for message in editor.shown:
            sys.stderr.write(message + "\n")
        os.kill(pid, signal.SIGTERM)
        # what it says while it leaves must find a reader
        threading.Thread(target=editor.drain, daemon=True).start()
        _, status = os.waitpid(pid, 0)
    raise SystemExit(os.waitstatus_to_exitcode(status))


class _Editor:
    """Frames of the Language Server Protocol. `shown` is what the log view of the editor would show."""

    def __init__(self, writer: Any, reader: Any) -> None:
        self._writer, self._reader = writer, reader
        self._last = 0
        self.shown: list[str] = []

    def send(self, method: str, params: Any, **more: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        self._last += 1
        self.send(method, params, id=self._last)
        while True:
            message = self._next()
            if message.get("id") == self._last and "method" not in message:
                return message
            if message.get("method") == "window/logMessage":
                self.shown.append(message["params"]["message"])

    def drain(self) -> None:
        while self._reader.read1(65536):
            pass

    def _next(self) -> dict[str, Any]:
        size = 0
        while line := self._reader.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        if not size:
            raise EOFError("the server is gone")
        return json.loads(self._reader.read(size))
