"""Servers a model can be asked through: where they are, what they speak, and what to do when one fails."""
