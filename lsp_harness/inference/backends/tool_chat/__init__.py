"""Conversations with tools in the formats of services."""
