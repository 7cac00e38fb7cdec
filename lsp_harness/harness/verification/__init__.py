"""The checks of edits, the permission to make them, and the document about a turn that lists them."""
