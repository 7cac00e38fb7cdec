"""A language server with fixed answers, which reports everything that it receives.

Neovim runs it as its server. It sends each event back as a `fake/log` notification, so a test waits for an event and
need not sleep. The line left of the cursor decides the answer: a line of `ANSWERS` or `REPLACING` gets its own answer,
and a line that starts with `slow` waits for `fake/release`. An explicit request where a suggestion is displayed also
gets `MORE`. With the argument `old`, it is an old server that has only two commands. With `slow`, the list of commands
waits for `fake/release`; with `forgetful`, the first request for it fails.

It uses plain JSON, because the import of pygls and the LSP types takes a second, and every test starts a server.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from fake_work import AGENT_VERBS, CANCELLED, VERDICT, FakeWork

ANSWERS: dict[str, str] = {
    "def add(a, b):": "\n    return a + b",
    "x = ": "compute(total, 2)",
    "größe = 'ñ😀' + ": "'ß😀'  # ü",
    "\tif a:": "\n\t\treturn\tb",
}
"""The text that is inserted after the line."""

MORE: dict[str, list[str]] = {"x = ": ["compute(0)", "constant"]}
"""The other suggestions."""

REPLACING: dict[str, tuple[int, int, str]] = {
    "print(": (6, 7, "value):\n    pass"),
    "val": (0, 3, "value"),
    "grü😀 = wer": (7, 10, "wert"),
    "other": (0, 5, "another"),
}
"""Range, in characters of the line, and its new text."""

# of each encoding: the codec, and the size of a code unit in bytes
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
OLD = ["accepted", "status"]
NEW = [name.removeprefix("on_") for name in dir(FakeWork) if name.startswith("on_")]
NEW += [f"runtime.{verb}" for verb in AGENT_VERBS] + ["agent.run"]


class Server:
    """Handles one message at a time, in order. It waits only for the next message."""

    def __init__(self, kind: str) -> None:
        self.old = kind == "old"
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.encoding = "utf-8"
        self.held: dict[int, tuple[str, Any]] = {}
        self.displayed: Any = None
        self.work = FakeWork(send, self.texts, self.versions)
        self.work.delays_commands = kind == "slow"
        self.work.forgets_commands = kind == "forgetful"

    # -- requests: the result is the answer
    def initialize(self, params: Any) -> Any:
        able = params["capabilities"]
        self.encoding = able["general"]["positionEncodings"][0]
        tell("hello", pid=os.getpid(), options=params.get("initializationOptions"), experimental=able["experimental"])
        more = {
            "codeActionProvider": {"codeActionKinds": ["quickfix"], "resolveProvider": True},
            "workspace": {"textDocumentContent": {"schemes": ["lsp-harness-verdict"]}},
            **(
                {"definitionProvider": True, "referencesProvider": True}
                if able["experimental"]["lspHarness"].get("fallback")
                else {}
            ),
        }
        names = OLD if self.old else NEW
        return {
            "capabilities": {
                "positionEncoding": self.encoding,
                "textDocumentSync": {"openClose": True, "change": 1},
                "inlineCompletionProvider": {},
                "executeCommandProvider": {"commands": [f"lspHarness.{name}" for name in names]},
                **({} if self.old else more),
            }
        }

    def complete(self, params: Any) -> tuple[str, Any]:
        is_displayed = self.displayed == (params["textDocument"], params["position"], self.texts)
        self.displayed = params["textDocument"], params["position"], self.texts.copy()
        wants_more = params["context"] == {"triggerKind": 1} and is_displayed
        uri, line, character = (
            params["textDocument"]["uri"],
            params["position"]["line"],
            params["position"]["character"],
        )
        whole = self.texts[uri].split("\n")[line]
        codec, width = UNITS[self.encoding]
        left = whole.encode(codec)[: character * width].decode(codec)
        item: dict[str, Any] = {
            "command": {"title": "Accepted", "command": "lspHarness.accepted", "arguments": [uri, f"of {left}"]}
        }
        if left in REPLACING:
            start, end, item["insertText"] = REPLACING[left]
            item["range"] = {
                side: {"line": line, "character": len(whole[:at].encode(codec)) // width}
                for side, at in (("start", start), ("end", end))
            }
        else:
            item["insertText"] = "late" if left.startswith("slow") else ANSWERS.get(left)
        items = [item] if item["insertText"] else []
        for text in MORE.get(left, []) if wants_more else []:
            command = {**item["command"], "arguments": [uri, f"{text} of {left}"]}
            items.append({"insertText": text, "command": command})
        return left, {"items": items}

    # -- routing
    def request(self, id: int, method: str, params: Any) -> None:
        match method:
            case "initialize":
                answer(id, self.initialize(params))
            case "textDocument/inlineCompletion":
                left, result = self.complete(params)
                tell("asked", left=left, kind=params["context"]["triggerKind"])
                if left.startswith("slow"):
                    self.held[id] = left, result
                else:
                    answer(id, result)
            case "workspace/executeCommand":
                if params["command"] == "lspHarness.dismissed":
                    self.displayed = None
                self.work.execute(id, params["command"], params.get("arguments", []), params.get("workDoneToken", ""))
            case "textDocument/codeAction":
                answer(id, self.work.actions(params))
            case "codeAction/resolve":
                self.work.resolve(id, params)
            case "workspace/textDocumentContent":
                assert params["uri"] == VERDICT
                answer(id, {"text": "# Verdict\n\nIt is **wrong**."})
            case "shutdown":
                answer(id, None)
            case _:
                raise ValueError(method)

    def notification(self, method: str, params: Any) -> None:
        match method:
            case "textDocument/didOpen":
                self.changed(params["textDocument"], params["textDocument"]["text"])
            case "textDocument/didChange":
                self.changed(params["textDocument"], params["contentChanges"][-1]["text"])
            case "workspace/didChangeConfiguration":
                tell("settings", settings=params["settings"])
            case "window/workDoneProgress/cancel":
                self.work.cancel(params["token"])
            case "fake/status":
                send({"method": "lspHarness/status", "params": params})
            case "lspHarness/didMoveCursor":
                tell("rests", line=params["position"]["line"], character=params["position"]["character"])
            case "$/cancelRequest":
                if held := self.held.pop(params["id"], None):
                    tell("cancelled", left=held[0])
                    self.work.fail(params["id"], CANCELLED)
            case "fake/release":
                for id, (_left, result) in self.held.items():
                    answer(id, result)
                self.held.clear()
                self.work.release()
            case "exit":
                sys.exit()

    def changed(self, document: Any, text: str) -> None:
        self.texts[document["uri"]], self.versions[document["uri"]] = text, document["version"]
        if not self.old:
            self.work.diagnose(document["uri"])


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def answer(id: int, result: Any) -> None:
    send({"id": id, "result": result})


def tell(event: str, **facts: Any) -> None:
    send({"method": "fake/log", "params": {"event": event, **facts}})


def read_messages() -> Iterator[dict[str, Any]]:
    while header := sys.stdin.buffer.readline():
        while sys.stdin.buffer.readline().strip():
            pass
        yield json.loads(sys.stdin.buffer.read(int(header.partition(b":")[2])))


if __name__ == "__main__":
    server = Server("".join(sys.argv[1:]))
    for message in read_messages():
        if "method" not in message:
            server.work.answered(message["id"], message.get("result"))
        elif "id" in message:
            server.request(message["id"], message["method"], message.get("params"))
        else:
            server.notification(message["method"], message.get("params"))
