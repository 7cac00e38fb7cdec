"""Opening, reading, locking and replacing files by name. Whatever has that name cannot block the process or damage
anything. The local channel between programs of a user has the name of a file, too."""
