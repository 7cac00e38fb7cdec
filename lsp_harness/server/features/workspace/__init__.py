"""Requests and notifications about the workspace: folders, files, settings and commands."""
