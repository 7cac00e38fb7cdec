"""The HTTP, WebSocket and server-sent-event interface of sessions and agents, and the inspector page."""
