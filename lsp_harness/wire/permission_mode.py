"""The permission modes: what happens to an action that no rule, hook or program has decided."""

from typing import Literal, get_args

PermissionMode = Literal["ask", "trust", "deny", "acceptEdits", "plan", "auto", "bypassPermissions"]
"""A permission mode."""
PERMISSION_MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)
"""The permission modes, in the order in which messages list them."""
STRICTEST_FIRST: tuple[PermissionMode, ...] = (
    *("deny", "plan", "ask", "acceptEdits", "auto", "trust", "bypassPermissions"),
)
"""The permission modes by how much they allow. Settings of a project may only choose a stricter one than the user."""
