"""The emulator shows the same as other terminals for the sequences that programs use."""

import random
import tracemalloc
from typing import NamedTuple

import pytest

from lsp_harness.runtime.terminal.output_scanner import OutputSplitter
from lsp_harness.runtime.terminal.screen import Screen
from lsp_harness.runtime.terminal.text_grid import HISTORY_LINES

MAX_AGENT_BYTES = 15_000_000
COLUMNS, ROWS = 20, 6


class Case(NamedTuple):
    output: str
    rows: list[str]
    cursor: tuple[int, int]


FULL = "E" * COLUMNS
CASES = {
    # movements and margins, as vttest tries them
    "cursor movements": Case("\x1b[3;5Ha\x1b[A\x1b[Cb\x1b[2Bc\x1b[9Dd", ["", "      b", "    a", "d      c"], (3, 1)),
    "movements stop at the margins": Case(
        "\x1b[99;99Hx\x1b[99Ay\x1b[99Dz", ["z                  y", *[""] * 4, " " * 19 + "x"], (0, 1)
    ),
    "next and previous lines": Case("ab\x1b[2Ec\x1b[Fd", ["ab", "d", "c"], (1, 1)),
    "absolute columns and rows": Case("\x1b[5Ga\x1b[3db\x1b[2`c", ["    a", "", " c   b"], (2, 2)),
    "index and reverse index": Case("a\x1bDb\x1bMc\x1b[H\x1bMtop", ["top", "a c", " b"], (0, 3)),
    "alignment pattern": Case("\x1b#8", [FULL] * ROWS, (0, 0)),
    "erasing in a row": Case(
        "\x1b#8\x1b[2;5H\x1b[K\x1b[3;5H\x1b[1K\x1b[4;5H\x1b[2K",
        [FULL, "EEEE", " " * 5 + "E" * 15, "", FULL, FULL],
        (3, 4),
    ),
    "erasing the screen": Case("\x1b#8\x1b[3;5H\x1b[J\x1b[2;3H\x1b[1J", ["", "   " + "E" * 17, "EEEE"], (1, 2)),
    "insert and delete lines": Case("a\r\nb\r\nc\x1b[2H\x1b[Lx\x1b[3H\x1b[M", ["a", "x", "c"], (2, 0)),
    "delete lines that were never written": Case("hello\x1b[2M", [""], (0, 0)),
    "insert and delete characters": Case("abcdef\x1b[3G\x1b[2@\x1b[5G\x1b[2P\x1b[X", ["ab   f"], (0, 4)),
    "insert mode": Case("abc\x1b[2G\x1b[4hxy\x1b[4lz", ["axyzc"], (0, 4)),
    "a scrolling region": Case("1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4H\n\nx", ["1", "4", "", "x", "5"], (3, 1)),
    "scrolling by command": Case("1\r\n2\r\n3\x1b[S\x1b[2;4r\x1b[T", ["2", "", "3"], (0, 0)),
    "origin mode": Case("\x1b[2;4r\x1b[?6h\x1b[Ha\x1b[9;1Hb\x1b[?6l\x1b[Hc", ["c", "a", "", "b"], (0, 1)),
    "a cursor above the region": Case("\x1b[3;5r\x1b[1;1H\x1b[A\x1bMx", ["x"], (0, 1)),
    "wrapping": Case("x" * 20 + "yz", ["x" * 20, "yz"], (1, 2)),
    "a full row waits": Case("x" * 20 + "\r\nz", ["x" * 20, "z"], (1, 1)),
    "a full row, then a movement": Case("x" * 20 + "\x1b[Dz\x1b[K", ["x" * 18 + "z"], (0, 19)),
    "without wrapping": Case("\x1b[?7l" + "x" * 25 + "y", ["x" * 19 + "y"], (0, 19)),
    "tabs": Case(
        "a\tb\x1b[Zc\x1b[3g\r\tz",
        ["a       c          z"],
        (0, 19),
    ),
    "own tab stops": Case("\x1b[4G\x1bH\r\tx\x1b[2Iy", ["   x            y"], (0, 17)),
    "saved cursors": Case("ab\x1b7\x1b[3;3Hx\x1b8c\x1b[s\r\n\x1b[ud", ["abcd", "", "  x"], (0, 4)),
    "repeating": Case("ab\x1b[3bc", ["abbbbc"], (0, 6)),
    "line drawing": Case("\x1b(0lqk\x1b(B lqk", ["┌─┐ lqk"], (0, 7)),
    "a reset": Case("abc\x1b[?6h\x1b[2;3r\x1bcx", ["x"], (0, 1)),
    "controls within a sequence": Case(
        "ab\x1b[2\bCx\x1b[\r3Gy",
        ["abyx"],
        (0, 3),
    ),
    "a cancelled sequence": Case("a\x1b[31\x18b\x1b]0;t\x18c", ["abc"], (0, 3)),
    # characters
    "wide characters": Case(
        "日本語\x1b[3Gx",
        ["日x 語"],
        (0, 3),
    ),
    "half of a wide character": Case("日本\x1b[2Gx", [" x本"], (0, 2)),
    "a wide character at the margin": Case("x" * 19 + "日", ["x" * 19, "日"], (1, 2)),
    "combining marks": Case("e\u0301a\u0308o", ["e\u0301a\u0308o"], (0, 3)),
    "text after an emoji with a selector": Case("a❤\ufe0fb", ["a❤\ufe0fb"], (0, 3)),
    # the second screen
    "the second screen": Case("one\x1b[?1049htwo", ["   two"], (0, 6)),
    "the first screen again": Case("one\x1b[?1049h\x1b[Htwo\x1b[?1049l!", ["one!"], (0, 4)),
    # what the library pyte does wrong
    "a private style": Case("a\x1b[>4;1mb\x1b[?4mc\x1b[>4;?m", ["abc"], (0, 3)),
    "the keyboard protocol": Case("\x1b[>1u\x1b[<u\x1b[<1u\x1b[=1;1ux", ["x"], (0, 1)),
    "styles with colons": Case("\x1b[4:3ma\x1b[38:2::1:2:3mb\x1b[58:5:1mc\x1b[58;2;5;4;3md", ["abcd"], (0, 4)),
    "titles and links are not text": Case("\x1b]0;a;b\x07x\x1b]8;;http://a.b\x1b\\y\x1b]8;;\x1b\\", ["xy"], (0, 2)),
    "strings are not text": Case("a\x1bP1$r0m\x1b\\b\x1b_Gi=1\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", ["abcde"], (0, 5)),
    "many parameters": Case("\x1b[" + ";".join(["1"] * 40) + "ma\x1b[?1;2;3;4;5hb", ["ab"], (0, 2)),
}


