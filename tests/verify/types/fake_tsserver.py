"""A `tsserver` that finds errors by words in a text, as `fake_type_server` does. Its argument: a log.

`wrong…` is an unknown name, `hint…` a misspelt name of JavaScript, and `refuse` makes it answer with an error.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[1])
texts: dict[str, str] = {}


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"seq": 0, **message}).encode() + b"\n"
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def log(*row: Any) -> None:
    with LOG.open("a") as file:
        file.write(json.dumps(row) + "\n")


def convert_to_offset(text: str, place: dict[str, int]) -> int:
    lines = text.splitlines(keepends=True)
    before, line = lines[: place["line"] - 1], [*lines, ""][place["line"] - 1]
    units = line.encode("utf-16-le")[: 2 * (place["offset"] - 1)]
    return len("".join(before)) + len(units.decode("utf-16-le"))


def convert_to_place(text: str, offset: int) -> dict[str, int]:
    before = text[:offset]
    return {
        "line": before.count("\n") + 1,
        "offset": len(before.rpartition("\n")[2].encode("utf-16-le")) // 2 + 1,
    }


def find_diagnostics(text: str, word: str, category: str) -> list[dict[str, Any]]:
    return [
        {
            "start": convert_to_place(text, match.start()),
            "end": convert_to_place(text, match.end()),
            "text": f"Name '{match.group()}' is not defined\nmore",
            "code": "unresolved-reference",
            "category": category,
        }
        for match in re.finditer(rf"\b{word}\w*", text)
    ]


def update(arguments: dict[str, Any]) -> None:
    for opened in arguments.get("openFiles", []):
        texts[opened["file"]] = opened["fileContent"]
        log("open", opened["file"][-4:], opened["fileContent"])
    for changed in arguments.get("changedFiles", []):
        text, [change] = texts[changed["fileName"]], changed["textChanges"]
        start, end = convert_to_offset(text, change["start"]), convert_to_offset(text, change["end"])
        texts[changed["fileName"]] = text[:start] + change["newText"] + text[end:]
        log("change", changed["fileName"][-4:], texts[changed["fileName"]], change["newText"])
    for closed in arguments.get("closedFiles", []):
        del texts[closed]
        log("close", closed[-4:])


send({"type": "event", "event": "typingsInstallerPid", "body": {"pid": 1}})
for line in sys.stdin:
    request = json.loads(line)
    arguments = request["arguments"]
    answer = {"type": "response", "request_seq": request["seq"], "success": True}
    match request["command"]:
        case "updateOpen":
            update(arguments)
        case "semanticDiagnosticsSync" if "refuse" in texts[arguments["file"]]:
            answer |= {"success": False, "message": "Debug Failure.\n    at main"}
        case "semanticDiagnosticsSync":
            project_error = {"text": "an option is unknown", "code": 5023, "category": "error"}
            answer["body"] = [project_error, *find_diagnostics(texts[arguments["file"]], "wrong", "error")]
        case "suggestionDiagnosticsSync":
            answer["body"] = find_diagnostics(texts[arguments["file"]], "hint", "suggestion")
        case _:
            log("request", request["command"])
    send(answer)
