"""Languages whose programs run without a compile step."""
