"""The files of a workspace: how they are listed, and which files and lines are kept from the model."""
