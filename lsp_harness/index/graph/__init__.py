"""References and calls between the declarations of a workspace."""
