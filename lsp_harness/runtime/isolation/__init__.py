"""Where agents work: git worktrees, sandboxes, containers and other machines."""
