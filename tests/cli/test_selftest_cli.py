"""`lsp-harness selftest`: all checks pass, and each one fails alone if its ability is broken."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lsp_harness.chat import chat_driver
from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.edit_tools import EditTool
from lsp_harness.cli.selftest import ability_checks, selftest_cli
from lsp_harness.cli.selftest.ability_checks import CHECKS
from lsp_harness.events.session_events import ErrorOccurred
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.log import session_log
from lsp_harness.kernel.projections import message_history
from lsp_harness.sessions import model_choice, subagent_tool
from lsp_harness.sessions.open_session import OpenSession
from tests.cli.conftest import Shell

Break = Callable[[pytest.MonkeyPatch], None]
NAMES = [
    "cli-first",
    "one-provider",
    "append-only-log",
    "artifact-persistence",
    "core-tools",
    "compaction",
    "task-handles",
    "subagent",
    "completion-notifications",
]


def test_the_nine_checks_pass_and_describe_their_results(shell: Shell):
    result = shell.run("selftest")
    lines = result.out.splitlines()
    assert (result.code, len(lines)) == (0, 9)
    assert [line.split(":")[0] for line in lines] == [f"✓ {name}" for name in NAMES] == [f"✓ {name}" for name in CHECKS]
    assert "108,894 bytes are in a file" in lines[3]
    # nothing is left, and nothing of the user was touched
    assert not (shell.folder.parent / "home" / "state" / "sessions").exists()
    assert os.environ["LSP_HARNESS_HOME"] == str(shell.folder.parent / "home")


def _break_cli(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ability_checks, "sys", SimpleNamespace(executable="/bin/false"))


def _break_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_choice, "describe_model", lambda config: "another")


def _break_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_anew(path: Path, **options: bool) -> int:
        # whoever continues a log writes over its first byte
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    monkeypatch.setattr(session_log, "open_for_append", open_anew)


def _break_artifacts(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_start(self: Any, pieces: Any, kind: str, call_id: str) -> Any:
        return write(self, iter([next(pieces)[:100]]), kind, call_id)

    write = ArtifactStore._write  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(ArtifactStore, "_write", write_start)


def _break_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pretend(self: EditTool, input: Any, context: CallContext) -> ToolResult:
        return ToolResult("edited")

    monkeypatch.setattr(EditTool, "run", pretend)


def _break_compaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_driver, "plan_step", lambda *facts: None)


def _break_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pretend(self: OpenSession, task_id: str) -> dict[str, Any]:
        return {"task_id": task_id, "status": "cancelled"}

    monkeypatch.setattr(OpenSession, "cancel_task", pretend)


def _break_subagent(monkeypatch: pytest.MonkeyPatch) -> None:
    def copy_all(self: Any, event: Any) -> None:
        self._parent.log.append(ErrorOccurred(str(event.data)))

    monkeypatch.setattr(subagent_tool._SubagentRun, "_forward_question", copy_all)  # pyright: ignore[reportPrivateUsage]


def _break_notifications(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(message_history.HANDLERS, "task.completed", lambda conversation, event: None)


BREAKS: dict[str, Break] = {
    "cli-first": _break_cli,
    "one-provider": _break_provider,
    "append-only-log": _break_log,
    "artifact-persistence": _break_artifacts,
    "core-tools": _break_tools,
    "compaction": _break_compaction,
    "task-handles": _break_tasks,
    "subagent": _break_subagent,
    "completion-notifications": _break_notifications,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_ability_fails_only_its_own_check(name: str, shell: Shell, monkeypatch: pytest.MonkeyPatch):
    BREAKS[name](monkeypatch)
    result = shell.run("selftest", "--json")
    assert [check["name"] for check in result.json if not check["passed"]] == [name], result.out
    assert result.code == 1


def test_the_model_of_the_settings_is_tested_on_request(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(selftest_cli, "CHECKS", {})
    shell.replies("ready")
    result = shell.run("selftest", "--model")
    assert (result.code, result.out) == (0, "✓ real-model: scripted:script.json answered 'ready' with 1 tokens\n")
    shell.replies("")
    result = shell.run("selftest", "--model")
    assert result.code == 1
    assert "gave no answer" in result.out
    assert "1 of 1 checks failed" in result.out
