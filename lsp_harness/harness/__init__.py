"""The façade, in editor terms."""
