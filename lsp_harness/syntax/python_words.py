"""Regular expressions for what Python's lines are made of. All of them are possessive: a text that repeats its beginning takes no
longer than another."""

import re

BRACKETS_DEEP = 3
"""Brackets within brackets that one expression passes over; where there are more they have to be counted."""

NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+"
DOTTED = NAME + rb"(?:\." + NAME + rb")*+"
STRING = (
    rb'"""(?:[^"\\]++|\\(?s:.)|"(?!""))*+"""|"(?!"")(?:[^"\\\n]++|\\(?s:.))*+"'
    rb"|'''(?:[^'\\]++|\\(?s:.)|'(?!''))*+'''|'(?!'')(?:[^'\\\n]++|\\(?s:.))*+'"
)
"""With its quotes; its prefix is a name before it."""
COMMENT = rb"#[^\n]*+"
LINE_END = rb"[ ]*+(?:" + COMMENT + rb")?\n"
EMPTY = rb"(?:" + LINE_END + rb")*+"
"""Lines with nothing in them, and comments."""
BROKEN = rb"\\\n"
"""A line that goes on in the next."""
GAP = rb"(?:[ ]|" + BROKEN + rb")*+"


def _brackets(deep: int) -> bytes:
    more = rb"|" + _brackets(deep - 1) if deep else b""
    return rb"[(\[{](?:[^\"'#\\()\[\]{}]++|" + rb"|".join((STRING, COMMENT, BROKEN)) + more + rb")*+[)\]}]"


BRACKETS = _brackets(BRACKETS_DEEP)


def without(signs: bytes, *others: bytes) -> bytes:
    """As much as there is of one line of code, comments apart, up to one of these signs outside of strings and brackets."""
    return rb"(?:[^\n\"'#\\()\[\]{}" + signs + rb"]++|" + rb"|".join((STRING, BRACKETS, BROKEN, *others)) + rb")*+"


def passed(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Where what a pattern matches there ends."""
    found = pattern.match(data, at)
    return found.end() if found else at
