"""The routes, streams and WebSockets of agents."""
