"""The checks of edits, those of accepted edits, and the document about a turn that lists them."""
