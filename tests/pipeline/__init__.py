"""Tests of the drivers; `cases/` holds the golden cases of the completion rules."""
