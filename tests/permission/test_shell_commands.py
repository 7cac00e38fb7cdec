"""Hostile commands are never allowed, harmless ones are, and the parser does not hide commands from the rules."""

from pathlib import Path

import pytest

from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.wire.permission_mode import PermissionMode
from tests.permission.gates import DENIED, make_bash_action, make_rules, policy, read_command_lines

HOSTILE, HARMLESS = read_command_lines("hostile_commands.txt"), read_command_lines("harmless_commands.txt")
ALLOWED = ("Bash(*)",)
USABLE = ("pytest *", "ruff *", "npm *", "git commit *", "git add *", "git checkout *", "echo *")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for name in ("README.md", "src/a.py", "src/b.py"):
        (tmp_path / name).write_text("x\n")
    return tmp_path


FETCHING = (
    *("npx x", "uvx x", "bunx x", "npm exec x", "pnpm dlx x", "yarn dlx x", "bun x x", "pipx run x", "uv tool run x"),
    *("npm create x", "deno run https://example.com/x.ts", "env A=1 npx x"),
)
"""Commands that run code of the network."""


def test_the_lists_have_their_minimum_lengths() -> None:
    assert len(set(HOSTILE)) >= 200
    assert len(set(HARMLESS)) >= 60


@pytest.mark.parametrize("mode", ["bypassPermissions", "trust", "auto"])
def test_a_hostile_command_is_never_allowed(root: Path, mode: PermissionMode) -> None:
    denied = [f"Bash({pattern})" for pattern in DENIED]
    gate = Gate(policy(root, mode, make_rules(ALLOWED, (), denied)))
    decisions = {command: gate.explain(make_bash_action(command)).decision for command in HOSTILE}
    assert [command for command, decision in decisions.items() if decision and decision.is_allowed] == []


@pytest.mark.parametrize("command", HARMLESS)
def test_a_harmless_command_is_allowed(root: Path, command: str) -> None:
    denied = [f"Bash({pattern})" for pattern in DENIED]
    gate = Gate(policy(root, "ask", make_rules([f"Bash({pattern})" for pattern in USABLE], (), denied)))
    found = gate.explain(make_bash_action(command))
    assert found.decision is not None, found.question
    assert found.decision.is_allowed, found.decision.reason


@pytest.mark.parametrize("command", FETCHING)
def test_code_from_the_network_needs_a_question_in_the_mode_auto(root: Path, command: str) -> None:
    assert Gate(policy(root, "auto", make_rules((), (), ()))).explain(make_bash_action(command)).decision is None


@pytest.mark.parametrize("command", ["npm run test", "npm init", "pnpm exec tsc", "go run ./cmd/x", "uv run pytest"])
def test_code_of_the_project_is_allowed_in_the_mode_auto(root: Path, command: str) -> None:
    found = Gate(policy(root, "auto", make_rules((), (), ()))).explain(make_bash_action(command)).decision
    assert found is not None
    assert found.is_allowed