@pytest.fixture
def screen() -> Screen:
    return Screen(COLUMNS, ROWS)


@pytest.mark.parametrize("name", CASES)
def test_a_sequence_has_the_same_effect_as_in_other_terminals(name: str, screen: Screen):
    screen.feed(CASES[name].output.encode())

    assert screen.rows() == [*CASES[name].rows, *[""] * (ROWS - len(CASES[name].rows))]
    assert screen.cursor == CASES[name].cursor


@pytest.mark.parametrize("name", CASES)
def test_output_byte_by_byte_gives_the_same_screen(name: str, screen: Screen):
    splitter = OutputSplitter()
    for byte in CASES[name].output.encode():
        screen.feed(splitter.feed(bytes([byte])))

    assert screen.rows() == [*CASES[name].rows, *[""] * (ROWS - len(CASES[name].rows))]
    assert screen.cursor == CASES[name].cursor


def test_lines_out_of_sight_are_in_the_history(screen: Screen):
    screen.feed(b"".join(b"line %d\r\n" % number for number in range(200)))

    assert screen.rows() == [*(f"line {number}" for number in range(195, 200)), ""]
    assert list(screen.history(50)) == [f"line {number}" for number in range(145, 195)]
    assert len(screen.history(1000)) == 195


def test_the_backgrounds_of_a_row_are_told(screen: Screen):
    screen.feed(b"plain\r\n\x1b[48;2;1;2;3m a \x1b[m b \x1b[44mc\x1b[m \x1b[31;7md\x1b[m\r\n")
    first, second = screen.backgrounds(0), screen.backgrounds(1)
    assert set(first) == {"default"}
    assert len(second) == COLUMNS
    assert second[:3] == ["010203"] * 3
    assert second[4] == "default"
    # the emulators name colours of the palette in their own ways
    assert len({second[0], second[4], second[6], second[8]}) == 4


def test_the_second_screen_leaves_the_history_alone(screen: Screen):
    screen.feed(b"one\r\n" * 10 + b"\x1b[?1049h" + b"two\r\n" * 10 + b"\x1b[?1049l")

    assert not screen.is_alternate
    assert set(screen.history(1000)) == {"one"}


def test_a_program_can_erase_the_history(screen: Screen):
    screen.feed(b"one\r\n" * 10 + b"\x1b[3J")
    assert list(screen.history(10)) == []


def test_plain_text_in_large_chunks_gives_the_same_screen():
    choice = random.Random(7)
    for _ in range(30):
        lines = ["x" * choice.choice((0, 3, 19, 20, 21, 45)) + str(number) for number in range(choice.randint(18, 60))]
        before = choice.choice(("", "abc\r\n" * 4, "\x1b[31mred", "x" * COLUMNS))
        text = before + "\r\n".join(lines) + choice.choice(("", "\r\n"))
        large, small = Screen(COLUMNS, ROWS), Screen(COLUMNS, ROWS)
        large.feed(text.encode())
        small.feed(before.encode())
        for character in text.removeprefix(before):
            small.feed(character.encode())

        assert large.rows() == small.rows()
        assert large.cursor == small.cursor
        assert list(large.history(200)) == list(small.history(200))


