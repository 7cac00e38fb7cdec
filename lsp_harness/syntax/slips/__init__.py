"""The small slips of a programmer, such as a wrong operator or name, and the edits that undo them without a model."""
