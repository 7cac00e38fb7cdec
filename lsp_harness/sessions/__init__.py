"""Sessions for every surface: their options, how they are opened, their tools, their undo and their drivers."""
