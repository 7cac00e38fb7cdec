"""Tests of models, of the client of the engine and of the backends."""
