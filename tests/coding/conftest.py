"""Runs a fix of one diagnostic with a script in place of the model, and checks the log of its turn."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineError, NoAnswer
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.results import Progress, Proposal
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import decode
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.wire.event import Event
from tests.harness import tools
from tests.harness.tools import Script, read_checked_log, select_event_data
from tests.support import markup

AREA = """
    def area(r):
        width = r
        return width == None
        #               ^^^^ E711 what is this
    """
FIXED = "def area(r):\n    width = r\n    return width is None\n"
STILL = "return (width) == None"  # the diagnostic is not gone
NEW = "return width is nobody"  # another one is new
BROKEN = "return (width is None"  # does not parse
GOOD = "return width is None"


def make_edit_settings(candidates: int, retries: int = 0, **more: Any) -> Config:
    """Return settings for a number of candidates, with every check."""
    verification = {"kept": True, **more.pop("verification", {})}
    return tools.make_edit_settings(candidates, retries, verification=verification, **more)


@dataclass
class Result:
    """The outcome of a fix: events, proposal, new text or error."""

    events: list[Event]
    engine: Script
    proposal: Proposal | None = None
    text: str = ""
    error: Exception | None = None
    progress: list[Progress] = field(default_factory=list)


@pytest.fixture(scope="session")
def ruff() -> Ruff:
    return Ruff()


@pytest.fixture
def check(tmp_path: Path, ruff: Ruff):
    """Run a fix of the source's one diagnostic and look at the log, whatever comes of it."""
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')

    async def check(
        source: str,
        *replies: Any,
        config: Config,
        name: str = "a.py",
        given: tuple[Edit, ...] = (),
        facts: dict[str, Any] | None = None,
    ) -> Result:
        src = markup.parse(source, tmp_path / name)
        engine, log = Script(*replies), SessionLog(tmp_path / "sessions")
        engine.extra_props |= facts or {}
        result = Result([], engine)
        job = TurnContext(
            engine=engine,
            config=config,
            tools=CheckTools(ruff),
            turn=log.turn(),
            document=src.document,
            file=tmp_path / name,
            root=tmp_path,
            path=name,
            report=result.progress.append,
        )
        try:
            result.proposal = await run_edit_task(Fix(job, src.finding, linter_edits=given))
            result.text = decode(apply(src.document.data, result.proposal.edits))
        except (NoAnswer, EngineError) as error:
            result.error = error
        log.close()
        result.events = read_checked_log(log.path)
        assert (result.proposal is None) is (select_event_data(result.events, "edit.proposed") == [])
        return result

    return check
