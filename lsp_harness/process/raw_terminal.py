"""The terminal of the user in raw mode: each key goes to somebody else as it is pressed.

On Windows a console is told to behave like a terminal. There, a thread reads the keys, and its size is looked at again
and again, because nothing tells a change of it.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    VIRTUAL_TERMINAL_INPUT, VIRTUAL_TERMINAL_OUTPUT, PROCESSED_OUTPUT = 0x200, 0x4, 0x1
else:
    import signal
    import termios
    import tty

READ_BYTES = 65_536
SIZE_INTERVAL_S = 0.5
"""Time between two looks at the size of a console of Windows."""


@contextmanager
def raw_mode(keys: int, shown: int) -> Generator[None]:
    """Get each key as it is pressed, until the block ends. Raises OSError.

    Args:
        keys: The descriptor of the terminal from which keys are read.
        shown: The descriptor of the terminal that shows text.
    """
    if sys.platform == "win32":
        with (
            _console_mode(keys, VIRTUAL_TERMINAL_INPUT),
            _console_mode(shown, VIRTUAL_TERMINAL_OUTPUT | PROCESSED_OUTPUT),
        ):
            yield
    else:
        before = termios.tcgetattr(keys)
        try:
            tty.setraw(keys)
            yield
        finally:
            termios.tcsetattr(keys, termios.TCSADRAIN, before)


@contextmanager
def pressed_keys(descriptor: int, receive: Callable[[bytes], object]) -> Generator[None]:
    """Give what is typed to a function in the running event loop, until the block ends. The end of it is empty."""
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":
        is_wanted = threading.Event()
        is_wanted.set()

        def read() -> None:
            # the last read of the thread ends with the next key, or with this process
            while is_wanted.is_set():
                keys = os.read(descriptor, READ_BYTES)
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(receive, keys)
                if not keys:
                    return

        threading.Thread(target=read, name="keys", daemon=True).start()
        try:
            yield
        finally:
            is_wanted.clear()
    else:
        loop.add_reader(descriptor, lambda: receive(os.read(descriptor, READ_BYTES)))
        try:
            yield
        finally:
            loop.remove_reader(descriptor)


@contextmanager
def watched_size(descriptor: int, tell: Callable[[int, int], object]) -> Generator[None]:
    """Tell the columns and the rows of a terminal now and after each change, in the running event loop."""
    loop = asyncio.get_running_loop()

    def tell_size() -> None:
        # not shutil.get_terminal_size, which believes the variables COLUMNS and LINES
        tell(*os.get_terminal_size(descriptor))

    tell_size()
    if sys.platform == "win32":
        watching = loop.create_task(_watch_size(descriptor, tell))
        try:
            yield
        finally:
            watching.cancel()
    else:
        loop.add_signal_handler(signal.SIGWINCH, tell_size)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)


def drop_typed(descriptor: int) -> None:
    """Forget what was typed and nobody has read yet. Nothing happens if it is no terminal."""
    if sys.platform == "win32":
        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        with suppress(termios.error, OSError):
            termios.tcflush(descriptor, termios.TCIFLUSH)


async def _watch_size(descriptor: int, tell: Callable[[int, int], object]) -> None:
    size = os.get_terminal_size(descriptor)
    while True:
        await asyncio.sleep(SIZE_INTERVAL_S)
        if (new := os.get_terminal_size(descriptor)) != size:
            size = new
            tell(*size)


@contextmanager
def _console_mode(descriptor: int, mode: int) -> Generator[None]:
    """Set the mode of a console of Windows until the block ends. Raises OSError."""
    if sys.platform == "win32":
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = wintypes.HANDLE(msvcrt.get_osfhandle(descriptor))
        before = wintypes.DWORD()
        if not kernel32.GetConsoleMode(handle, ctypes.byref(before)) or not kernel32.SetConsoleMode(handle, mode):
            raise ctypes.WinError(ctypes.get_last_error())
        try:
            yield
        finally:
            kernel32.SetConsoleMode(handle, before)
    else:
        yield
