"""The text of a fill-in-the-middle prompt before it becomes tokens.

It needs no model, so the language server uses it too.
"""

import re

from lsp_harness.inference.request import InfillContext

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
