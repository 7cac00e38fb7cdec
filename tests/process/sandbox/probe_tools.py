"""System calls and connections for the probes, beside which it lies in the sandbox."""

from __future__ import annotations

import ctypes
import os
import platform
import socket
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

World = SimpleNamespace
Probe = Callable[[World], object]
IS_X86 = platform.machine() == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)


def call(function: Any, *arguments: object) -> int:
    """Call a function of the C library. Raises OSError."""
    result = function(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def system_call(x86: int, arm: int, *arguments: object) -> int:
    # the last arguments are on the stack, where the upper half of an `int` may be anything
    wide = (ctypes.c_long(value) if isinstance(value, int) else value for value in arguments)
    return call(libc.syscall, ctypes.c_long(x86 if IS_X86 else arm), *wide)


def as_long(value: int) -> ctypes.c_long:
    return ctypes.c_long(value)


def connect(family: int, kind: int, address: object, protocol: int = 0) -> str:
    """Connect to a socket and send something. Raises OSError."""
    with socket.socket(family, kind, protocol) as client:
        client.connect(address)  # pyright: ignore[reportArgumentType]
        client.send(b"changed")
    return "connected"
