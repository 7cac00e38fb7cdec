"""Opening, reading and replacing files by name. Whatever has that name cannot block the process or damage anything."""
