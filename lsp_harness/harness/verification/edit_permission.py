"""The permission gate of the edits that the user of one client asks for, and of the programs that check them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import UsageError
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.kernel.checkpoints.checkpoints import RestorationGuard
from lsp_harness.kernel.log.turn import Turn, current_turn
from lsp_harness.kernel.results import Proposal
from lsp_harness.permission.action import Action
from lsp_harness.permission.gate_policy import GatePolicy, make_hooks, make_policy
from lsp_harness.permission.hooks import Hooks
from lsp_harness.permission.permission_gate import PermissionGate, Record
from lsp_harness.permission.person import AskPerson, RequestingUser
from lsp_harness.workspace.workspace import Workspace


class CheckPermission:
    """Asks the permission gate before a check runs a program.

    The gate decides once for each turn and action, and the turn records it. Outside of a turn, such as after an
    accepted edit, nobody is asked, and the verdict says why a program did not run.

    Args:
        gate: Returns the gate of the session.
    """

    def __init__(self, gate: Callable[[], PermissionGate]) -> None:
        self._gate = gate
        self._problems: WeakKeyDictionary[Turn, dict[tuple[str, ...], str]] = WeakKeyDictionary()

    async def find_problem(self, action: Action, name: str) -> str:
        """Return why an action is not allowed, or an empty text.

        Args:
            action: The program to run.
            name: The program in words, such as "the linter".
        """
        turn, gate = current_turn.get(), self._gate()
        if turn is None:
            explained = gate.explain(action)
            # lists of fixes are often requested, and hooks have nothing to say about mere reading there
            decision = explained.decision if explained.only_reads else await gate.unattended.check(action)
            reason = decision.reason if decision else explained.question
            return "" if decision and decision.is_allowed else f"{name} may not run: {reason}"
        problems, key = self._problems.setdefault(turn, {}), (action.tool, *action.argv, repr(action.confinement))
        if action.untrusted:
            # one answer of a person is about all tests of a folder, and not about each selection of them
            key = (action.tool, str(action.input.get("program")), str(action.untrusted))
        if key not in problems:
            decision = await gate.check(action)
            problems[key] = "" if decision.is_allowed else f"{name} may not run: {decision.reason}"
        return problems[key]


RecordInTurn = Callable[[SessionEvent, int | None], object]
"""Appends an event to a turn of the session, by its number. None is the turn that runs."""


class EditPermission:
    """Asks the permission gate before an edit reaches a file, and before a program checks it.

    The settings decide as in every session: a mode or a rule that denies wins. Whatever they would ask is answered by
    the request of the user.

    Args:
        config: Returns the present settings.
        workspace: The open folders of the workspace.
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
