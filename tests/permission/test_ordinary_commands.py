"""Ordinary commands that only read run without a question in most cases."""

from collections import Counter
from pathlib import Path

import pytest

from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.wire.permission_mode import PermissionMode
from tests.permission.gates import make_bash_action, policy
from tests.permission.small_project import make_project

pytestmark = pytest.mark.process

COMMANDS = (Path(__file__).parent / "ordinary_commands.txt").read_text(encoding="utf-8").splitlines()


def test_the_list_has_enough_different_commands() -> None:
    assert len(set(COMMANDS)) == len(COMMANDS) >= 500


@pytest.mark.parametrize(("mode", "least"), [("auto", 0.9), ("plan", 0.8)])
def test_most_commands_need_no_question(tmp_path: Path, mode: PermissionMode, least: float) -> None:
    gate = Gate(policy(make_project(tmp_path), mode))
    verdicts = Counter[str]()
    for command in COMMANDS:
        found = gate.explain(make_bash_action(command))
        verdict = found.decision.verdict if found.decision else "ask"
        verdicts[verdict] += 1
        if verdict != "allow":
            reason = found.decision.reason if found.decision else found.question
            print(f"{mode} | {verdict} | {command} | {reason}")
    print(mode, dict(verdicts), "of", len(COMMANDS))
    assert verdicts["allow"] >= least * len(COMMANDS)
