"""References and calls between declarations of a workspace."""
