"""Measurements of the engine by real work, beside llama-server where there is one to stand beside."""
