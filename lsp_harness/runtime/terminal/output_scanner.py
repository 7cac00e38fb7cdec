"""Parts of the output that are for the terminal and not for its screen: questions of the program, and its signals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_harness.runtime.terminal.status_report import COMMAND, QUERY
from lsp_harness.runtime.terminal.terminal_signals import LinkShown, StatusReported, TitleChanged, read_signal

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
        query: The question.
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
