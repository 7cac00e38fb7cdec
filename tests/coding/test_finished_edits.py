"""An edit by instruction is cleaned and formatted before its checks: what is checked is what is proposed."""

from pathlib import Path

import pytest

from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config, Generation
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.results import Proposal
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.project_tools.changed_line_format import ChangedLineFormat
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess
from lsp_harness.verify.ruff_linter import Ruff

SOURCE = "names = ['a']\n\n\ndef area(r):\n    return r * r\n"
ANSWER = "import math\n\n\ndef area(r):\n    check( r,'radius' )\n    return r * r\n"
SHOWN = "names = ['a']\n\n\ndef area(r):\n    check(r, \"radius\")\n    return r * r\n"


async def edit(folder: Path, settings: str, *, formats: bool = True, objection: str = "") -> Proposal:
    """Return the proposal for the answer."""

    async def find_objection(*_: object) -> str:
        return objection

    (folder / "ruff.toml").write_text(settings)
    file = folder / "area.py"
    file.write_text(SOURCE)
    formatter = ChangedLineFormat(ToolAccess(find_objection, machine_sandbox))
    context = TurnContext(
        ScriptedEngine([{"text": f"```\n{ANSWER}```"}]),
        Config(generation=Generation(candidates=1, max_retries=0, format=formats)),
        CheckTools(Ruff(), format=formatter),
        SessionLog(is_saved=False).turn(),
        Document.from_text(file.as_uri(), SOURCE, language="python"),
        *(file, folder, file.name, lambda progress: None),
        task="check the radius",
    )
    proposal = await run_edit_task(Instruct(context, Span(SOURCE.index("def"), len(SOURCE)), "check the radius"))
    await formatter.aclose()
    return proposal


LINT = "[lint]\nselect = ['F401', 'E2']\n"


@pytest.mark.process
async def test_the_proposal_is_formatted_and_has_no_unused_import(tmp_path: Path) -> None:
    if not machine_sandbox().is_confined:
        pytest.skip("no sandbox works here")
    proposal = await edit(tmp_path, f"{LINT}[format]\n")
    assert decode(proposal.changes.main.after.data) == SHOWN
    assert proposal.verdict.hash == proposal.changes.main.after.hash
    assert '+    check(r, "radius")' in proposal.diff


async def test_a_formatter_that_may_not_run_is_a_skipped_note_of_the_verdict(tmp_path: Path) -> None:
    if not machine_sandbox().is_confined:
        pytest.skip("no sandbox works here")
    proposal = await edit(tmp_path, f"{LINT}[format]\n", objection="ruff may not run")
    assert "check( r,'radius' )" in decode(proposal.changes.main.after.data)
    assert "format – (ruff may not run)" in proposal.summary
    assert proposal.verdict.outcomes[0].check == "format"


async def test_the_setting_switches_the_formatter_off(tmp_path: Path) -> None:
    proposal = await edit(tmp_path, f"{LINT}[format]\n", formats=False, objection="ruff may not run")
    assert "check( r,'radius' )" in decode(proposal.changes.main.after.data)
    assert "format" not in proposal.summary
