"""The compiler of Python, which runs in this process."""

import ast
import warnings
from codecs import BOM_UTF8
from threading import Lock
from typing import Any

from lsp_harness.text.surrogates import to_valid_utf8

_warnings_lock = Lock()


def compile_python(data: bytes, flags: int = 0) -> Any:
    """Compile a text as the cell of a notebook, which may `await` outside a function.

    Args:
        data: The text, with or without a byte order mark.
        flags: Further flags of `compile`.

    Returns:
        The code object, or the syntax tree with `ast.PyCF_ONLY_AST`.

    Raises:
        SyntaxError: The text is no Python.
        ValueError, RecursionError, MemoryError: The text has a NUL byte, or is nested too deeply. This says nothing
            about its syntax.
    """
    mark = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    try:
        # The compiler reports correct columns only for `str`. Text in another encoding declares it, and the compiler
        # reads the declaration.
        source = to_valid_utf8(data[mark:]).decode()
    except UnicodeDecodeError:
        source = data
    # The warning filters belong to the process. Without the lock two threads could restore each other's filters.
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, "<text>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | flags, dont_inherit=True)


def dump_python(data: bytes) -> str | None:
    """Return the syntax tree of a text as text, or None if it does not compile.

    Texts with the same dump differ in comments, blanks and line breaks only.
    """
    try:
        return ast.dump(compile_python(data, ast.PyCF_ONLY_AST))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
