"""A language server that finds errors by words in a text. Its arguments: a log, and how it behaves.

It answers questions about a text, or with `push` it publishes the findings of each version behind those of other
versions. `wrong…` is an unknown name, `absent…` an unknown module, and `call()` a call without its argument. `slow`
delays an answer until a test writes into the pipe `release` beside the log. `crash` ends the process, and `stuck` never
gets an answer.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

LOG, MANNER = Path(sys.argv[1]), sys.argv[2:]
RULES = {r"\bwrong\w*": "unresolved-reference", r"\babsent\w*": "import-not-found", r"\bcall\(\)?": "missing-argument"}
texts: dict[str, str] = {}


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def read() -> dict[str, Any]:
    size = 0
    while line := sys.stdin.buffer.readline().strip():
        size = int(line.partition(b":")[2])
    if not size:
        sys.exit()
    return json.loads(sys.stdin.buffer.read(size))


def log(*row: Any) -> None:
    with LOG.open("a") as file:
        file.write(json.dumps(row) + "\n")


def find_position(text: str, offset: int) -> dict[str, int]:
    before = text[:offset]
    return {"line": before.count("\n"), "character": len(before.rpartition("\n")[2].encode())}


def find_diagnostics(text: str) -> list[dict[str, Any]]:
    return [
        {
            "range": {"start": find_position(text, match.start()), "end": find_position(text, match.end())},
            "message": f"Name `{match.group().strip('()')}` is not defined\n\ninfo: more",
            "code": code,
            "severity": 1,
        }
        for pattern, code in RULES.items()
        for match in re.finditer(pattern, text)
    ]


def find_problems(text: str) -> list[dict[str, Any]] | None:
    if "crash" in text:
        sys.exit("something broke")
    if "slow" in text:
        LOG.with_name("release").read_text()
    return None if "stuck" in text else find_diagnostics(text)


def publish_problems(document: dict[str, Any]) -> None:
    if "push" not in MANNER:
        return
    items = find_problems(texts[document["uri"]])
    params = {"uri": document["uri"], "diagnostics": items}
    for version in ({}, {"version": document["version"] - 1}, {"version": document["version"]}):
        # the findings of an unknown or an earlier version are others
        other = {} if version.get("version") == document["version"] else {"diagnostics": find_diagnostics("wrong")}
        if items is not None:
            send({"method": "textDocument/publishDiagnostics", "params": params | version | other})


def answer(message: dict[str, Any]) -> None:
    if "method" not in message:
        log("answer", message["id"], message["result"])
        return
    params = message["params"]
    match message["method"]:
        case "initialize":
            log("start", params["initializationOptions"])
            if "broken" in MANNER:
                sys.exit("it is broken")
            provided = {} if "push" in MANNER else {"diagnosticProvider": {}}
            send({"id": message["id"], "result": {"capabilities": {"positionEncoding": "utf-8", **provided}}})
        case "initialized":
            items = [{"section": "ty"}]
            send({"id": "a", "method": "workspace/configuration", "params": {"items": items}})
            send({"id": 1, "method": "client/registerCapability", "params": {"registrations": []}})
            send({"id": 2, "method": "window/workDoneProgress/create", "params": {"token": "t"}})
        case "textDocument/didOpen":
            document = params["textDocument"]
            texts[document["uri"]] = document["text"]
            log("open", document["uri"][-4:], document["version"], document["text"])
            publish_problems(document)
        case "textDocument/didChange":
            document, [change] = params["textDocument"], params["contentChanges"]
            texts[document["uri"]] = change["text"]
            log("change", document["uri"][-4:], document["version"], change["text"])
            publish_problems(document)
        case "textDocument/didClose":
            log("close", params["textDocument"]["uri"][-4:])
        case "workspace/didChangeWatchedFiles":
            log("watched", [change["uri"][-4:] for change in params["changes"]])
        case "textDocument/diagnostic":
            items = find_problems(texts[params["textDocument"]["uri"]])
            if items is not None:
                send({"id": message["id"], "result": {"kind": "full", "items": items}})
        case _:
            pass


while True:
    answer(read())
