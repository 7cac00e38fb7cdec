"""`lsp-harness gate check`: the decision, who decided, and how a command was split."""

import pytest

from lsp_harness.sessions.reading_commands import ReadingCommands
from tests.cli.conftest import Shell


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (
            ["--", "git", "log"],
            0,
            "allow by mode: the permission mode ask allows it, because it only reads\n  git log  [execute, risk low]\n",
        ),
        (["--mode", "trust", "--", "git push"], 0, "allow by mode: the permission mode trust allows it\n"),
        (
            ["--mode", "deny", "--", "flake8"],
            1,
            "the permission mode deny does not allow it (command: flake8)",
        ),
        (["--", "rm", "x"], 1, "deny by rule: no removal (Bash(rm *))\n"),
        (["--mode", "bypassPermissions", "--", "sudo sh -c 'rm x'"], 1, "deny by rule: no removal (Bash(rm *))\n"),
        (["--", "flake8", "a b"], 3, "ask: the permission mode ask asks\nthese rules would allow it: bash(flake8 *)"),
        (["--", "eval $X"], 3, "ask: eval runs a text as a script, so the rule Bash(rm *) may concern it\n"),
        (["--tool", "edit", "--path", "a.py"], 3, "these rules would allow it: edit(a.py)"),
        (["--tool", "edit", "--path", ".git/config"], 1, "deny by protected: "),
        (["--tool", "read", "--path", "a.py"], 0, "allow by mode: "),
        (["--tool", "mcp__a__b"], 3, "ask: the permission mode ask asks\n"),
        (["--tool", "helper", "--kind", "agent", "--mode", "auto"], 0, "allow by mode: "),
    ],
)
def test_gate_check_prints_the_decision_and_returns_its_status(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, text: str
) -> None:
    # the words of a machine without a sandbox
    monkeypatch.setattr(ReadingCommands, "can_confine", staticmethod(bool))
    shell.file(
        "lsp-harness.toml",
        '[[permissions.rules]]\ndecision = "deny"\ntool = "Bash"\npattern = "rm *"\njustification = "no removal"\n',
    )
    result = shell.run("gate", "check", *arguments)
    assert result.code == code
    assert text in result.out
    assert result.err == ""


def test_json_has_the_parts_of_the_command(shell: Shell) -> None:
    result = shell.run("gate", "check", "--json", "--", "timeout 5 npm publish > out.txt")
    assert result.code == 3
    assert result.json == {
        "decision": "ask",
        "by": "person",
        "reason": "the permission mode ask asks",
        "rule": "",
        "mode": "ask",
        "risk": "high",
        "suggestions": ["bash(npm publish)", "edit(out.txt)"],
        "parts": [
            {
                "text": "timeout 5 npm publish",
                "kind": "execute",
                "risk": "low",
                "opaque": "",
                "is_wrapper": True,
            },
            {"text": "npm publish", "kind": "execute", "risk": "high", "opaque": "", "is_wrapper": False},
            {
                "text": f"edit {shell.folder / 'out.txt'}",
                "kind": "edit",
                "risk": "medium",
                "opaque": "",
                "is_wrapper": False,
            },
        ],
    }


def test_mistakes_in_the_settings_are_reported(shell: Shell) -> None:
    shell.file(
        "lsp-harness.toml",
        '[[permissions.rules]]\ndecision = "deny"\ntool = "Bash"\npattern = "rm *"\nmatch = ["ls"]\n',
    )
    result = shell.run("gate", "check", "--mode", "trust", "--", "touch x")
    assert result.code == 1
    assert "lsp-harness.toml:1: the rule Bash(rm *): it must match 'ls' and does not" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the command is missing; write it after `--`"),
        (["--tool", "edit", "--kind", "edit"], "the tool edit needs a file; write --path FILE"),
        (["--tool", "edit", "--", "x"], "the tool edit takes no command; write --path FILE"),
        (["--mode", "plam", "--", "x"], "plam"),
    ],
)
def test_wrong_arguments_of_gate_check_are_explained(shell: Shell, arguments: list[str], message: str) -> None:
    result = shell.run("gate", "check", *arguments)
    assert result.code == 2
    assert message in result.err
