"""The permission modes: what happens to an action that no rule, hook or program has decided."""

from typing import Literal, get_args

PermissionMode = Literal["deny", "plan", "ask", "acceptEdits", "auto", "trust", "bypassPermissions"]
"""A permission mode. The strictest one is the first."""
PERMISSION_MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)
