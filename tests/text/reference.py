"""A slow and obvious implementation of the functions in `lsp_harness.text`. It reads one character after the other."""

from hypothesis import strategies as st

Encoding = str
PIECES = (
    "a", "def f():", "    ", "\t", "\n", "\n", "\r\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029",
    "é", "ß", "e\u0301", "漢字", "👩‍👩‍👧", "😀", "𝒳", "\ud83d", "\ude00", "\ufeff", "\0", "",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14).map("".join)
encodings = st.sampled_from(("utf-8", "utf-16", "utf-32"))


def count_code_units(char: str, encoding: Encoding) -> int:
    """Return the number of code units of one character."""
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return 2 if ord(char) >= 0x10000 else 1
    return 1 if ord(char) < 0x80 else 2 if ord(char) < 0x800 else 3 if ord(char) < 0x10000 else 4


def count_bytes(text: str) -> int:
    """Return the number of bytes of a text."""
    return sum(count_code_units(char, "utf-8") for char in text)


def split_lines(text: str) -> list[str]:
    """Return all lines with their line ends; the last one has none and may be empty."""
    items, now, at = [], "", 0
    while at < len(text):
        step = 2 if text[at : at + 2] == "\r\n" else 1
        now += text[at : at + step]
        if text[at] in "\r\n":
            items.append(now)
            now = ""
        at += step
    return [*items, now]


def strip_line_end(line: str) -> str:
    while line and line[-1] in "\r\n":
        line = line[:-1]
    return line


def index(text: str, line: int, character: int, encoding: Encoding) -> int:
    """Index in `text` of a client position, by the rules of the protocol."""
    all_lines = split_lines(text)
    if line < 0:
        return 0
    if line >= len(all_lines):
        return len(text)
    at = sum(len(all_line) for all_line in all_lines[:line])
    left = character
    for char in strip_line_end(all_lines[line]):
        left -= count_code_units(char, encoding)
        if left < 0:
            break
        at += 1
    return at
