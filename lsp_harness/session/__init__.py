"""The append-only record of what a turn did."""
