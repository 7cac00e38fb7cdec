"""Hostile commands are never allowed, harmless ones are, and the parser does not hide commands from the rules."""

from pathlib import Path

import pytest

from lsp_harness.session.permission.permission_gate import PermissionGate as Gate
from tests.session.permission.gates import DENIED, bash, command_lines, policy, rules

HOSTILE, HARMLESS = command_lines("hostile_commands.txt"), command_lines("harmless_commands.txt")
ALLOWED = ("Bash(*)",)
USABLE = ("pytest *", "ruff *", "npm *", "git commit *", "git add *", "git checkout *", "echo *")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for name in ("README.md", "src/a.py", "src/b.py"):
        (tmp_path / name).write_text("x\n")
    return tmp_path


def test_the_lists_are_as_long_as_they_should_be() -> None:
    assert len(set(HOSTILE)) >= 200
    assert len(set(HARMLESS)) >= 60


@pytest.mark.parametrize("command", HOSTILE)
def test_a_hostile_command_is_never_allowed(root: Path, command: str) -> None:
    denied = [f"Bash({pattern})" for pattern in DENIED]
    for mode in ("bypassPermissions", "trust", "auto"):
        gate = Gate(policy(root, mode, rules(ALLOWED, (), denied)))
        decision = gate.explain(bash(command)).decision
        assert decision is None or not decision.is_allowed


@pytest.mark.parametrize("command", HARMLESS)
def test_a_harmless_command_is_allowed(root: Path, command: str) -> None:
    denied = [f"Bash({pattern})" for pattern in DENIED]
    gate = Gate(policy(root, "ask", rules([f"Bash({pattern})" for pattern in USABLE], (), denied)))
    found = gate.explain(bash(command))
    assert found.decision is not None, found.question
    assert found.decision.is_allowed, found.decision.reason
