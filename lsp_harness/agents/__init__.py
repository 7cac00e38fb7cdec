"""Foreign agents in the folders of a user: their gate, their worktrees, and the review of their changes."""
