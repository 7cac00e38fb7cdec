"""`lsp-harness doctor`: the checks of an installation, one file a subject."""
