"""Signatures and documentation of the packages that are installed for a workspace, from the files of the packages."""
