"""The rules that decide whether a completion is shown at a place."""
