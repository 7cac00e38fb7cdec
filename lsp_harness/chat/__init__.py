"""The driver of conversations: a loop of model calls and tools."""
