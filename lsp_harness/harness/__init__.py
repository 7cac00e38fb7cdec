"""The façade of the product in terms of an editor: completions, edits, verdicts, indexes."""
