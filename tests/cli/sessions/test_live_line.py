"""The line about a running turn."""

import asyncio
import io

from lsp_harness.cli.sessions.live_line import ERASE, LiveLine
from lsp_harness.cli.sessions.session_printer import SessionPrinter


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


FRAMES = (
    {"type": "state", "status": "entered", "state": "GENERATE", "reason": "Producing 5 candidates..."},
    {"type": "candidate", "status": "generated", "candidate": 1},
    {"type": "cost_update", "output_tokens": 1200},
    {"type": "candidate", "status": "rejected", "candidate": 1, "reason": "LINT: F821 Undefined name `a`\n"},
    {"type": "candidate", "status": "generated", "candidate": 2},
)


def test_the_line_says_state_time_candidates_tokens_and_the_last_reason():
    times = iter([10.0, 22.4])
    line = LiveLine(io.StringIO(), lambda: next(times))
    for frame in FRAMES:
        line.follow(frame)
    assert line.text == (
        "generate · 12 s · candidate 2 of 5 · 1,200 tokens · last rejected: LINT: F821 Undefined name `a` "
    )


def test_the_line_is_removed_before_other_texts_and_while_a_person_is_asked():
    terminal = Terminal()
    printer = SessionPrinter(terminal, terminal)
    printer.live.draw()
    drawn = terminal.getvalue()
    assert drawn.startswith(ERASE)
    assert "waiting" in drawn
    printer.show(FRAMES[0])
    assert terminal.getvalue()[len(drawn) :] == f"{ERASE}[GENERATE] Producing 5 candidates...\n"
    printer.live.pause(is_paused=True)
    before = terminal.getvalue()
    printer.live.draw()
    assert terminal.getvalue() == before
    # a line of an answer without an end stays
    printer.show({"type": "text", "content": "It is "})
    before = terminal.getvalue()
    printer.live.draw()
    assert terminal.getvalue() == before


async def test_nothing_is_written_if_the_stream_is_no_terminal():
    stream = io.StringIO()
    line = LiveLine(stream)
    line.draw()
    assert await line.run_beside(asyncio.sleep(0, "done")) == "done"
    assert stream.getvalue() == ""


async def test_the_line_is_gone_when_the_work_has_ended():
    terminal = Terminal()
    line = LiveLine(terminal)
    drawn = asyncio.Event()
    draw = line.draw

    def draw_and_tell() -> None:
        draw()
        drawn.set()

    line.draw = draw_and_tell
    await line.run_beside(drawn.wait())
    assert terminal.getvalue().endswith(ERASE)
