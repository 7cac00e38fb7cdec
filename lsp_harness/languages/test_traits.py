"""Traits of the tests of a language: how its syntax tree shows a test, and what is called to check something."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TestTraits:
    """The tests of a language. By default none are known."""

    node: str = ""
    """The type of a node that may be a test: a function, or a call with a name and a function."""
    head: str = ""
    """The field of such a node whose text tells whether it is a test."""
    test: str = ""
    """A regular expression for the whole text of this field in a test."""
    group: str = ""
    """A regular expression for it in a group of tests; empty if tests have no groups."""
    attribute: str = ""
    """A regular expression for a part of the attributes before a test; empty if they do not matter."""
    other_attribute: str = ""
    """A regular expression for attributes of a test that checks nothing itself; empty if there are none."""
    calls: Mapping[str, str] = field(default_factory=dict[str, str])
    """Type of a node that calls something → the field that names what is called."""
    checks: str = ""
    """A regular expression for a part of the name of what is called to check something."""
