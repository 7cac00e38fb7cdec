"""A project with one module and its tests, for tasks of the code driver that run real tests in the sandbox."""

from pathlib import Path

from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.config.schema import Config
from lsp_harness.inference.client import Engine
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.results import Proposal
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.wire.event import Event
from tests.support.project_suites import create_suites, require_sandbox


class ProjectBench:
    """A project, and the events of all tasks on its module. Close it. It skips the test if no sandbox works.

    Args:
        root: The folder of the project.
        module: The name of the file of the module.
        tests: The text of its test file.
    """

    def __init__(self, root: Path, module: str, tests: str) -> None:
        require_sandbox()
        self.root, self.file, self._test_file = root, root / module, root / f"test_{module}"
        self.events = list[Event]()
        self._log = SessionLog(is_saved=False)
        self._log.listeners.append(self.events.append)
        self.suites = create_suites(self._test_file.name)
        self.write_tests(tests)

    async def aclose(self) -> None:
        await self.suites.aclose()

    def write_tests(self, text: str) -> None:
        self._test_file.write_text(text)

    def create_context(self, engine: Engine, source: str, config: Config, task: str = "") -> TurnContext:
        """Write the module, and return the context of a task on it."""
        self.file.write_text(source)
        return TurnContext(
            *(engine, config, CheckTools(Ruff(), self.suites), self._log.turn()),
            *(Document.from_text(self.file.as_uri(), source, language="python"), self.file, self.root),
            *(self.file.name, lambda progress: None),
            task=task,
        )


def apply_proposal(proposal: Proposal) -> str:
    """Return the text of the module after a proposal."""
    return decode(proposal.changes.main.after.data)
