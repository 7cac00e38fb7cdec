"""The stages that all verified edits have in common.

| kind | class | without a model | prompt | grammar | rounds | choice |
| --- | --- | --- | --- | --- | --- | --- |
| `fix` | `Fix` | linter's fix, repairs | a statement or its function | code block | fills, rewrites | smallest |
| `edit` | `Instruct` | – | a selection, an instruction | code block | samples, retries | most likely |
| `docstring` | `WriteDocstring` | – | a hole between the marks | – | samples | most likely |
| `tests` | `WriteTests` | – | the test file up to `def test_` | – | samples | most assertions |

`turn_driver.TurnDriver` calls the stages in the order in which they stand here. The first one with a change that passes
the checks ends the turn. A task never calls the driver: it raises NoAnswer, and the driver records the failure. An
explanation (`Explain`) changes no code, so it is no edit task.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lsp_harness.coding.candidates.candidate_checks import CandidateChecks
from lsp_harness.coding.candidates.checked_candidate import CheckedCandidate, choose_most_likely
from lsp_harness.coding.candidates.prompt_waves import CandidateSource
from lsp_harness.coding.candidates.sampling import CandidatePlan, plan_samples
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn.turn_states import TurnStates
from lsp_harness.kernel.results import Proposal
from lsp_harness.text.edit import Edit
from lsp_harness.verify.check import Check
from lsp_harness.verify.finding import Outcome


@dataclass(frozen=True, slots=True)
class ExistingEdits:
    """Edits that came with the request.

    Attributes:
        edits: The edits.
        maker: The subject of the message to the user.
        outcomes: The outcomes of checks that the edits have passed already.
    """

    edits: Sequence[Edit]
    maker: str
    outcomes: Sequence[Outcome] = ()


class EditTask(ABC):
    """One verified edit of one document version. Run it once. `context` has the document and the tools."""

    checks_in_order: ClassVar[bool] = True
    """Whether a candidate waits for those with lower numbers, which are likelier. Then the result does not depend on
    which of them is complete first."""

    finishes_edits: ClassVar[bool] = False
    """Whether the model writes new code, which is cleaned and formatted before the checks. A fix changes no more than
    its finding is about."""

    context: TurnContext

    async def create_checks(self) -> list[Check]:
        """Return the checks that a candidate should pass."""
        return self.context.create_checks()

    # -- without the model
    async def find_existing_edits(self) -> ExistingEdits | None:
        """Return edits that came with the request, before any code is located. The default has none.

        Raises:
            NoAnswer: The request can be refused already.
        """
        return None

    async def find_repairs(self) -> Sequence[Repair]:
        """Return edits that need no model, the most likely first. The default has none.

        Raises:
            NoAnswer: The request can be refused without a model.
        """
        return ()

    async def create_repair_checks(self) -> Sequence[Check]:
        """Return checks that may tell which of several equally likely repairs is right. The default has none."""
        return ()

    async def choose_repair(self, passed: Sequence[CheckedCandidate]) -> CheckedCandidate | None:
        """Return one of several equally likely repairs, or None if nothing tells which. The default cannot tell."""
        return None

    def record_repairs(self, repairs: Sequence[Repair], results: Sequence[CheckedCandidate]) -> None:  # noqa: B027
        """Learn which repairs passed the checks. The default learns nothing.

        Args:
            repairs: The repairs. The number of a candidate is the place of its repair, from 1.
            results: The repairs that were checked.
        """

    async def create_trials(
        self, checked: CandidateChecks
    ) -> tuple[CandidateSource, Sequence[Sequence[CandidatePlan]]] | None:
        """Return a source of candidates that need no model, and their rounds. They pass all checks, also slow ones.

        The default has none.

        Args:
            checked: The candidates that were checked, to which these are added.

        Raises:
            NoAnswer: The request can be refused without a model.
        """
        return None

    # -- by the model
    async def create_candidate_checks(self) -> Sequence[Check]:
        """Return the checks of candidates by the model, or none if they are those of `create_checks`, the default."""
        return ()

    @abstractmethod
    async def create_source(self, checked: CandidateChecks | None = None) -> CandidateSource:
        """Locate the code and return the source of candidates. Raises NoAnswer with the reason if there is none.

        Args:
            checked: The repairs that were checked, to which the candidates are added. None before any check.
        """

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

    def describe_choice(self, best: CheckedCandidate, passed: Sequence[CheckedCandidate]) -> str:
        """Return what the summary adds to the name of the chosen candidate. The default adds nothing.

        Args:
            best: The chosen candidate.
            passed: All candidates that passed.
        """
        return ""

    # -- the end
    async def repair_attempt(self, attempt: CheckedCandidate, states: TurnStates) -> Sequence[Edit]:
        """Return the edits of the document that make an attempt pass the tests. The default has none.

        Args:
            attempt: The candidate that fails the fewest tests, and nothing else.
            states: The states of the turn.
        """
        return ()

    def create_required_checks(self) -> list[Check]:
        """Return the checks that decide if no candidate passes all checks. Without them, which is the default, none is
        proposed then."""
        return []

    def complete_proposal(self, proposal: Proposal) -> Proposal:
        """Return the proposal with what only the task knows about it. The default adds nothing."""
        return proposal
