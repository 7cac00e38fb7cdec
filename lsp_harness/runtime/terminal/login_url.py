"""The address of a login that a program shows. On the screen it is often cut at the margin."""

import re
from collections.abc import Iterable, Iterator, Sequence

URL = re.compile(r"https?://[^\s\"'<>`│┃║|\x00-\x1f]+")
RAW_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
LOGIN_WORD = re.compile(
    r"oauth|authoriz|authenticat|/auth|login|log-in|sign-?in|/device|activate|client_id=|user_code=|code_challenge=",
    re.IGNORECASE,
)
BORDERS = " \t│┃║|"
MAX_MARGIN = 3
"""Number of blank columns at the right of a row that is full. Frames and padding are there."""


def find_login_url(rows: Sequence[str], columns: int, links: Iterable[str] = (), raw: bytes = b"") -> str:
    """Return the address of a login that a program shows, or an empty text.

    The targets of links are complete, so they come first. Else rows that fill the width are joined, and at last the
    bytes of the output are read, where a program wrote the address in one piece.

    Args:
        rows: The visible rows.
        columns: The width of the screen.
        links: The targets of the links that the program printed, the newest one last.
        raw: The newest output.
    """
    for url in reversed([*links]):
        if LOGIN_WORD.search(url):
            return url
    shown = [url for url in _find_urls(join_full_rows(rows, columns)) if LOGIN_WORD.search(url)]
    text = RAW_SEQUENCE.sub(b"", raw).decode("utf-8", "replace")
    printed = [url for url in _find_urls(text) if LOGIN_WORD.search(url)]
    if not shown:
        return printed[-1] if printed else ""
    # the output can have more of the address than the rows, but an older address is not wanted
    return next((url for url in reversed(printed) if url.startswith(shown[-1])), shown[-1])


def join_full_rows(rows: Sequence[str], columns: int) -> str:
    """Return the text of rows. A row that fills the width is continued by the next one, without indent and frame."""
    parts: list[str] = []
    is_full = False
    for row in rows:
        text = row.strip(BORDERS)
        parts.append(text if is_full or not parts else f"\n{text}")
        is_full = bool(text) and len(row.rstrip(BORDERS)) >= columns - MAX_MARGIN
    return "".join(parts)


def _find_urls(text: str) -> Iterator[str]:
    for match in URL.finditer(text):
        yield match[0].rstrip(".,;:)]}")
