"""Tests of the HTTP and WebSocket interface. Nearly all of them talk to a real server over real sockets."""
