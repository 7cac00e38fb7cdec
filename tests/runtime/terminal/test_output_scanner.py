"""Questions of programs are answered and taken out of the output, and their signals are read."""

from base64 import b64encode

import pytest

from lsp_harness.runtime.terminal.output_scanner import TerminalQuery, answer_query, scan_output
from lsp_harness.runtime.terminal.terminal_signals import LinkShown, StatusReport, StatusReported, TitleChanged

ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[0c": b"\x1b[?62;22c",
    b"\x1b[>c": b"\x1b[>1;10;0c",
    b"\x1b[=c": b"\x1bP!|00000000\x1b\\",
    b"\x1b[5n": b"\x1b[0n",
    b"\x1b[6n": b"\x1b[3;5R",
    b"\x1b[?6n": b"\x1b[?3;5R",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b[>q": b"\x1bP>|lsp-harness\x1b\\",
    b"\x1b[>0q": b"\x1bP>|lsp-harness\x1b\\",
    b"\x1b[18t": b"\x1b[8;24;80t",
    b"\x1b[?2026$p": b"\x1b[?2026;0$y",
    b"\x1b]10;?\x07": b"\x1b]10;rgb:d0d0/d0d0/d0d0\x07",
    b"\x1b]11;?\x1b\\": b"\x1b]11;rgb:1818/1818/1818\x1b\\",
    b"\x1b]7501;?\x1b\\": b"\x1b]7501;?\x1b\\",
    b"\x1bP+q544e\x1b\\": b"\x1bP0+r\x1b\\",
    b"\x1bP$qm\x1b\\": b"\x1bP0$r\x1b\\",
}


@pytest.mark.parametrize("question", ANSWERS)
def test_each_question_is_answered_and_removed_from_the_output(question: bytes):
    parts = list(scan_output(b"ab" + question + b"c"))

    assert [part for part in parts if isinstance(part, bytes)] == [b"ab", b"c"]
    query = parts[1]
    assert isinstance(query, TerminalQuery)
    assert answer_query(query, (2, 4), (24, 80)) == ANSWERS[question]


@pytest.mark.parametrize(
    "text", [b"\x1b[31m", b"\x1b[u", b"\x1b[>1u", b"\x1b[<u", b"\x1b[2 q", b"\x1b[!p", b"\x1b[3;4H"]
)
def test_other_sequences_are_not_questions(text: bytes):
    assert list(scan_output(text)) == [text]


def test_signals_come_in_order_and_stay_in_the_output():
    message = b64encode(b"trust this folder").decode()
    text = f"\x1b]0;one\x07a\x1b]2;two\x1b\\\x1b]7501;state=blocked:kind=permission:msg={message}\x07"
    text += "\x1b]8;id=1;https://a.b/login?x=1\x1b\\here\x1b]8;;\x1b\\"
    parts = list(scan_output(text.encode()))

    assert parts == [
        TitleChanged("one"),
        TitleChanged("two"),
        StatusReported(StatusReport("blocked", kind="permission", message="trust this folder")),
        LinkShown("https://a.b/login?x=1"),
        text.encode(),
    ]


def test_a_title_has_no_control_characters_and_an_end():
    parts = list(scan_output("\x1b]0;a\x08\x9b31m\u202e\tb".encode() + b"x" * 5000 + b"\x07"))

    assert isinstance(parts[0], TitleChanged)
    assert parts[0].title.startswith("a31mbx")
    assert len(parts[0].title) == 512


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://a.b/\u202ec", "data:text/html,x", "https://" + "x" * 5000]
)
def test_addresses_that_are_no_links(url: str):
    assert not [part for part in scan_output(f"\x1b]8;;{url}\x1b\\".encode()) if isinstance(part, LinkShown)]
