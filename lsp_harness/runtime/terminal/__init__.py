"""Agents in pseudo-terminals: the process, its screen, its log and its viewers."""
