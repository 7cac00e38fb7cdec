"""Tests of the engine process, with a model of a few kilobytes."""
