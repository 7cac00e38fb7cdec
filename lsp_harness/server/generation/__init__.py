"""Generators of the lists of commands in the documentation and in the editors. `make docs` runs them."""
