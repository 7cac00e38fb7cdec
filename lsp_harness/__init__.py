"""A language server that checks local-AI help before it is believed."""
