"""The type gate: type checkers that say whether a suggestion names something that does not exist."""
