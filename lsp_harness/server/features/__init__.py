"""The handlers of the LSP methods, one module each, and the table of them."""
