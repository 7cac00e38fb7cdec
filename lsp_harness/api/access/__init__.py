"""The access to the server: the token, the checks of each request, and the bounds of connections."""
