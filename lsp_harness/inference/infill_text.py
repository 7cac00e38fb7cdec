"""The text of a fill-in-the-middle prompt before it becomes tokens.

It needs no model, so the language server uses it too.

Tokens of a model usually begin with their blank. After `return ` with a blank, the model expects a token without one
and answers badly. So the blanks are not sent. The answer then begins with them, and they are removed from it.
"""

import re

from lsp_harness.inference.request import InfillContext

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


UNFINISHED_TOKEN_PATTERN = re.compile(r"(?:[^\r\n\w]|_)?[^\W\d_]+\Z|[ \t]+\Z| ?(?:[^\w\s]|_)+\Z")
"""The end of a text that may become part of a longer token when the user types on.

It is a word with the sign or blank before it, a run of blanks, or a run of signs. Byte-pair tokenizers like that of
GPT-4 split text into such parts first.
"""
MAX_HEALED_CHARS = 64
"""Longer words are not healed, because it would take too long to generate them again."""


def heal(prefix: str) -> tuple[str, bytes]:
    """Split off the end of the prefix that may be an unfinished token.

    Returns:
        The prefix up to the last place where a token certainly ends, and the rest in UTF-8. The place stays the same
        while a word is typed, so the prediction at that place serves every key of the word.
    """
    tail = prefix[-MAX_HEALED_CHARS:]
    match = UNFINISHED_TOKEN_PATTERN.search(tail)
    if not match or (match.start() == 0 and len(prefix) > MAX_HEALED_CHARS):
        return prefix, b""
    return prefix[: len(prefix) - len(match.group())], match.group().encode("utf-8", "replace")


def file_name_lines(context: InfillContext) -> list[str]:
    """Return a line with the file name for each extra text; empty if its first line names the file already."""
    return [f"{name}\n" if name and name not in text.partition("\n")[0] else "" for name, text in context.extra]
