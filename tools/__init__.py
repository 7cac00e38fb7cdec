"""Generators of documents and of lists in the extensions of editors: `make docs` runs all of them."""
