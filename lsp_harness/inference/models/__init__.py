"""Model files: which ones we know, where they lie, how they are fetched and what their headers say."""
