"""The version of this release.

`importlib.metadata` would take a fifth of the time to the first answer. So the version is written here, and a test
compares it with the version of the distribution.
"""

VERSION = "0.1.0"
