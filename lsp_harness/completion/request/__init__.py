"""The request of one completion: its prompts, its generation and its alternatives."""
