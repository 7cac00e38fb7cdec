"""Foreign agents of one client: how they are started, and how the permission gate answers their questions."""
