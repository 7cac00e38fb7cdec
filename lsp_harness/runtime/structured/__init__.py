"""Connections to agents that speak a protocol: the Agent Client Protocol, or JSON lines of their own."""
