"""Shell commands for the permission gate: their parts, and which parts are harmless or dangerous."""
