"""Ghost text: the requests, the pause, and what becomes of suggestions."""
