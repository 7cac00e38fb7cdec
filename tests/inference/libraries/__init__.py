"""Tests of the libraries of llama.cpp: which one is used, and how it is stored."""
