"""The driver of prompts that edit code: locate, write, check, ask, apply. It runs the parts of `lsp_harness.coding`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lsp_harness.coding.instruct import Instruct
from lsp_harness.config.schema import Config
from lsp_harness.errors import StaleDocument
from lsp_harness.harness.edits.edit_verbs import EditVerbs
from lsp_harness.harness.edits.proposal_writing import require_unchanged, write_changes
from lsp_harness.harness.edits.turns import Turns, TurnWork
from lsp_harness.harness.project.project_index import open_ready_index
from lsp_harness.harness.project.quiet_output import QuietOutput
from lsp_harness.harness.services import Services
from lsp_harness.harness.sessions.edit_copies import EditCopies
from lsp_harness.harness.task_locator import LocationRequest, TaskLocator
from lsp_harness.harness.verification.edit_permission import create_edit_action
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.inference.client import Engine
from lsp_harness.session.driver import CallResult, ModelOutput
from lsp_harness.session.events.code_events import EditApplied, EditRejected, EditStale
from lsp_harness.session.log.turn import Turn
from lsp_harness.session.permission.permission_gate import PermissionGate
from lsp_harness.session.projections.session_state import SessionState
from lsp_harness.session.projections.summary import Summary
from lsp_harness.session.results import Proposal
from lsp_harness.workspace.workspace import Workspace

Task = tuple[str, Summary]
"""A task in words, and the history of the session."""
ALTERNATIVE = "name one that this folder has"


@dataclass(slots=True)
class EditDriver:
    """Makes each prompt one verified edit of the code that it is about (see `Driver`).

    Attributes:
        config: The settings.
        engine: The client of the model.
        workspace: The folder of the session.
        verifier: The checks of an edit.
        gate: Decides whether an edit is applied.
        copies: Copies the files before they are written, for undo.
    """

    name = "code"
    is_exclusive = True

    config: Config
    engine: Engine
    workspace: Workspace
    verifier: Verifier
    gate: PermissionGate
    copies: EditCopies
    _refusals: list[CallResult] = field(default_factory=list[CallResult], init=False)

    async def should_compact(self, state: SessionState) -> bool:
        """Return false: the prompt of an edit has no messages."""
        return False

    async def compact(self, state: SessionState, turn: Turn) -> None:
        """Do nothing."""

    async def build_prompt(self, state: SessionState, turn: Turn) -> Task:
        """Return what the user wrote in this turn, and what the session did before."""
        messages = [message for message in state.conversation.messages if message.turn == turn.number]
        return "\n".join(message.text for message in messages if message.role == "user"), state.summary

    async def call_model(self, prompt: Task, turn: Turn) -> ModelOutput:
        """Make a proposal, and apply it if the gate allows it.

        Raises:
            HarnessError: No code fits the task, no candidate passes its checks, or a file changed meanwhile.
        """
        place, proposal = await self._propose(*prompt, turn)
        action = create_edit_action(proposal, turn.session_id)
        decision = await self.gate.check(action)
        is_same = decision.updated_input in (None, action.input)
        if decision.is_allowed and is_same:
            await self._apply(proposal, turn)
            return ModelOutput(f"{place}: {proposal.summary}; applied", is_final=True)
        reason = decision.reason if is_same else "a checked edit cannot be replaced by another one"
        turn.append(EditRejected(proposal.id, reason))
        self._refusals = [CallResult("", is_error=True, ends_turn=True)]
        return ModelOutput(f"{place}: {proposal.summary}; not applied: {reason}", is_final=True)

    async def execute_tool_calls(self, output: ModelOutput, turn: Turn) -> Sequence[CallResult]:
        """Return the refusal of the edit, if it was refused."""
        return self._refusals

    async def _propose(self, task: str, summary: Summary, turn: Turn) -> tuple[str, Proposal]:
        """Return the place that the task is about, and a checked edit of it."""
        [root] = self.workspace.roots
        async with open_ready_index(root, self.config, QuietOutput(), creates_index=True) as index:
            services = Services(
                self.config, lambda config: self.engine, self.workspace, index=index, verifier=self.verifier
            )
            turns = Turns(services)
            request = LocationRequest(task, alternative=ALTERNATIVE)
            located = await TaskLocator(services, EditVerbs(services, turns)).locate(request)
            best = located.ranking.best
            snapshot = self.workspace.snapshot(located.document(best))
            await turns.prepare(snapshot)
            found = f"Found {best.symbol or 'code'} at {best.place}"
            work = TurnWork("edit", task, snapshot, lambda progress: None, place=found)
            context = turns.create_context(work, turn, summary)
            return best.place, await Instruct(context, located.span(best), task).run()

    async def _apply(self, proposal: Proposal, turn: Turn) -> None:
        files = [(change.file, change) for change in proposal.changes]
        try:
            require_unchanged(files)
            await self.copies.keep([file for file, _ in files])
            write_changes(files)
        except StaleDocument:
            turn.append(EditStale(proposal.verdict.hash))
            raise
        finally:
            await self.copies.seal()
        turn.append(EditApplied(proposal.id))
