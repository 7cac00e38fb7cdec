"""Output of a program: where its escape sequences end, and its questions and signals to the terminal.

An escape character begins a new sequence wherever it stands (the model of the VT500). So the last one in a chunk
decides whether the chunk ends within a sequence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_harness.runtime.terminal.terminal_signals import (
    COMMAND,
    QUERY,
    LinkShown,
    StatusReported,
    TitleChanged,
    read_signal,
)

ESCAPE = b"\x1b"
MAX_SEQUENCE_BYTES = 65_536
"""Maximum length of a sequence. A longer one is dropped, such as a picture or the rest of a file that is no text."""
COMPLETE_SEQUENCE = re.compile(
    # control characters within a control sequence take effect at once and do not end it
    rb"\x1b(?:\[[0-?\x00-\x17\x19\x1c-\x1f]*[ -/]*(?:[@-~]|[\x18\x1a\x80-\xff\x7f])"
    rb"|\][^\x07\x18\x1a]*[\x07\x18\x1a]"
    rb"|[PX^_][^\x18\x1a]*[\x18\x1a]"
    rb"|[ -/]*[0-OQ-WYZ\\`-~\x18\x1a\x00-\x17\x19\x1c-\x1f\x7f-\xff]"
    rb"|[ -/]+[0-~])",
    re.DOTALL,
)
"""A sequence that begins with the last escape character of a text, and that has its end in the text."""
STRING_OPENING = re.compile(rb"\x1b[\]PX^_]")
STRING_ENDS = re.compile(rb"[\x18\x1a]|\x1b(?!\Z)")
"""The ends of a string that is dropped. `BEL` ends those of operating system commands only."""


class OutputSplitter:
    """The output of one program, in chunks that end neither within an escape sequence nor within a character."""

    def __init__(self) -> None:
        self._held = b""
        self._skipped_opening = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes. Return those before the first unfinished sequence or character."""
        data = self._held + data
        if self._skipped_opening:
            data = self._skip(data)
        cut = find_cut(data)
        self._held = data[cut:]
        if len(self._held) > MAX_SEQUENCE_BYTES:
            self._skipped_opening, self._held = self._held[:2], self._skip_tail(self._held)
        return data[:cut]

    def finish(self) -> bytes:
        """Return the rest at the end of the output, which may be an unfinished sequence."""
        rest, self._held = self._held, b""
        return b"" if self._skipped_opening else rest

    def _skip(self, data: bytes) -> bytes:
        end = STRING_ENDS.search(data)
        bell = data.find(b"\x07") if self._skipped_opening == b"\x1b]" else -1
        if bell >= 0 and (not end or bell < end.start()):
            self._skipped_opening = b""
            return data[bell + 1 :]
        if end:
            self._skipped_opening = b""
            return data[end.start() :].removeprefix(b"\x18").removeprefix(b"\x1a").removeprefix(b"\x1b\\")
        return self._skip_tail(data)

    @staticmethod
    def _skip_tail(data: bytes) -> bytes:
        # the escape character of the end may be there already
        return ESCAPE if data.endswith(ESCAPE) else b""


def find_cut(data: bytes) -> int:
    """Return the number of bytes before the first unfinished sequence or character at the end of a text."""
    last = data.rfind(ESCAPE)
    if last < 0 or COMPLETE_SEQUENCE.match(data, last):
        return len(data) - unfinished_character(data)
    if last == len(data) - 1:
        # it may be the first half of the end of a string
        before = data.rfind(ESCAPE, 0, last)
        if before >= 0 and STRING_OPENING.match(data, before) and not COMPLETE_SEQUENCE.match(data, before, last):
            return before
    return last


def unfinished_character(data: bytes) -> int:
    """Return the number of bytes at the end that begin a character in UTF-8 without its end."""
    for length in range(1, min(3, len(data)) + 1):
        byte = data[-length]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return length if length < needed and byte < 0xF8 else 0
        if byte < 0x80:
            return 0
    return 0


