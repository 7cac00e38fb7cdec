"""The permission modes, and what each does with an action that no rule, hook or program has decided."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from lsp_harness.permission.action_parts import ActionPart
from lsp_harness.wire.permission_mode import PermissionMode

ModeVerdict = Literal["allow", "ask", "deny"]
ActionClass = Literal["low", "outside", "edit", "confined", "command", "dangerous", "opaque", "network", "agent"]
"""Groups of actions that a mode treats alike. `low` only reads files of the workspace; `outside` reads other files;
`confined` are programs of checks in a sandbox without network, on a folder that the user trusts."""
CLASSES: tuple[ActionClass, ...] = get_args(ActionClass)


@dataclass(frozen=True, slots=True)
class ModeRow:
    """The verdicts of a mode for each class of actions, and its description for people."""

    meaning: str
    verdicts: Mapping[ActionClass, ModeVerdict]


def _make_row(meaning: str, verdicts: str) -> ModeRow:
    words: dict[str, ModeVerdict] = {"+": "allow", "?": "ask", "-": "deny"}
    return ModeRow(meaning, dict(zip(CLASSES, (words[sign] for sign in verdicts), strict=True)))


MODE_TABLE: Mapping[PermissionMode, ModeRow] = {
    "ask": _make_row("Asks before everything but reading in the workspace and checks in a sandbox.", "+??+?????"),
    "trust": _make_row("Allows everything. For sandboxes and programs without a person.", "+++++++++"),
    "deny": _make_row("Allows only reading in the workspace.", "+--------"),
    "acceptEdits": _make_row("Allows edits of files in the workspace, and asks about the rest.", "+?++?????"),
    # nothing is changed in this mode, so there is nothing to check, and running the code of a project is not reading
    "plan": _make_row("Allows reading only, and asks about files outside of the workspace.", "+?-------"),
    "auto": _make_row("Allows everything but dangerous commands and commands that cannot be seen.", "+++++??++"),
    "bypassPermissions": _make_row("Allows everything, as `trust`; a surface warns before it is chosen.", "+++++++++"),
}


def class_of(part: ActionPart) -> ActionClass:
    """Return the class of a part of an action."""
    if part.is_confined:
        # first, because a mode that forbids such checks must not take one for mere reading
        return "confined"
    if part.opaque or part.unseen:
        return "opaque"
    if part.risk == "low":
        return "low"
    match part.kind:
        case "read":
            return "outside"
        case "execute":
            return "dangerous" if part.risk == "high" else "command"
        case "edit":
            return "dangerous" if part.danger else "edit"
        case "network":
            return "network"
        case "agent":
            return "agent"
