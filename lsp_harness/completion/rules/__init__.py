"""The rules that turn the text of a model into the text that is shown."""
