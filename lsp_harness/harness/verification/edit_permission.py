"""The permission gate of the edits that the user of one client asks for, and of the programs that check them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import UsageError
from lsp_harness.session.checkpoints.checkpoints import RestorationGuard
from lsp_harness.session.events.event_types import SessionEvent
from lsp_harness.session.permission.action import Action
from lsp_harness.session.permission.gate_policy import GatePolicy, make_hooks, make_policy
from lsp_harness.session.permission.hooks import Hooks
from lsp_harness.session.permission.permission_gate import PermissionGate, Record
from lsp_harness.session.permission.person import AskPerson, RequestingUser
from lsp_harness.session.results import Proposal
from lsp_harness.workspace.workspace import Workspace

RecordInTurn = Callable[[SessionEvent, int | None], object]
"""Appends an event to a turn of the session, by its number. None is the turn that runs."""


class EditPermission:
    """Asks the permission gate before an edit reaches a file, and before a program checks it.

    The settings decide as in every session: a mode or a rule that denies wins. Whatever they would ask is answered by
    the request of the user.

    Args:
        config: Returns the present settings.
        workspace: The workspace folders.
        record: Appends the events of the gate to the log.
        find_person: Returns the surface that can ask the user, or None.
    """

    def __init__(
        self,
        config: Callable[[], Config],
        workspace: Workspace,
        record: RecordInTurn,
        find_person: Callable[[], AskPerson | None] = lambda: None,
    ) -> None:
        self._config, self._workspace, self._record, self._find_person = config, workspace, record, find_person
        self._settings: tuple[Config, list[Path], GatePolicy] | None = None

    @property
    def check_gate(self) -> PermissionGate:
        """The gate of the programs that check edits, which records its decisions in the turn that runs."""
        return self._create_gate(self._policy, lambda event: self._record(event, None))

    @property
    def undo_guard(self) -> RestorationGuard:
        """The power that decides whether an edit may be undone. It records its decisions in the turn that runs."""
        policy = self._policy
        gate = self._create_gate(policy, lambda event: self._record(event, None))
        return RestorationGuard(gate.check, policy.protected.edit_problem)

    async def require(self, proposal: Proposal) -> None:
        """Ask the gate whether a proposal may reach its files, and record the decision in its turn.

        Raises:
            UsageError: The settings do not allow it.
        """
        policy, main = self._policy, proposal.changes.main.file
        if not policy.protected.is_inside(main):
            # a file outside of all folders that the user has opened
            roots = (*policy.protected.roots, Path(main).resolve().parent, Path(main).parent)
            policy = replace(policy, protected=replace(policy.protected, roots=roots))
        gate = self._create_gate(policy, lambda event: self._record(event, proposal.turn))
        decision = await gate.check(create_edit_action(proposal))
        if not decision.is_allowed:
            raise UsageError(f"nothing was changed, because it is not allowed: {decision.reason}")

    @property
    def _policy(self) -> GatePolicy:
        config, roots = self._config(), list(self._workspace.roots)
        if self._settings is None or self._settings[0] is not config or self._settings[1] != roots:
            policy, problems = make_policy(config, roots)
            for problem in problems:
                warn_once(problem.sentence)
            self._settings = config, roots, policy
        return self._settings[2]

    def _create_gate(self, policy: GatePolicy, record: Record) -> PermissionGate:
        hooks, _ = make_hooks(self._config())
        root = next(iter(self._workspace.roots), None)
        person = RequestingUser("the user asked for this edit", self._find_person())
        return PermissionGate(policy, record, Hooks(hooks, record, root), person=person)


def create_edit_action(proposal: Proposal, session_id: str = "") -> Action:
    """Return the action of writing a proposal to its files."""
    paths = tuple(change.file for change in proposal.changes)
    # whoever is asked sees what is written, and not only what somebody says about it
    input = {"path": str(paths[0]), "summary": proposal.summary, "diff": proposal.diff}
    return Action("edit", "edit", input, paths, session_id=session_id)
