"""The decode loop: token sequences, the cells that hold them, and which request gets the next step."""
