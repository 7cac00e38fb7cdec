"""This release. importlib.metadata would be a fifth of the time to the first answer; a test holds this to the
distribution's version."""

VERSION = "0.1.0"
