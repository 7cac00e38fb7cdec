"""What the packages say that are installed for a workspace: signatures and documentation, from their own files."""
