"""Generated projects with their real environments, and edits whose right verdict is known."""
