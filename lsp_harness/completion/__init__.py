"""The driver of completion: from a cursor to the text that an editor shows at it."""
