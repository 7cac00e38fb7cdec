"""Tasks run, end and are cancelled with all their processes."""
