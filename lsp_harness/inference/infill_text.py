"""The text of a request to fill a hole, before it is made of tokens. Needs no model, so the language server can use it, too."""

import re

from lsp_harness.inference.request import InfillContext

UNFINISHED_TOKEN_PATTERN = re.compile(r"(?:[^\r\n\w]|_)?[^\W\d_]+\Z|[ \t]+\Z| ?(?:[^\w\s]|_)+\Z")
"""The end of a text that more typing could still join into one token: a word with the sign or blank before it, blanks,
or a run of signs (how byte-pair tokenizers of GPT-4's kind split text first)."""
MAX_HEALED_CHARS = 64
"""A longer word would take longer to spell again than it is worth."""


def heal(prefix: str) -> tuple[str, bytes]:
    """`prefix` up to the last place where a token surely ends, and the text that was taken off.

    It stays the same place while a word is typed, so that what the model predicts there serves every key of the word.
    """
    tail = prefix[-MAX_HEALED_CHARS:]
    found = UNFINISHED_TOKEN_PATTERN.search(tail)
    if not found or (found.start() == 0 and len(prefix) > MAX_HEALED_CHARS):
        return prefix, b""
    return prefix[: len(prefix) - len(found.group())], found.group().encode("utf-8", "replace")


def file_name_lines(around: InfillContext) -> list[str]:
    """List for each text of another file the line with the file's name; empty if the text begins with a comment that names it."""
    return [f"{name}\n" if name and name not in text.partition("\n")[0] else "" for name, text in around.extra]
