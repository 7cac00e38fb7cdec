"""Tests of the conversations in an editor, and of the socket for other programs."""
