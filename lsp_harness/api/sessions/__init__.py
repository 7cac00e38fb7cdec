"""The routes and streams of sessions."""
