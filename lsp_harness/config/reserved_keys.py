"""Keys that are known by name but read by nothing yet. They are no settings: whoever sets one is told so.

Whoever builds what a key is about moves it to the schema.
"""

PLANNED_KEYS: dict[str, frozenset[str]] = {
    "generation": frozenset({"temperature_classify"}),
    "verification": frozenset({"type_check", "test", "diff_review"}),
}
"""By table."""
