"""Tests of a server process, an engine process and a client together."""
