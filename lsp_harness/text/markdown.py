"""Markdown for messages and pages."""

import re


def fence_code(text: str, language: str = "") -> list[str]:
    """Return the lines of a code block. Its fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text.rstrip("\n"), fence]
