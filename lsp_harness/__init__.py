"""A language server that gives any editor help from a local AI model, checked before the user sees it."""
