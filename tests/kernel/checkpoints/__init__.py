"""Files get the texts of a checkpoint again."""
