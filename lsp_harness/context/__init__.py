"""Build prompts: choose fragments of code and documentation within a token budget."""
