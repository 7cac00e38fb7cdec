"""Descriptors that a program gets from the process that starts it.

On Windows a program gets handles of the system, not descriptors. So its argument names the handle, and the program
opens a descriptor for it. A lock of a file does not come along there: it stays with the process that has taken it.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

if sys.platform == "win32":
    import msvcrt
    import subprocess


def inheriting_options(descriptors: Sequence[int]) -> dict[str, Any]:
    """Return the options of `subprocess` by which a program gets these descriptors, and no others."""
    if sys.platform == "win32":
        handles = [msvcrt.get_osfhandle(descriptor) for descriptor in descriptors]
        for handle in handles:
            os.set_handle_inheritable(handle, True)
        return {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles})}
    return {"pass_fds": tuple(descriptors)}


def name_inherited(descriptor: int) -> str:
    """Return the argument by which a program finds a descriptor that it gets."""
    if sys.platform == "win32":
        return str(msvcrt.get_osfhandle(descriptor))
    return str(descriptor)


def open_inherited(argument: str) -> int:
    """Return the descriptor that an argument names. Raises ValueError, and OSError."""
    if sys.platform == "win32":
        return msvcrt.open_osfhandle(int(argument), os.O_BINARY)
    return int(argument)
