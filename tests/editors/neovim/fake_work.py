"""The work of the fake server that needs more than one answer: edits, progress and fixes. See `fake_server`."""

from collections.abc import Callable
from typing import Any

from fake_agents import FakeAgents

VERDICT = "lsp-harness-verdict:/S1/T1.md"
LABEL = "lsp-harness: parse ✓, kept ✓, lint ✓, gone ✓"
MODELS = [
    {"name": "small", "bytes": 400_000_000, "licence": "MIT", "present": True, "current": True, "kind": "completion"},
    {
        "name": "better",
        "bytes": 1_200_000_000,
        "licence": "MIT",
        "present": True,
        "current": False,
        "kind": "completion",
    },
    {"name": "absent", "bytes": None, "licence": "MIT", "present": False, "current": False, "kind": "completion"},
    {"name": "vectors", "bytes": 90_000_000, "licence": "MIT", "present": False, "current": False, "kind": "embedding"},
]
COMMANDS = [
    {"name": f"lspHarness.{name}", "resultTitle": title, "handler": handler, "sendsSelection": sends_selection}
    for name, title, handler, sends_selection in [
        ("context", "Context", "text", True),
        ("docstring", "Docstring", "edit", True),
        ("explain", "Explanation", "text", True),
        ("greet", "Greeting", "text", False),
        ("statistics", "Statistics", "custom", False),
        ("tests", "Tests", "edit", True),
    ]
]
"""The commands for users. The plugin has no code for `greet`, and none for the handler `custom`."""
TYPES = {"types_passed": 40, "types_cut": 2, "types_replaced": 3, "types_hidden": 5, "types_skipped": 1}
CANCELLED = {"code": -32800, "message": "cancelled"}

RUNTIME = "lspHarness.runtime."
AGENT_VERBS = (
    *("answer", "apply", "attach", "changes", "detach", "discard", "explain", "interrupt", "list"),
    *("logs", "press", "read", "resize", "send", "spawn", "stop", "types", "undo"),
)
"""The commands about agents."""

Send = Callable[[dict[str, Any]], None]


def find_text(text: str, range: dict[str, Any]) -> str:
    """Return the text of a range, which is in one line of ASCII."""
    line = text.split("\n")[range["start"]["line"]]
    return line[range["start"]["character"] : range["end"]["character"]]


