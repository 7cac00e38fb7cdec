"""An edit with new findings: refused without a person, and applied if a person has seen the findings and says yes."""

from pathlib import Path

import pytest

from lsp_harness.chat.conversation_steps import CallResult
from lsp_harness.chat.tool import CallContext
from lsp_harness.chat.tool_execution import ToolExecution
from lsp_harness.errors import UsageError
from lsp_harness.events.model_events import ToolCall
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.permission.person import PersonAnswer
from tests.chat.tools.surroundings import ToolWorkspace
from tests.permission.gates import Recorder, ScriptedPerson, make_rules, policy

pytestmark = pytest.mark.process

FINDING = "line 2: LINT: F821 Undefined name `k`"


def call(new: str) -> ToolCall:
    return ToolCall("c1", "edit", {"path": "area.py", "old": "r * 2", "new": new})


async def run(desk: ToolWorkspace, gate: PermissionGate, new: str) -> CallResult:
    log = SessionStore(desk.root.parent / "sessions").create()
    execution = ToolExecution(desk.tools, gate, ArtifactStore(log.folder, log.append_to_running))
    result = await execution.run(call(new), log.turn())
    log.close()
    return result


def make_desk(tmp_path: Path) -> ToolWorkspace:
    return ToolWorkspace(tmp_path / "w", {"area.py": "def area(r):\n    return r * 2\n"})


def make_answering_person(desk: ToolWorkspace, choice: str) -> tuple[PermissionGate, ScriptedPerson]:
    person = ScriptedPerson([PersonAnswer("once" if choice == "yes" else "reject")])
    return PermissionGate(policy(desk.root), Recorder(), person=person), person


async def test_an_edit_that_a_rule_allows_is_refused_with_its_findings(tmp_path: Path):
    desk = make_desk(tmp_path)
    gate = PermissionGate(policy(desk.root, active=make_rules(allow=["edit"])), Recorder())
    result = await run(desk, gate, "r * k")
    assert result.is_error
    assert result.output.endswith(FINDING)
    assert desk.read("area.py").endswith("r * 2\n")


async def test_a_person_sees_the_findings_and_applies_the_edit_nevertheless(tmp_path: Path):
    desk = make_desk(tmp_path)
    gate, person = make_answering_person(desk, "yes")
    result = await run(desk, gate, "r * k")
    assert f"the checks have new findings about this edit; yes accepts them:\n  {FINDING}" in person.questions[0].text
    assert not result.is_error
    assert result.output.endswith(FINDING)
    assert desk.read("area.py").endswith("r * k\n")


async def test_a_finding_that_a_person_has_not_seen_is_not_accepted(tmp_path: Path):
    desk = make_desk(tmp_path)
    result = await desk.tools["edit"].run(call("r * k").input, CallContext("c1", seen_findings=(FINDING,)))
    assert result.findings == (FINDING,)
    desk = make_desk(tmp_path)
    with pytest.raises(UsageError, match="F821"):
        await desk.tools["edit"].run(call("r * k").input, CallContext("c1", seen_findings=("another one",)))
    assert desk.read("area.py").endswith("r * 2\n")


async def test_an_edit_that_the_person_rejects_leaves_the_file(tmp_path: Path):
    desk = make_desk(tmp_path)
    gate, _ = make_answering_person(desk, "no")
    result = await run(desk, gate, "r * k")
    assert result.ends_turn
    assert desk.read("area.py").endswith("r * 2\n")


async def test_a_question_about_a_right_edit_names_no_findings(tmp_path: Path):
    desk = make_desk(tmp_path)
    gate, person = make_answering_person(desk, "yes")
    assert not (await run(desk, gate, "r * 3")).is_error
    assert "findings" not in person.questions[0].text


async def test_an_edit_with_a_syntax_error_is_refused_without_a_question(tmp_path: Path):
    desk = make_desk(tmp_path)
    gate, person = make_answering_person(desk, "yes")
    result = await run(desk, gate, "r * (3")
    assert "adds a syntax error" in result.output
    assert person.questions == []
