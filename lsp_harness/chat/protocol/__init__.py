"""The ways in which models are told of tools, and in which they call them."""
