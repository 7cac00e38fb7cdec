"""The compiled libraries of llama.cpp: where they come from, which ones are here, and which one is used."""
