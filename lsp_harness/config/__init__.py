"""Settings: the schema, its layers, and the directories of this user."""
