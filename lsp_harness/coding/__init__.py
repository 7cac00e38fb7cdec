"""Drivers of edits: each turns a finding or a request into a verified edit of code."""
