"""The stages that all edits by the model have in common.

| kind | class | prompt | grammar | rounds | choice |
| --- | --- | --- | --- | --- | --- |
| `edit` | `Instruct` | a selection, an instruction | one code block | samples, retries with feedback | most likely |
| `docstring` | `WriteDocstring` | a hole between the marks | – | samples | most likely |
| `tests` | `WriteTests` | the test file up to `def test_` | – | samples | most assertions |

Every kind must pass the same checks. A fix (`Fix`) tries repairs without a model first and has checks of its own, and
an explanation (`Explain`) changes no code, so they are no edit tasks.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from lsp_harness.coding.checked_candidate import CheckedCandidate, choose_most_likely
from lsp_harness.coding.prompt_waves import CandidateSource
from lsp_harness.coding.sampling import CandidatePlan, plan_samples
from lsp_harness.coding.turn_context import TurnContext
from lsp_harness.coding.turn_driver import TurnDriver
from lsp_harness.errors import NoAnswer
from lsp_harness.session.results import Proposal
from lsp_harness.session.turn_events import InvocationReceived


class EditTask(ABC):
    """One edit of one document version by the model. Run it once.

    Attributes:
        kind: The kind of the turn in the session log.
        finishes_rounds: Whether `choose` needs all candidates of a round.
        context: The document and the tools.
    """

    kind: ClassVar[str]
    finishes_rounds: ClassVar[bool] = False
    context: TurnContext

    async def run(self) -> Proposal:
        """Return the proposal. Raises NoAnswer."""
        driver = TurnDriver(self.context, self.context.create_checks(), self.choose, self.finishes_rounds)
        request = InvocationReceived(self.kind, self.describe(), self.context.path)
        return await driver.run(request, lambda: self._generate(driver))

    @abstractmethod
    def describe(self) -> str:
        """Return the request in words, for the session log."""

    @abstractmethod
    async def create_source(self) -> CandidateSource:
        """Locate the code and return the source of candidates. Raises NoAnswer with the reason if there is none."""

    async def plan_rounds(self) -> Sequence[Sequence[CandidatePlan]]:
        """Return the plans of each round. The default is one round of samples."""
        return [plan_samples("fill", self.context.config.generation.temperature)]

    def choose(self, passed: Sequence[CheckedCandidate]) -> CheckedCandidate:
        """Return the best of the candidates that passed the checks. The default is the most likely one."""
        return choose_most_likely(passed)

    async def _generate(self, driver: TurnDriver) -> Proposal:
        driver.states.enter("LOCATE")
        try:
            source = await self.create_source()
        except NoAnswer as error:
            raise driver.fail(error.message) from error
        return await driver.generate(source, await self.plan_rounds())
