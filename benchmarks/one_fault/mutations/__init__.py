"""The mutations; to import this package is to register them."""

from benchmarks.one_fault.mutations import arguments, imports, members, names, punctuation, unused

__all__ = ["arguments", "imports", "members", "names", "punctuation", "unused"]
