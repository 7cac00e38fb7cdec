"""Grammars in GBNF of llama.cpp, made from JSON schemas."""
