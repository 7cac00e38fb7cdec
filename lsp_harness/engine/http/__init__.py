"""The HTTP interface of the engine: one module for each dialect."""
