"""Blanks before the cursor, for servers that cannot heal.

A model that is shown `return ` with its blank has already been told that the next token has none, and answers badly. So
the blanks are not sent; the answer then begins with them, and they are taken off again.
"""

import re

TRAILING_BLANKS = re.compile(r"(?<![ \t])[ \t]+\Z")


def split_trailing_blanks(prefix: str) -> tuple[str, str]:
    """The prefix without the blanks it ends with, and those."""
    found = TRAILING_BLANKS.search(prefix)
    return (prefix[: found.start()], found.group()) if found else (prefix, "")


class BlankStripper:
    """Takes the blanks that were cut off the beginning of an answer that comes in pieces.

    An answer that begins with other blanks, or none, loses only what agrees: it continues the text as it stands.
    """

    def __init__(self, blanks: str) -> None:
        self._left = blanks

    def strip(self, text: str) -> str:
        """The piece without what is still to be taken off."""
        same = 0
        while same < min(len(text), len(self._left)) and text[same] == self._left[same]:
            same += 1
        if text:
            self._left = self._left[same:] if same == len(text) else ""
        return text[same:]
