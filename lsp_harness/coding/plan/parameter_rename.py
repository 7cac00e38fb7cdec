"""Requests to rename a parameter, which need no model."""

import re
from dataclasses import dataclass

QUOTE = "[`'\"]?"
NAME = r"[^\W\d]\w*"
REQUEST = re.compile(
    rf"(?:please\s+)?rename\s+(?:the\s+)?(?:parameter|argument|param|arg)\s+{QUOTE}({NAME}){QUOTE}\s+(?:of|in)\s+"
    rf"(?:the\s+)?(?:function\s+|method\s+)?{QUOTE}({NAME}(?:\.{NAME})*)(?:\(\))?{QUOTE}\s+(?:to|into)\s+"
    rf"{QUOTE}({NAME}){QUOTE}\s*\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ParameterRename:
    """A request to rename the parameter `old` of a function to `new`, and nothing else."""

    function: str
    old: str
    new: str


def parse_rename(task: str) -> ParameterRename | None:
    """Return the rename that a task asks for, or None if it asks for something else, or for more."""
    match = REQUEST.fullmatch(" ".join(task.split()))
    return ParameterRename(match[2], match[1], match[3]) if match else None
