"""Streams of JSON-RPC messages: standard streams, TCP and WebSocket."""
