"""The program of the adapter `echo`: it prints each message that it gets. It needs nothing but Python.

It reads keys as terminal programs do: Enter sends, Ctrl-C drops the line, Ctrl-D ends, and pasted text is one message.
It reports its states as real agents do (OSC 7501), so that it also shows what a viewer, a log and the state look like.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

PROMPT = "> "
VIRTUAL_TERMINAL_INPUT = 0x200
"""The mode of a console of Windows that gives keys as terminals do."""
PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"


def write(text: str) -> None:
    """Print a text at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def report(state: str) -> None:
    """Report a state to the terminal."""
    write(f"\x1b]7501;state={state}:app=echo\x1b\\")


def run() -> None:
    """Read keys and print messages until Ctrl-D."""
    write("\x1b[?2004h" + PROMPT)
    report("idle")
    line, is_pasting = "", False
    pending = ""
    while data := os.read(0, 4096):
        pending += data.decode("utf-8", "surrogateescape")
        while pending:
            if PASTE_BEGIN.startswith(pending[:6]) and len(pending) < 6 and pending[0] == "\x1b" and len(pending) > 1:
                # the rest of the mark comes with the next keys
                break
            if pending.startswith((PASTE_BEGIN, PASTE_END)):
                is_pasting = pending.startswith(PASTE_BEGIN)
                pending = pending[6:]
                continue
            key, pending = pending[0], pending[1:]
            if is_pasting and key in "\r\n":
                line += "\n"
                write("\r\n")
            elif key in "\r\n":
                answer(line)
                line = ""
            elif key == "\x04" and not line:
                write("\x1b[?2004l\r\n")
                return
            elif key == "\x03":
                line = ""
                write("^C\r\n" + PROMPT)
            elif key == "\x7f" and line:
                line = line[:-1]
                write("\b \b")
            elif key == "\t" or key.isprintable():
                line += key
                write(key)


def answer(line: str) -> None:
    """Print a message, and become ready again."""
    report("working")
    write("\r\n" + line.replace("\n", "\r\n") + "\r\n")
    write(PROMPT)
    report("idle")


def main() -> None:
    """Run in a terminal whose modes are restored at the end."""
    with single_keys():
        run()


@contextmanager
def single_keys() -> Generator[None]:
    """Get each key when it is pressed, also Ctrl-C and Ctrl-D, until the block ends."""
    if sys.platform == "win32":
        import ctypes
        import msvcrt

        kernel32 = ctypes.WinDLL("kernel32")
        keys = ctypes.c_void_p(msvcrt.get_osfhandle(0))
        modes = ctypes.c_uint32()
        kernel32.GetConsoleMode(keys, ctypes.byref(modes))
        try:
            kernel32.SetConsoleMode(keys, VIRTUAL_TERMINAL_INPUT)
            yield
        finally:
            kernel32.SetConsoleMode(keys, modes)
    else:
        import termios
        import tty

        modes = termios.tcgetattr(0)
        try:
            tty.setcbreak(0)
            new = termios.tcgetattr(0)
            new[3] &= ~(termios.ISIG | termios.IEXTEN)
            new[0] &= ~termios.ICRNL
            termios.tcsetattr(0, termios.TCSANOW, new)
            yield
        finally:
            termios.tcsetattr(0, termios.TCSANOW, modes)


if __name__ == "__main__":
    main()
