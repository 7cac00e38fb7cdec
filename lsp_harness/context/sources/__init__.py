"""Sources of context. Each module holds one source, which `source_registry` lists."""
