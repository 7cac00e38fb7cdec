"""The index of a workspace: symbols, imports, text chunks and their vectors, and search in them."""
