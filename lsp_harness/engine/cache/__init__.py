"""The cache of evaluated sequences: in the KV cells, in host memory and on disk."""
