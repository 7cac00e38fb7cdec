"""Keys that are planned and not read yet. A settings file with such a key gets a message.

A key moves to the schema when its feature is built.
"""

PLANNED_KEYS: dict[str, frozenset[str]] = {}
"""Table → planned keys."""
