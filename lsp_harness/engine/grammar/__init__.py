"""Grammars in llama.cpp's GBNF that the engine makes from JSON schemas."""
