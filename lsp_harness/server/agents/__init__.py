"""Foreign agents in the editor: their events and questions, and the bytes of their terminals."""
