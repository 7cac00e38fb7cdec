"""Line numbers that a model copied from the output of the tool `read`."""

import re

NUMBERED_LINE = re.compile(r"[ \t]*\d+\t")


def strip_line_numbers(text: str) -> str:
    """Return the text without line numbers, if each of its lines begins with one."""
    lines = text.split("\n")
    if not all(NUMBERED_LINE.match(line) for line in lines if line.strip()):
        return text
    return "\n".join(NUMBERED_LINE.sub("", line, count=1) for line in lines)
