"""The stages that all verified edits have in common.

| kind | class | without a model | prompt | grammar | rounds | choice |
| --- | --- | --- | --- | --- | --- | --- |
| `fix` | `Fix` | linter's fix, repairs | a statement or its function | code block | fills, rewrites | smallest |
| `edit` | `Instruct` | – | a selection, an instruction | code block | samples, retries | most likely |
| `docstring` | `WriteDocstring` | – | a hole between the marks | – | samples | most likely |
| `tests` | `WriteTests` | – | the test file up to `def test_` | – | samples | most assertions |

The stages are `create_checks`, `try_existing_edits`, `try_repairs`, `create_source`, `plan_rounds` and `choose`. The
first stage that returns a proposal ends the turn. An explanation (`Explain`) changes no code, so it is no edit task.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate, choose_most_likely
from lsp_harness.coding.candidates.prompt_waves import CandidateSource
from lsp_harness.coding.candidates.sampling import CandidatePlan, plan_samples
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.coding.turn_driver import TurnDriver
from lsp_harness.errors import NoAnswer
from lsp_harness.kernel.results import Proposal
from lsp_harness.text.edit import Edit
from lsp_harness.verify.check import Check


class EditTask(ABC):
    """One verified edit of one document version. Run it once. `context` has the document and the tools."""

    checks_in_order: ClassVar[bool] = True
    """Whether a candidate waits for those with lower numbers, which are likelier. Then the result does not depend on
    which of them is complete first."""

    context: TurnContext

    async def run(self) -> Proposal:
        """Return the proposal. Raises NoAnswer."""
        driver = TurnDriver(self.context, await self.create_checks(), self)
        return await driver.run(lambda: self._run_stages(driver))

    async def create_checks(self) -> list[Check]:
        """Return the checks that a candidate should pass."""
        return self.context.create_checks()

    def create_required_checks(self) -> list[Check]:
        """Return the checks that decide if no candidate passes all checks. Without them, which is the default, none is
        proposed then."""
        return []

    async def repair_attempt(self, attempt: CheckedCandidate, states: TurnStates) -> Sequence[Edit]:
        """Return the edits of the document that make an attempt pass the tests. The default has none.

        Args:
            attempt: The candidate that fails the fewest tests, and nothing else.
            states: The states of the turn.
        """
        return ()

    async def try_existing_edits(self, driver: TurnDriver) -> Proposal | None:
        """Check edits that came with the request, before any code is located. The default has none.

        Raises:
            NoAnswer: They do not pass the checks, or the request can be refused already.
        """
        return None

    async def try_repairs(self, driver: TurnDriver) -> Proposal | None:
        """Check edits that need no model. The default has none.

        Raises:
            NoAnswer: The request can be refused without a model.
        """
        return None

    @abstractmethod
    async def create_source(self) -> CandidateSource:
        """Locate the code and return the source of candidates. Raises NoAnswer with the reason if there is none."""

    async def plan_rounds(self) -> Sequence[Sequence[CandidatePlan]]:
        """Return the plans of each round. The default is one round of samples.

        Raises:
            NoAnswer: There is nothing that the model could generate.
        """
        temperature = self.context.config.generation.temperature
        return [plan_samples("fill", temperature, await self.context.engine.props())]

    def choose(self, passed: Sequence[CheckedCandidate]) -> CheckedCandidate:
        """Return the best of the candidates that passed the checks. The default is the most likely one."""
        return choose_most_likely(passed)

    def is_decided(self, passed: Sequence[CheckedCandidate]) -> bool:
        """Return whether no candidate that is still being generated can be better than those that passed.

        Candidates of a round are checked in the order of their probability, so the default is true.
        """
        return True

    async def _run_stages(self, driver: TurnDriver) -> Proposal:
        if proposal := await self.try_existing_edits(driver):
            return proposal
        if driver.states.current == "UNDERSTAND":
            driver.states.enter("LOCATE")
            driver.states.outcome = self.context.place
        if proposal := await self.try_repairs(driver):
            return proposal
        try:
            source, rounds = await self.create_source(), await self.plan_rounds()
        except NoAnswer as error:
            raise driver.fail(error.message) from error
        return await driver.generate(source, rounds)