def test_the_screen_knows_the_title_and_the_modes(screen: Screen):
    screen.feed("\x1b]2;Über\x07\x1b[?2004h\x1b[?1h".encode())
    assert (screen.title, screen.has_mode(2004), screen.has_mode(1), screen.has_mode(1000)) == (
        "Über",
        True,
        True,
        False,
    )

    screen.feed(b"\x1b[?2004l")
    assert not screen.has_mode(2004)


def test_a_new_size_keeps_the_rows_at_the_cursor(screen: Screen):
    screen.feed(b"1\r\n2\r\n3\r\n4\r\n5")
    screen.resize(30, 3)
    assert (screen.columns, screen.lines) == (30, 3)
    assert screen.rows() == ["3", "4", "5"]
    assert list(screen.history(9)) == ["1", "2"]

    screen.feed(b"\x1b[H" + b"y" * 31)
    assert screen.rows()[:2] == ["y" * 30, "y"]


def test_a_smaller_screen_drops_blank_rows_first(screen: Screen):
    screen.feed(b"1\r\n2")
    screen.resize(COLUMNS, 3)

    assert screen.rows() == ["1", "2", ""]
    assert list(screen.history(9)) == []


ATOMS = (
    *(
        "a",
        "hello world ",
        "x" * 15,
        "日本",
        "é",
        "e\u0301",
        "❤\ufe0f",
        "\r",
        "\n",
        "\r\n",
        "\b",
        "\t",
        "\x1b[A",
        "\x1b[3B",
    ),
    *("\x1b[2C", "\x1b[4D", "\x1b[H", "\x1b[3;5H", "\x1b[6;20H", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[K", "\x1b[1K"),
    *("\x1b[2K", "\x1b[L", "\x1b[2M", "\x1b[P", "\x1b[3@", "\x1b[2X", "\x1bM", "\x1bD", "\x1bE", "\x1b[2;4r", "\x1b[r"),
    *("\x1b[S", "\x1b[T", "\x1b[31m", "\x1b[0m", "\x1b[4:3m", "\x1b[38;5;200m", "\x1b[48;2;1;2;3m", "\x1b[>4;1m"),
    *("\x1b[7m", "\x1b[?7l", "\x1b[?7h", "\x1b[?1049h", "\x1b[?1049l", "\x1b[4h", "\x1b[4l", "\x1b]0;t\x07", "\x1b#8"),
    *("\x1b(0qqx\x1b(B", "\x1b[?6h", "\x1b[?6l", "\x1b[?25l", "\x1b[?2004h", "\x1b[1;44m", "\x1bc"),
)


def list_shown_cells(screen: Screen) -> list[object]:
    """Return the cells that a screen shows, and the style of its cursor."""
    viewer = Screen(COLUMNS, ROWS)
    viewer.feed(screen.snapshot())
    grid = viewer._grid
    cells = [(y, x, grid.buffer[y][x]) for y in range(ROWS) for x in range(COLUMNS)]
    return [*cells, grid.cursor.attrs]


def draw_random_output(choice: random.Random, longest: int) -> bytes:
    return "".join(choice.choice(ATOMS) for _ in range(choice.randint(0, longest))).encode()


def test_a_snapshot_shows_the_same_in_another_terminal():
    for seed in range(300):
        choice = random.Random(seed)
        live, attached = Screen(COLUMNS, ROWS), Screen(COLUMNS, ROWS)
        live.feed(draw_random_output(choice, 15))
        attached.feed(live.snapshot())

        assert attached.rows() == live.rows(), seed
        assert attached.cursor == live.cursor, seed
        assert attached.title == live.title, seed
        assert live.is_alternate or list(attached.history(99)) == list(live.history(99)), seed


def test_a_viewer_from_the_middle_shows_the_same_afterwards():
    for seed in range(300):
        choice = random.Random(seed)
        live, attached = Screen(COLUMNS, ROWS), Screen(COLUMNS, ROWS)
        live.feed(draw_random_output(choice, 15))
        attached.feed(live.snapshot())
        rest = draw_random_output(choice, 8)
        live.feed(rest)
        attached.feed(rest)

        assert attached.rows() == live.rows(), seed
        assert attached.cursor == live.cursor, seed
        assert list_shown_cells(attached) == list_shown_cells(live), seed
        assert [attached.has_mode(mode) for mode in (1, 6, 7, 25, 2004)] == [
            live.has_mode(mode) for mode in (1, 6, 7, 25, 2004)
        ]


def test_the_history_has_ten_thousand_lines_in_bounded_memory():
    line = b"\x1b[31m" + b"x" * 110 + b" %d\r\n"
    tracemalloc.start()
    screen = Screen(120, 40)
    for number in range(HISTORY_LINES + 2000):
        screen.feed(line % number)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert len(screen.history(HISTORY_LINES)) == HISTORY_LINES
    assert used < MAX_AGENT_BYTES
