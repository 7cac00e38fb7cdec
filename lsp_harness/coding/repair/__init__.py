"""Repairs that need no model: the nearest name, the missing token, the missing import, the binding that nothing uses."""
