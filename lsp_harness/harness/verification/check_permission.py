"""The permission of the programs that check edits: the linter, the tests, the type checkers."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from lsp_harness.session.log.turn import Turn, current_turn
from lsp_harness.session.permission.action import Action
from lsp_harness.session.permission.permission_gate import PermissionGate


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
