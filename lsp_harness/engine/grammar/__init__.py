"""Grammars that the engine makes of JSON schemas, in llama.cpp's GBNF."""