class FakeWork:
    """The work requests of one server. `texts` are by URI.

    A request in `held` waits until `release`, or until the user cancels it.
    """

    def __init__(self, send: Send, texts: dict[str, str], versions: dict[str, int]) -> None:
        self.send, self.texts, self.versions = send, texts, versions
        self.paused: str | bool = False
        self.delays_commands = self.forgets_commands = False
        self.held: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {}
        self._asked: dict[str, Callable[[Any], None]] = {}
        self._agents = FakeAgents(send)

    # -- messages
    def tell(self, event: str, **facts: Any) -> None:
        self.send({"method": "fake/log", "params": {"event": event, **facts}})

    def answer(self, id: int, result: Any) -> None:
        self.send({"id": id, "result": result})

    def fail(self, id: int, error: dict[str, Any]) -> None:
        self.send({"id": id, "error": error})

    def ask(self, method: str, params: Any, then: Callable[[Any], None]) -> None:
        id = f"fake-{len(self._asked)}"
        self._asked[id] = then
        self.send({"id": id, "method": method, "params": params})

    def answered(self, id: str, result: Any) -> None:
        self._asked[id](result)

    def progress(self, token: str, kind: str, **value: Any) -> None:
        self.send({"method": "$/progress", "params": {"token": token, "value": {"kind": kind, **value}}})

    def hold(self, id: int, token: str, title: str, then: Callable[[], None]) -> None:
        """Show progress until the work is released, which calls `then`, or cancelled."""

        def end() -> None:
            self.progress(token, "end")
            then()

        def cancel() -> None:
            self.progress(token, "end")
            self.tell("work cancelled", title=title)
            self.fail(id, CANCELLED)

        self.progress(token, "begin", title=title, message="step 1", percentage=40, cancellable=True)
        self.held[token] = end, cancel

    def release(self) -> None:
        held, self.held = self.held, {}
        for end, _cancel in held.values():
            end()

    def cancel(self, token: str) -> None:
        if held := self.held.pop(token, None):
            held[1]()

    # -- edits
    def edit(self, uri: str, changes: list[dict[str, Any]], *, confirm: bool = True) -> dict[str, Any]:
        """Return a versioned edit. An edit that needs confirmation has an annotation whose label is the verdict."""
        if confirm:
            changes = [{**change, "annotationId": "model"} for change in changes]
        document = {"uri": uri, "version": self.versions.get(uri)}
        return {
            "documentChanges": [{"textDocument": document, "edits": changes}],
            **({"changeAnnotations": {"model": {"label": LABEL, "needsConfirmation": True}}} if confirm else {}),
        }

    def apply(self, id: int, edit: dict[str, Any], uri: str) -> None:
        def then(result: Any) -> None:
            self.tell("answered", uri=uri, **result)
            outcome = {"applied": result["applied"], "failureReason": result.get("failureReason")}
            self.answer(id, {**outcome, "summary": "done as told", "verdict": VERDICT})

        self.ask("workspace/applyEdit", {"label": "fake edit", "edit": edit}, then)

    # -- commands, by name
    def execute(self, id: int, name: str, arguments: list[Any], token: str) -> None:
        verb = name.removeprefix("lspHarness.")
        if verb == "agent.run":
            self._agents.run_prompt(id, arguments[0]["prompt"])
        elif name.startswith(RUNTIME):
            self._agents.execute(id, name.removeprefix(RUNTIME), *arguments or ({},))
        else:
            getattr(self, f"on_{verb}")(id, token, *arguments)

    def on_accepted(self, id: int, token: str, *names: str) -> None:
        self.tell("accepted", arguments=list(names))
        self.answer(id, None)

    def on_applied(self, id: int, token: str, *names: str) -> None:
        self.tell("applied", arguments=list(names))
        self.answer(id, None)

    def on_commands(self, id: int, token: str) -> None:
        self.tell("commands listed")
        if self.delays_commands:
            self.held["commands"] = lambda: self.answer(id, {"commands": COMMANDS}), lambda: None
        elif self.forgets_commands:
            self.forgets_commands = False
            self.fail(id, {"code": -32603, "message": "the list is lost"})
        else:
            self.answer(id, {"commands": COMMANDS})

    def on_dismissed(self, id: int, token: str, *names: str) -> None:
        self.tell("dismissed", arguments=list(names))
        self.answer(id, None)

    def on_status(self, id: int, token: str) -> None:
        checkers = [
            {"checker": "ty", "folder": "/work/a", "state": "ready", "reason": ""},
            {
                "checker": "ty",
                "folder": "/work/b",
                "state": "missing",
                "reason": "ty is not installed (pip install ty)",
            },
        ]
        last = {"generated": 4, "types": "hidden", "types_ms": 11.6, "types_reason": "no member joinn"}
        facts = {"types": checkers, "last": last, "statistics": {"shown": 3, "types_passed": 2, "types_hidden": 1}}
        self.answer(id, {"version": "fake", "documents": len(self.texts), **facts})

    def on_pause(self, id: int, token: str, scope: str, on: bool) -> None:
        if on:
            self.paused = scope
        elif self.paused == scope:
            self.paused = False
        self.tell("paused", scope=scope, on=on)
        self.answer(id, {"paused": self.paused})

    def on_models(self, id: int, token: str) -> None:
        self.answer(id, MODELS)

    def on_pullModel(self, id: int, token: str, name: str) -> None:
        if name == "unknown":
            self.fail(id, {"code": -32803, "message": "there is no model unknown"})
        else:
            result = {"name": name, "path": f"/models/{name}.gguf"}
            self.hold(id, token, f"Pull {name}", lambda: self.answer(id, result))

    def on_restartEngine(self, id: int, token: str) -> None:
        self.answer(id, {"model": "small", "pid": 17})

    def on_statistics(self, id: int, token: str) -> None:
        self.answer(id, {"shown": 12, "accepted": 5, "since": "2026-01-01", **TYPES})

    def on_instruct(self, id: int, token: str, wish: dict[str, Any]) -> None:
        self.tell("instructed", **wish)
        uri, span = wish["uri"], wish["range"]
        edit = self.edit(uri, [{"range": span, "newText": find_text(self.texts[uri], span).upper()}])
        if wish["instruction"].startswith("slow"):
            self.hold(id, token, "Edit", lambda: self.apply(id, edit, uri))
        else:
            self.apply(id, edit, uri)

    def on_docstring(self, id: int, token: str, place: dict[str, Any]) -> None:
        below = {"line": place["range"]["start"]["line"] + 1, "character": 0}
        change = {"range": {"start": below, "end": below}, "newText": '    """Says what."""\n'}
        self.apply(id, self.edit(place["uri"], [change], confirm=False), place["uri"])

    def on_tests(self, id: int, token: str, place: dict[str, Any]) -> None:
        new = place["uri"].rpartition("/")[0] + "/test_new.py"
        start = {"line": 0, "character": 0}
        edit = self.edit(new, [{"range": {"start": start, "end": start}, "newText": "def test_it():\n    pass"}])
        edit["documentChanges"].insert(0, {"kind": "create", "uri": new})
        self.apply(id, edit, new)

    def on_explain(self, id: int, token: str, place: dict[str, Any]) -> None:
        self.tell("explained", **place)
        self.answer(id, {"text": "# What it does\n\nIt **adds**."})

    def on_context(self, id: int, token: str, place: dict[str, Any]) -> None:
        self.tell("seen", **place)
        self.answer(id, {"text": "# Completion\n\n| fragment |"})

    def on_greet(self, id: int, token: str) -> None:
        self.answer(id, {"text": "# Hello\n\nfrom a command of one file"})

    def on_locate(self, id: int, token: str, wish: dict[str, Any]) -> None:
        self.tell("located", **wish)
        if wish["task"] == "zebra":
            self.fail(id, {"code": -32803, "message": "nothing in it has to do with that"})
            return
        places = [(1, 1, "add", "def add(a, b)", ["words 1"]), (0, 1, "", "import os", ["words 2", "meaning 1"])]
        # the document, or a document in the folder
        uri = next(iter(self.texts))
        candidates = [
            {
                "uri": uri,
                "path": uri.rpartition("/")[2],
                "range": {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 3}},
                "symbol": symbol,
                "kind": "function",
                "signature": signature,
                "reasons": reasons,
            }
            for first, last, symbol, signature, reasons in places
        ]
        self.answer(id, {"chosen": 1 if wish["task"] == "second" else 0, "by": "index", "candidates": candidates})

    def on_why(self, id: int, token: str, uri: str) -> None:
        self.answer(id, {"text": f"# Verdict\n\nof {uri} by the command"})

    # -- code actions
    def actions(self, params: Any) -> list[dict[str, Any]]:
        self.tell("actions", diagnostics=params["context"]["diagnostics"])
        uri, found = params["textDocument"]["uri"], []
        for each in params["context"]["diagnostics"]:
            data = {"uri": uri, "range": each["range"], "message": each["message"]}
            title = f"Fix with fake: {each['message']}"
            found.append({"title": title, "kind": "quickfix", "data": data})
            if each.get("source") == "lsp-harness":
                command = {"title": "Why", "command": "lspHarness.why", "arguments": [VERDICT]}
                found.append({"title": "Why fake says this", "kind": "quickfix", "command": command})
        return found

    def resolve(self, id: int, action: dict[str, Any]) -> None:
        data = action.get("data")
        if not data:
            # Neovim resolves every action without an edit, and executes the command if that fails
            self.fail(id, {"code": -32602, "message": "this code action names no document"})
            return
        if data["message"] == "hopeless":
            self.fail(id, {"code": -32803, "message": "no candidate passed"})
            return
        action["edit"] = self.edit(data["uri"], [{"range": data["range"], "newText": "fixed"}])
        action["command"] = {"title": "Applied", "command": "lspHarness.applied", "arguments": [data["uri"], "p1"]}
        if not data["message"].startswith("slow"):
            self.answer(id, action)
            return
        token = f"bar-{id}"
        self.ask(
            "window/workDoneProgress/create",
            {"token": token},
            lambda _: self.hold(id, token, action["title"], lambda: self.answer(id, action)),
        )

    def diagnose(self, uri: str) -> None:
        """Publish a diagnostic for each line that contains `wrong`."""
        found: list[dict[str, Any]] = []
        for row, line in enumerate(self.texts[uri].split("\n")):
            if (col := line.find("wrong")) >= 0:
                start, end = {"line": row, "character": col}, {"line": row, "character": col + 5}
                about = {"code": "wrong", "codeDescription": {"href": VERDICT}, "source": "lsp-harness"}
                found.append({"range": {"start": start, "end": end}, "message": "it is wrong", "severity": 2, **about})
        self.send({"method": "textDocument/publishDiagnostics", "params": {"uri": uri, "diagnostics": found}})
