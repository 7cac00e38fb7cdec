"""Notifications about open documents, and the content of virtual documents."""
