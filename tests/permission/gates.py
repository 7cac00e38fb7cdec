"""Gates, actions and a recorder for the tests of the permission gate."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.events.event_type import SessionEvent
from lsp_harness.permission.action import Action
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.person import PermissionQuestion, PersonAnswer
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.rules import Rule, parse_rule
from lsp_harness.wire.permission_mode import PermissionMode

DENIED = ("rm *", "curl *", "wget *", "git push *", "ssh *", "dd *", "chmod *", "npm publish *")


def make_rules(allow: Sequence[str] = (), ask: Sequence[str] = (), deny: Sequence[str] = ()) -> tuple[Rule, ...]:
    return (
        *(parse_rule(text, "allow") for text in allow),
        *(parse_rule(text, "ask") for text in ask),
        *(parse_rule(text, "deny") for text in deny),
    )


def policy(root: Path, mode: PermissionMode = "ask", active: tuple[Rule, ...] = (), **more: Any) -> GatePolicy:
    return GatePolicy(mode=mode, rules=active, protected=ProtectedPaths((root,)), **more)


def make_bash_action(command: str) -> Action:
    return Action("bash", "execute", {"command": command}, command=command, call_id="c1", session_id="s1")


def decide(root: Path, command: str, mode: PermissionMode = "plan") -> str:
    found = Gate(policy(root, mode)).explain(make_bash_action(command)).decision
    return found.verdict if found else "ask"


def read(path: Path) -> Action:
    return Action("read", "read", {"path": str(path)}, paths=(path,), call_id="c1", session_id="s1")


def edit(path: Path) -> Action:
    return Action("edit", "edit", {"path": str(path)}, paths=(path,), call_id="c1", session_id="s1")


def make_fetch_action(url: str) -> Action:
    return Action("webfetch", "network", {"url": url}, call_id="c1", session_id="s1")


@dataclass
class Recorder:
    """Keeps the events of a gate."""

    events: list[SessionEvent] = field(default_factory=list[SessionEvent])

    def __call__(self, event: SessionEvent) -> None:
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


@dataclass
class ScriptedPerson:
    """A person who gives these answers, one after the other. None is a person who is not there."""

    answers: list[PersonAnswer | None]
    questions: list[PermissionQuestion] = field(default_factory=list[PermissionQuestion])

    async def ask(self, question: PermissionQuestion) -> PersonAnswer | None:
        self.questions.append(question)
        return self.answers.pop(0)


def read_command_lines(file: str) -> list[str]:
    """Return the commands of a data file."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("# ")]
    return [line.replace("\\n", "\n").replace("\\t", "\t") for line in lines]
