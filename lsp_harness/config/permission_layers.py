"""The permissions and hooks that a layer of settings may set: a project that is not trusted can only forbid more."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lsp_harness.config.permission_schema import HookSettings, RuleSetting
from lsp_harness.wire.permission_mode import STRICTEST_FIRST

EDITOR_FORBIDDEN_PERMISSIONS: Mapping[str, frozenset[str]] = {
    "permissions": frozenset({"mode", "allow", "rules", "callback_timeout_s", "trusted_folders"}),
    "hooks": frozenset(key.name for key in fields(HookSettings)),
}
"""Table → keys that an editor cannot set, because a workspace can change the settings of an editor."""


def restrict_value(name: tuple[str, str], current: Any, wanted: Any, *, is_trusted: bool) -> tuple[Any, str]:
    """Return the value that counts, and why it is not the wanted one.

    Args:
        name: The table and the key.
        current: The value of the layers before.
        wanted: The value with this layer.
        is_trusted: Whether the layer may permit something.
    """
    match name:
        case ("permissions", "mode"):
            return _choose_mode(current, wanted, is_trusted=is_trusted)
        case ("permissions", "callback_timeout_s"):
            if not 0 < wanted < float("inf"):
                return current, f"permissions.callback_timeout_s must be more than 0, not {wanted}"
            return (wanted, "") if is_trusted else (current, "a project cannot set permissions.callback_timeout_s")
        case _ if is_trusted or wanted == current:
            return wanted, ""
        case ("permissions", "ask" | "deny"):
            return wanted, ""
        case ("permissions", "rules"):
            added: tuple[RuleSetting, ...] = wanted[len(current) :]
            kept = tuple(rule for rule in added if rule.decision != "allow")
            message = "this project is not trusted, so its rules that allow do not count"
            return (*current, *kept), message if len(kept) < len(added) else ""
        case (table, key):
            return current, f"this project is not trusted, so its {table}.{key} does not count"


def _choose_mode(current: str, wanted: str, *, is_trusted: bool) -> tuple[str, str]:
    if wanted and wanted not in STRICTEST_FIRST:
        return current, f"permissions.mode must be one of {', '.join(STRICTEST_FIRST)}, not {wanted!r}"
    if is_trusted:
        return wanted, ""
    # without a mode of the user the surface decides, and the strictest surface asks
    strictest = STRICTEST_FIRST.index(current or "ask")
    if not wanted or STRICTEST_FIRST.index(wanted) > strictest:
        return current, f"this project is not trusted, so its permissions.mode {wanted!r} does not count"
    return wanted, ""
