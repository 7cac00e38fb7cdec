"""A test replaces the parts of a harness by constructor arguments, without a private name."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.errors import NoAnswer
from lsp_harness.harness.clock import Clock
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import Check, CheckContext, CheckTools, DocumentCheck
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.workspace.workspace import Workspace
from tests.harness.spoken import fence_code, ignore_progress
from tests.harness.tools import Script, make_edit_settings
from tests.index.place import IndexedFolder

AREA = "def area(r):\n    return \n"


class RejectingCheck(DocumentCheck):
    """A check that rejects every edit."""

    name = "reject"
    title = "rejected"
    feedback_label = "REJECT"
    criterion = "never"

    async def run(self, change: Change) -> Outcome:
        return Outcome(self.name, "failed", reason="the test rejects everything")


class CountingLinter(Ruff):
    """A linter that counts the texts that it checks and finds no problem."""

    def __init__(self) -> None:
        super().__init__()
        self.checked_texts = 0

    async def check(self, *args: Any, **options: Any) -> Any:
        self.checked_texts += 1
        return ()


async def test_an_engine_an_index_a_linter_a_check_and_a_clock_are_constructor_arguments(tmp_path: Path):
    engine, linter, timers = (
        Script(fence_code("def area(r):\n    return 4 * r"), "3 * r"),
        CountingLinter(),
        list[float](),
    )

    def create_checks(settings: Verification, context: CheckContext) -> list[Check]:
        return [RejectingCheck()]

    files = {"tax.py": "def area_with_tax(price):\n    return price * 1.2\n"}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        harness = Harness(
            make_edit_settings(1),
            lambda config: engine,
            Workspace([tmp_path]),
            index=ReadyIndex(indexed.query),
            verifier=Verifier(CheckTools(linter), create_checks),
            clock=Clock(lambda: 0.0, lambda delay_s, call: timers.append(delay_s)),
        )
        document = Document.from_text((tmp_path / "a.py").as_uri(), AREA, language="python", version=1)
        harness.open(document)
        snapshot = harness.snapshot(document.uri)

        await harness.fixes.diagnose(snapshot)
        with pytest.raises(NoAnswer):
            await harness.edits.instruct(snapshot, Span(4, 4), "add the tax of area_with_tax", ignore_progress)

        assert linter.checked_texts
        assert "area_with_tax(price)" in engine.prompt(0)
        [suggestion] = await harness.completions.complete(snapshot, len(AREA) - 1, automatic=False, single=True)
        harness.change(document.uri, Edit(suggestion.start, suggestion.end, encode(suggestion.text)), 2)
        harness.record(document.uri, suggestion.id, "accepted")
        assert timers
        await harness.aclose()
