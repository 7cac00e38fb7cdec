"""The decode loop: sequences, their cells, and whose step it is."""
