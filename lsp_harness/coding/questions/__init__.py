"""Questions about a project that index, checks and git answer exactly, without a word of the model."""
