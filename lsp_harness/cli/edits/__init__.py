"""The commands about edits that a project defines or that were learned in it: one file a command."""
