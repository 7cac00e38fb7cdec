"""What there is on disk: walking a workspace, and which of its files and lines are kept from the model."""
