"""The languages that the server knows: one file for each, and the traits by which all other packages treat them."""
