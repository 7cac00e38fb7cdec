"""Checks of proposed edits, and the verdict over all checks of an edit."""
