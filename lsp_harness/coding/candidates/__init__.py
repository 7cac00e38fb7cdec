"""The candidates of a change: how many to ask for, the prompts that ask for them, and what their checks said."""
