"""A language server that checks the help of a local AI model before it is shown."""
