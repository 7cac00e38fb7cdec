"""The code that the words of a task name: their reading, the declarations that are meant, and the code under test."""