SPECIAL = re.compile(
    rb"\x1b(?:\](?P<command>[^\x07\x18\x1a\x1b]*)(?P<end>\x07|\x1b\\)"
    rb"|\[(?P<query>\??[56]n|[>=]?0?c|\?u|>0?q|\??[0-9]{1,4}\$p|18t)"
    rb"|P(?P<request>[+$])q[^\x18\x1a\x1b]*\x1b\\)"
)
"""An operating system command, a question in a control sequence, or a request of a capability."""
TERMINAL_NAME = "lsp-harness"
COLORS = {"10": "d0d0/d0d0/d0d0", "11": "1818/1818/1818", "12": "d0d0/d0d0/d0d0"}
"""Colors of the text, the background and the cursor. Programs choose a dark or a light theme by them."""


@dataclass(frozen=True, slots=True)
class TerminalQuery:
    """A question of the program. The answer depends on the screen at this place of the output.

    Attributes:
        text: The question without `ESC`, such as `[6n`.
        end: The end of the sequence, which the answer repeats.
    """

    text: str
    end: str = ""


OutputPart = bytes | TerminalQuery | TitleChanged | StatusReported | LinkShown


def scan_output(data: bytes) -> Iterator[OutputPart]:
    """Yield the output for the screen with the signals in it, each before its own bytes. Questions are taken out.

    Viewers have terminals, too, and would answer the questions a second time.
    """
    start = 0
    for match in SPECIAL.finditer(data):
        part = _read_match(match)
        if isinstance(part, TerminalQuery):
            if match.start() > start:
                yield data[start : match.start()]
            start = match.end()
        if part:
            yield part
    if start < len(data):
        yield data[start:]


def answer_query(query: TerminalQuery, cursor: tuple[int, int], size: tuple[int, int]) -> bytes:
    """Return the answer to a question of the program. It is empty for a question that gets none.

    Args:
        query: The question of the program to the terminal.
        cursor: The row and the column of the cursor, from 0 on.
        size: The numbers of rows and columns.
    """
    match query.text:
        case "[c" | "[0c":
            answer = "[?62;22c"
        case "[>c" | "[>0c":
            answer = "[>1;10;0c"
        case "[=c" | "[=0c":
            answer = "P!|00000000\x1b\\"
        case "[5n":
            answer = "[0n"
        case "[6n":
            answer = f"[{cursor[0] + 1};{cursor[1] + 1}R"
        case "[?6n":
            answer = f"[?{cursor[0] + 1};{cursor[1] + 1}R"
        case "[?u":
            answer = "[?0u"
        case "[>q" | "[>0q":
            answer = f"P>|{TERMINAL_NAME}\x1b\\"
        case "[18t":
            answer = f"[8;{size[0]};{size[1]}t"
        case _:
            answer = _answer_other(query)
    return f"\x1b{answer}".encode() if answer else b""


def _answer_other(query: TerminalQuery) -> str:
    if query.text.endswith("$p"):
        # the mode is not known
        return f"{query.text[:-2]};0$y"
    if query.text[0] == "P":
        return f"P0{query.text[1]}r\x1b\\"
    number = query.text[1:].partition(";")[0]
    if number in COLORS:
        return f"]{number};rgb:{COLORS[number]}{query.end}"
    return f"{query.text}{query.end}" if number == str(COMMAND) else ""


def _read_match(match: "re.Match[bytes]") -> TerminalQuery | TitleChanged | StatusReported | LinkShown | None:
    if query := match["query"]:
        return TerminalQuery(f"[{query.decode()}")
    if request := match["request"]:
        return TerminalQuery(f"P{request.decode()}")
    command = match["command"].decode("utf-8", "replace")
    number, _, payload = command.partition(";")
    if payload == QUERY and (number in COLORS or number == str(COMMAND)):
        return TerminalQuery(f"]{command}", match["end"].decode())
    return read_signal(command)
