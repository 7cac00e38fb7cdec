"""Building an index: files are listed, parsed in worker processes and written to the database."""
