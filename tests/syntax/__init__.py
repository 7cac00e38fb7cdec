"""Trees, queries and what is read off them."""
