"""Sessions for other programs: their options, their parts, and the protocol that serves them."""
