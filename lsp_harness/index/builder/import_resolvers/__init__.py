"""Resolvers of imports to files of the workspace, by the rules of one language each."""
