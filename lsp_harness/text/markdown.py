"""Markdown for people to read."""

import re


def fence_code(text: str, language: str = "") -> list[str]:
    """The lines of a code block whose fence no line of the text can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text.rstrip("\n"), fence]
