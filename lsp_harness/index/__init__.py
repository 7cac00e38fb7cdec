"""What a workspace holds: symbols, imports, chunks of text and their vectors, and search over them."""
