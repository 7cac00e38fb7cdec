"""Tree-sitter: languages, trees, queries and what can be read off them."""
