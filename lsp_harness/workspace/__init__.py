"""Open documents: their versions, trees, edit history and cursors."""
