"""Conversations with `tsserver`, the server of TypeScript up to version 6, which has a protocol of its own.

A request is a line of JSON, and an answer is JSON behind a `Content-Length` header. Lines and columns begin at 1.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.text.document import Document
from lsp_harness.text.edit import common_prefix_and_suffix
from lsp_harness.text.position import Position, decode
from lsp_harness.text.uri import local_path
from lsp_harness.verify.finding import Finding, Severity
from lsp_harness.verify.types.conversation import CheckerConversation
from lsp_harness.verify.types.message_child import Json, MessageChild, start_process
from lsp_harness.workspace.folder_stamps import ChangedFile

START_LIMIT_S = 20.0
"""How long tsserver may take for its first answer."""
SEVERITIES: Mapping[str, Severity] = {"error": "error", "warning": "warning"}
"""The names of severities. All others are hints."""
SUGGESTED_SUFFIXES = (".js", ".jsx", ".mjs", ".cjs")
"""Names of files in which misspelt names are only suggestions, unless the project checks them."""
MADE_UP_PROJECT = "/inferredProject"
"""A part of the name of a project that tsserver makes up for files of no project."""
LOOSE_FILE_OPTIONS: Json = {
    "allowJs": True,
    "allowSyntheticDefaultImports": True,
    "jsx": "preserve",
    "module": "esnext",
    "moduleResolution": "node",
    "target": "es2022",
}
"""The compiler options for files of no project. The defaults are those of 2009."""


class TsserverChild(MessageChild):
    """A connection to one tsserver."""

    def tell(self, command: str, arguments: Json) -> None:
        """Send a request to tsserver without waiting for its answer."""
        self._last_number += 1
        self._send_request(self._last_number, command, arguments)

    def _send_request(self, number: int, name: str, arguments: Any) -> None:
        message = {"seq": number, "type": "request", "command": name, "arguments": arguments}
        self._write(json.dumps(message).encode() + b"\n")

    def _handle(self, message: Json) -> None:
        if message["type"] != "response":
            return
        if message["success"]:
            self.resolve(message["request_seq"], message.get("body"))
        else:
            reason = str(message.get("message")).split("\n", 1)[0]
            self._refuse(message["request_seq"], f"it answered: {reason}")


class TsserverConversation(CheckerConversation):
    """The documents of a tsserver, and its findings."""

    def __init__(self, child: TsserverChild) -> None:
        super().__init__(child)
        self._child = child

    @classmethod
    async def start(cls, argv: Sequence[str], root: Path, settings: Callable[[], Json]) -> CheckerConversation:
        """Start a tsserver for a workspace folder."""
        child = TsserverChild(await start_process(argv, root))
        try:
            await child.request("configure", {"hostInfo": "lsp-harness", **settings()}, START_LIMIT_S)
            child.tell("compilerOptionsForInferredProjects", {"options": LOOSE_FILE_OPTIONS})
        except BaseException:
            await child.close()
            raise
        return cls(child)

    async def find_findings(self, document: Document, limit_s: float) -> tuple[Finding, ...]:
        """Return the errors of a text, and in JavaScript also what is only a suggestion there."""
        file = _file_name(document.uri)
        commands = ["semanticDiagnosticsSync"]
        if file.endswith(SUGGESTED_SUFFIXES):
            commands.append("suggestionDiagnosticsSync")
        answers = [await self._child.request(command, {"file": file}, limit_s) for command in commands]
        return tuple(_read_finding(item, document) for items in answers for item in _list_located(items))

    async def leaves_out(self, document: Document, limit_s: float) -> bool:
        """Return whether tsserver made a project up for a text, because it belongs to none with a configuration."""
        arguments = {"file": _file_name(document.uri), "needFileNameList": False}
        answer = cast("Json", await self._child.request("projectInfo", arguments, limit_s) or {})
        return MADE_UP_PROJECT in str(answer.get("configFileName", ""))

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        """Let tsserver look at the folder again if files are new or gone. It watches the others by itself."""
        if any(change.kind != "changed" for change in changes):
            self._child.tell("reloadProjects", {})

    def _open(self, document: Document) -> None:
        file = {"file": _file_name(document.uri), "fileContent": document.text}
        self._child.tell("updateOpen", {"openFiles": [file]})

    def _change(self, before: Document, document: Document, version: int) -> None:
        # whole lines, because a byte of a character has no column
        prefix, suffix = common_prefix_and_suffix(before.data, document.data)
        start = before.line_starts[before.line_of(prefix)]
        last = before.line_of(len(before.data) - suffix)
        end = before.line_starts[last + 1] if last + 1 < len(before.line_starts) else len(before.data)
        new = document.data[start : end + len(document.data) - len(before.data)]
        change = {"newText": decode(new), "start": _place(before, start), "end": _place(before, end)}
        files = [{"fileName": _file_name(document.uri), "textChanges": [change]}]
        self._child.tell("updateOpen", {"changedFiles": files})

    def _close_text(self, uri: str) -> None:
        self._child.tell("updateOpen", {"closedFiles": [_file_name(uri)]})


def _file_name(uri: str) -> str:
    return str(local_path(uri))


def _place(document: Document, offset: int) -> Json:
    position = document.position(offset, "utf-16")
    return {"line": position.line + 1, "offset": position.character + 1}


def _list_located(items: Iterable[Json]) -> Iterable[Json]:
    # an error of the options of a project has no place
    return (item for item in items if "start" in item)


def _read_finding(item: Json, document: Document) -> Finding:
    start, end = (
        document.offset(Position(item[side]["line"] - 1, item[side]["offset"] - 1), "utf-16")
        for side in ("start", "end")
    )
    message = str(item.get("text", "")).split("\n", 1)[0]
    severity = SEVERITIES.get(item.get("category", ""), "hint")
    return Finding(start, max(start, end), message, "", str(item.get("code") or ""), severity)
