"""Drivers: completion at the cursor, and the fix of a diagnostic."""
