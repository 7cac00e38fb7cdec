"""Removal of the blanks before the cursor, for servers that cannot heal tokens.

Tokens of a model usually begin with their blank. After `return ` with a blank, the model expects a token without one
and answers badly. So the blanks are not sent. The answer then begins with them, and they are removed from it.
"""

import re

TRAILING_BLANKS = re.compile(r"(?<![ \t])[ \t]+\Z")


def split_trailing_blanks(prefix: str) -> tuple[str, str]:
    """Return the prefix without its trailing blanks, and the blanks."""
    match = TRAILING_BLANKS.search(prefix)
    return (prefix[: match.start()], match.group()) if match else (prefix, "")


class BlankStripper:
    """Removes the blanks that were not sent from the beginning of an answer that arrives in pieces.

    An answer that begins with other blanks, or with none, loses only the blanks that agree.
    """

    def __init__(self, blanks: str) -> None:
        self._remaining_blanks = blanks

    def strip(self, text: str) -> str:
        """Return a piece of the answer without the blanks that are still to be removed."""
        count = 0
        while count < min(len(text), len(self._remaining_blanks)) and text[count] == self._remaining_blanks[count]:
            count += 1
        if text:
            self._remaining_blanks = self._remaining_blanks[count:] if count == len(text) else ""
        return text[count:]
