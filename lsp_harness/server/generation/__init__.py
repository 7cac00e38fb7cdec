"""Generators of the commands in the documentation and in the manifest of the VS Code extension.

`make docs` runs them. Neovim needs none, because its plugin asks the server for the commands.
"""
