"""The agents of the fake server: one that runs in a terminal and echoes, one that asks, one in a worktree."""

import base64
from collections.abc import Callable
from typing import Any

SCREEN = b"\x1b[H\x1b[2J\x1b[1mready\x1b[0m \xc3\xa9\r\n> "


def make_agent(name: str, *, type: str = "echo", terminal: bool = False, isolation: str = "none") -> dict[str, Any]:
    return {
        "id": f"01{name.upper()}",
        "name": name,
        "type": type,
        "status": "ready",
        "state": {"source": "osc", "rule": "osc/idle", "message": ""},
        "workdir": "/work",
        "transport": "pty" if terminal else "acp",
        "isolation": isolation,
        "hasTerminal": terminal,
        "questions": [],
    }


class FakeAgents:
    """The commands of the fake server about agents. A request for output waits until there is some."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._out = send
        self._agents = [make_agent("asking"), make_agent("careful", isolation="worktree")]
        self._agents[0]["questions"] = [
            {"questionId": "q1", "kind": "permission", "question": "write\x1b]0;x\x07 a.txt?", "options": []},
        ]
        self._pieces: list[dict[str, Any]] = []
        self._waiting: list[int] = []

    def execute(self, id: int, verb: str, wish: dict[str, Any]) -> None:
        if verb != "read":
            self._out({"method": "fake/log", "params": {"event": f"runtime {verb}", **wish}})
        result = getattr(self, f"_{verb}")(wish) if hasattr(self, f"_{verb}") else None
        if verb == "read":
            self._waiting.append(id)
            self._answer_readers()
        elif isinstance(result, Exception):
            self._out({"id": id, "error": {"code": -32803, "message": str(result), "data": {"code": "NOT_FOUND"}}})
        else:
            self._out({"id": id, "result": result})

    def run_prompt(self, id: int, prompt: str) -> None:
        """Report a prompt of a session, and end its turn."""
        self._out({"method": "fake/log", "params": {"event": "prompted", "prompt": prompt}})
        self._out({"id": id, "result": {"sessionId": "s1", "reason": "completed", "detail": "", "text": ""}})

    # -- commands
    def _types(self, wish: dict[str, Any]) -> Any:
        return {"types": [{"type": name, "version": "1", "isInstalled": True} for name in ("claude", "echo")]}

    def _list(self, wish: dict[str, Any]) -> Any:
        return {"agents": self._agents}

    def _spawn(self, wish: dict[str, Any]) -> Any:
        if wish["type"] == "missing":
            return ValueError("missing is not installed")
        agent = make_agent(wish["type"], type=wish["type"], terminal=bool(wish.get("terminal")))
        self._agents.append(agent)
        return agent

    def _send(self, wish: dict[str, Any]) -> Any:
        return {"sent": True, "submitted": True, "queued": False, "response": f"you said {wish['message']}\nand more"}

    def _stop(self, wish: dict[str, Any]) -> Any:
        next(agent for agent in self._agents if agent["id"] == wish["agentId"])["status"] = "stopped"
        self._add(b"bye\r\n", is_end=True)
        return {"left": []}

    def _logs(self, wish: dict[str, Any]) -> Any:
        return {"lines": ["one", "two"]}

    def _explain(self, wish: dict[str, Any]) -> Any:
        return {"state": {"status": "ready"}, "claims": [], "rules": []}

    def _changes(self, wish: dict[str, Any]) -> Any:
        files = [{"path": "a.py", "kind": "changed"}]
        text = "--- a.py\n+++ a.py\n-x = 1\n+x = 2"
        left_out = {"b.bin": "it is no text"}
        facts = {"reviewId": "r1", "passed": True, "verdict": "syntax ✓", "findings": [], "leftOut": left_out}
        return {**facts, "files": files, "text": text}

    def _apply(self, wish: dict[str, Any]) -> Any:
        return {"text": "applied a.py"}

    def _attach(self, wish: dict[str, Any]) -> Any:
        self._add(SCREEN[:-4])
        # the rest comes later, cut within a character
        self._add(SCREEN[-4:])
        return {"viewerId": "v1", "columns": wish["columns"], "rows": wish["rows"]}

    def _press(self, wish: dict[str, Any]) -> Any:
        self._add(base64.b64decode(wish["keys"]).upper())

    # -- pieces
    def _add(self, data: bytes, *, is_end: bool = False) -> None:
        reason = "it was stopped" if is_end else ""
        self._pieces.append({"data": base64.b64encode(data).decode(), "isEnd": is_end, "reason": reason})
        self._answer_readers()

    def _answer_readers(self) -> None:
        while self._pieces and self._waiting:
            self._out({"id": self._waiting.pop(0), "result": self._pieces.pop(0)})
