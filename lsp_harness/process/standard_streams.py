"""The encoding of the standard streams.

On Windows, a stream that is no console has the encoding of the country, and text there has line ends of two characters.
Editors and agents speak UTF-8 with one.
"""

import io
import sys


def use_utf_8() -> None:
    """Read and write the standard streams as UTF-8 on Windows. Elsewhere the locale decides."""
    if sys.platform == "win32":
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", newline=None if stream.isatty() else "\n")
